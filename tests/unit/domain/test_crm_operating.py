"""What a person may set right about the mirror of a session: each condition, and what it leaves."""

import copy
from dataclasses import replace

import pytest

from domain.conversation.facts import CRM, Facts
from domain.conversation.states import State
from domain.crm import operating, sync
from domain.crm.claims import Claimed
from domain.crm.operating import Act, ActRefused, Adopted, Changed, Looked, etag_of, stands_of
from domain.crm.replies import Remote
from domain.crm.sync import CrmSync
from domain.crm.visit import CONSERVATIVE, UNIQUE, Configuration, Fact, key_of

NOW = "2026-03-20T12:00:00.000000Z"
EARLIER = "2026-03-20T11:49:59.000000Z"
JUST_NOW = "2026-03-20T11:50:01.000000Z"
LATER = "2026-03-20T13:00:00.000000Z"
UNIQUELY = Configuration(stages={})
WITHOUT_KEYS = Configuration(stages={}, mode=CONSERVATIVE)
NOTHING = Looked(keyed=True)


def row(status="BLOCKED", **values) -> CrmSync:
    made = CrmSync(session_id="s-1", organization_id="default", state=State.TRIAGE, revision="r")
    return replace(made, status=status, **values)


def doubtful(mode=UNIQUE, **values):
    usual = {
        "creation_started": EARLIER,
        "creation_token": "t",
        "creation_mode": mode,
        "create_key": "prod:s-1",
        "uncertain_since": EARLIER,
        "next_attempt_at": LATER if mode == UNIQUE else "",
    }
    return row("UNCERTAIN", **{**usual, **values})


def act(seen: CrmSync, etag=None) -> Act:
    return Act(operator="ana", reason="Conferido", command_id="c-1", etag=etag or etag_of(seen))


def after(before: CrmSync, fact) -> CrmSync:
    """The row as the fold leaves it."""
    facts = Facts(organization_id="default", now=NOW, new_id=lambda: "e-1")
    event = facts.fact(fact.event_type, CRM, "x", session_id="s-1", **fact.payload)
    standing = copy.deepcopy(before)
    sync.evolve(standing, event.numbered("lead", 1))
    return standing


def held(deal_id: str, *sessions: str, released: bool = False) -> Claimed:
    return Claimed(deal_id, sessions, released)


def own(seen: CrmSync) -> Claimed:
    """What is claimed of the deal that a session is."""
    return held(seen.deal_id, "s-1") if seen.deal_id else held("")


def whole(seen: CrmSync, deal: Remote, *former: str) -> Adopted:
    """A deal that was these sessions' and is nobody's now."""
    return Adopted(deal, held(deal.id, *former, released=bool(former)), own(seen))


def unlinked(seen: CrmSync, asked: Act) -> Fact:
    return operating.unlink(seen, asked, given_up=own(seen))


def recreated(seen: CrmSync, asked: Act, standing: tuple[Remote, ...] = ()) -> Fact:
    return operating.recreate(seen, asked, standing=standing, given_up=own(seen))


ACTS = {
    "retry": (row("BLOCKED"), operating.retry),
    "reconcile": (doubtful(), operating.reconcile),
    "release": (
        doubtful(CONSERVATIVE),
        lambda seen, asked: operating.release(
            seen, asked, looked=Looked(keyed=False), evidence="nada", now=NOW
        ),
    ),
    "adopt": (
        row("BLOCKED"),
        lambda seen, asked: operating.adopt(
            seen, asked, adopted=whole(seen, Remote(id="9")), looked=NOTHING, config=UNIQUELY
        ),
    ),
    "recreate": (row("BLOCKED", blocked_reason="deal_missing", deal_id="7"), recreated),
    "unlink": (row("SYNCED", deal_id="7"), unlinked),
}


@pytest.mark.parametrize("name", ACTS)
def test_each_act_names_itself_its_operator_and_its_reason(name):
    seen, decide = ACTS[name]
    fact = decide(seen, act(seen))
    assert fact.event_type == "crm_operator_action"
    assert {each: fact.payload[each] for each in ("action", "operator", "reason")} == {
        "action": name,
        "operator": "ana",
        "reason": "Conferido",
    }
    assert None not in fact.payload.values()


@pytest.mark.parametrize("name", ACTS)
def test_each_act_is_refused_on_another_row_than_was_seen_and_says_what_stands(name):
    seen, decide = ACTS[name]
    now = replace(seen, attempts=seen.attempts + 1)
    with pytest.raises(Changed) as refused:
        decide(now, act(seen))
    assert refused.value.stands == stands_of(now)
    assert etag_of(now) in str(refused.value)
    assert now.status in str(refused.value)


@pytest.mark.parametrize(
    ("name", "wrong"),
    [
        ("retry", row("SYNCED", confirmed_revision="r")),
        ("retry", doubtful()),
        ("retry", row("")),
        ("reconcile", row("BLOCKED")),
        ("reconcile", doubtful(CONSERVATIVE)),
        ("release", row("PENDING")),
        ("release", doubtful(UNIQUE)),
        ("release", doubtful(CONSERVATIVE, creation_started=JUST_NOW)),
        ("adopt", row("SYNCED")),
        ("recreate", row("BLOCKED", blocked_reason="validation")),
        ("recreate", row("PENDING", blocked_reason="deal_missing")),
        ("unlink", row("BLOCKED")),
    ],
)
def test_an_act_is_refused_where_the_row_is_not_what_it_is_for(name, wrong):
    decide = ACTS[name][1]
    with pytest.raises(ActRefused) as refused:
        decide(wrong, act(wrong))
    assert not isinstance(refused.value, Changed)
    assert refused.value.stands == stands_of(wrong)
    assert refused.value.hint


def test_what_waits_for_a_person_may_be_released_although_it_was_to_have_a_key():
    seen = doubtful(UNIQUE, next_attempt_at="")
    fact = operating.release(seen, act(seen), looked=NOTHING, evidence="nada", now=NOW)
    assert after(seen, fact).creation_started == ""


def test_a_deal_that_is_found_by_the_key_is_not_released_away():
    seen = doubtful(CONSERVATIVE)
    for deal in (Remote(id="9"), Remote(id="9", archived=True)):
        looked = Looked(keyed=True, deals=(deal,))
        with pytest.raises(ActRefused) as refused:
            operating.release(seen, act(seen), looked=looked, evidence="nada", now=NOW)
        assert "9" in refused.value.hint


def test_a_release_says_when_it_may_be_tried_again():
    seen = doubtful(CONSERVATIVE, creation_started=JUST_NOW)
    with pytest.raises(ActRefused) as refused:
        operating.release(seen, act(seen), looked=Looked(keyed=False), evidence="nada", now=NOW)
    assert " 2 s" in refused.value.hint


def adopted(seen, deal, looked=NOTHING, config=UNIQUELY, former=(), **more):
    taken = whole(seen, deal, *former)
    return operating.adopt(seen, act(seen), adopted=taken, looked=looked, config=config, **more)


@pytest.mark.parametrize(
    ("deal", "looked"),
    [
        (Remote(id="9", archived=True), NOTHING),
        (Remote(id="9", properties={"key": "prod:s-2"}), NOTHING),
        (Remote(id="9", properties={"key": "staging:s-1"}), NOTHING),
        (Remote(id="9", properties={"key": "prod:s-1x"}), NOTHING),
        (Remote(id="9"), Looked(keyed=True, deals=(Remote(id="8"),))),
    ],
)
def test_a_deal_is_not_adopted_that_is_gone_another_ones_or_a_second_one(deal, looked):
    with pytest.raises(ActRefused):
        adopted(row("BLOCKED"), deal, looked)


def test_an_adopted_deal_gets_a_key_that_nothing_in_the_account_has():
    fresh = adopted(row("PENDING"), Remote(id="9"))
    assert fresh.payload["create_key"] == "prod:s-1"

    archived = Looked(keyed=True, deals=(Remote(id="8", archived=True),))
    replacing = adopted(row("BLOCKED", blocked_reason="deal_archived"), Remote(id="9"), archived)
    assert replacing.payload["create_key"] == "prod:s-1#2"

    again = adopted(row("BLOCKED"), Remote(id="9", properties={"key": "prod:s-1#4"}))
    assert again.payload["create_key"] == "prod:s-1#4"

    unkeyed = adopted(row("BLOCKED"), Remote(id="9"), Looked(keyed=False), WITHOUT_KEYS)
    assert "create_key" not in unkeyed.payload


def test_a_row_keeps_the_key_of_the_deal_it_adopted_and_takes_another_one_after_it():
    seen = row("BLOCKED", blocked_reason="deal_archived", create_key="prod:s-1", deal_id="8")
    archived = Looked(keyed=True, deals=(Remote(id="8", archived=True),))
    linked = after(seen, adopted(seen, Remote(id="9"), archived, contact_id="3"))
    assert (linked.status, linked.deal_id, linked.contact_id) == ("PENDING", "9", "3")
    assert key_of(linked, UNIQUELY) == "prod:s-1#2"

    left = after(linked, unlinked(linked, act(linked)))
    assert (left.status, left.deal_id) == ("PENDING", "")
    assert key_of(left, UNIQUELY) not in {"prod:s-1", "prod:s-1#2"}


@pytest.mark.parametrize("name", ["unlink", "recreate"])
def test_a_key_stays_with_the_deal_that_had_it(name):
    seen = replace(ACTS[name][0], create_key="prod:s-1")
    left = after(seen, ACTS[name][1](seen, act(seen)))
    linked = after(left, adopted(left, Remote(id="9"), Looked(keyed=False), WITHOUT_KEYS))
    # The account has keys from now on.
    assert key_of(linked, UNIQUELY) == "prod:s-1#2"


def test_what_people_hold_of_an_adopted_deal_is_not_taken_for_ours():
    shadow = {"deal.name": "Ana"}
    seen = row("BLOCKED", deal_id="8", remote=shadow)
    assert after(seen, adopted(seen, Remote(id="9"))).remote == {}
    assert after(seen, adopted(seen, Remote(id="8"))).remote == shadow


def test_a_deal_that_is_there_again_is_not_created_anew():
    seen = row("BLOCKED", blocked_reason="deal_archived", deal_id="8")
    with pytest.raises(ActRefused):
        recreated(seen, act(seen), (Remote(id="8"),))
    fact = recreated(seen, act(seen), (Remote(id="8", archived=True),))
    created = after(seen, fact)
    assert (created.status, created.deal_id) == ("PENDING", "")
    assert key_of(created, UNIQUELY) == "prod:s-1#2"


def test_a_retry_keeps_what_is_wanted_and_known():
    seen = row("BLOCKED", blocked_reason="validation", attempts=6, deal_id="8", creation_started="")
    tried = after(seen, operating.retry(seen, act(seen)))
    assert (tried.status, tried.attempts, tried.next_attempt_at) == ("PENDING", 0, NOW)
    assert (tried.deal_id, tried.revision, tried.blocked_reason) == ("8", "r", "")


def test_a_reconciliation_is_due_now_and_stays_in_doubt():
    seen = doubtful()
    due = after(seen, operating.reconcile(seen, act(seen)))
    assert (due.status, due.next_attempt_at) == ("UNCERTAIN", NOW)
    assert due.creation_started == EARLIER


def test_equal_rows_have_equal_etags_and_every_field_counts():
    assert etag_of(row("BLOCKED")) == etag_of(row("BLOCKED"))
    changes = {"contact": {"name": "x"}, "deal_id": "1", "remote": {"a": "b"}, "attempts": 2}
    tags = {etag_of(row("BLOCKED", **{name: value})) for name, value in changes.items()}
    assert len(tags | {etag_of(row("BLOCKED"))}) == 5


def test_a_row_that_is_shown_holds_no_content():
    shown = str(stands_of(row("BLOCKED", contact={"phone": "5511955550142", "name": "Ana Lima"})))
    assert "5511955550142" not in shown
    assert "Ana" not in shown


def test_what_takes_a_deal_away_releases_its_claim_and_says_which():
    seen = row("BLOCKED", blocked_reason="deal_missing", deal_id="7")
    released = {"released_deal_id": "7", "released_claim": 1}
    for fact in (unlinked(seen, act(seen)), recreated(seen, act(seen))):
        assert fact.payload.items() >= released.items()
    assert adopted(seen, Remote(id="9")).payload.items() >= released.items()
    assert released.keys().isdisjoint(adopted(seen, Remote(id="7")).payload)


@pytest.mark.parametrize(
    ("claims", "number"),
    [
        (held("7"), 1),
        (held("7", "s-2", "s-1"), 2),
        (held("7", "s-2"), None),
        (held("7", "s-1", released=True), None),
    ],
)
def test_a_session_releases_only_a_claim_of_its_own(claims, number):
    seen = row("SYNCED", deal_id="7")
    fact = operating.unlink(seen, act(seen), given_up=claims)
    assert fact.payload.get("released_claim") == number


def test_a_deal_that_became_another_one_since_its_claims_were_read_is_not_released():
    seen = row("SYNCED", deal_id="8")
    with pytest.raises(Changed):
        operating.unlink(seen, act(seen), given_up=held("7", "s-1"))


def test_a_deal_that_was_given_up_keeps_the_key_it_has():
    deal = Remote(id="9", properties={"key": "prod:s-2"})
    with pytest.raises(ActRefused):
        adopted(row("BLOCKED"), deal, former=("s-3",))
    fact = adopted(row("BLOCKED"), deal, former=("s-2", "s-3"))
    assert (fact.payload["create_key"], fact.payload["claim"]) == ("prod:s-2", 3)
    assert key_of(after(row("BLOCKED"), fact), UNIQUELY) == "prod:s-2"

"""The table of transitions (research/crm.md §4.2 to §4.5), a row of it after the other, without a worker."""

from dataclasses import replace

import pytest

from domain.conversation.states import State
from domain.crm.desired import STAGES
from domain.crm.outcomes import learn
from domain.crm.planning import next_step
from domain.crm.replies import Kind, Remote, Reply
from domain.crm.sync import BLOCKED, PENDING, UNCERTAIN, CrmSync
from domain.crm.visit import Answer, Configuration, Note, Request, Visit

NOW = "2026-03-20T12:00:00.000000Z"
QUIET = "2026-03-20T12:02:10.000000Z"
IDS = {name: f"id-{name}" for name in STAGES}
CONFIG = Configuration(stages=IDS, environment="Prod", stage_ids=frozenset(IDS.values()))
CONSERVATIVE = replace(CONFIG, mode="conservative")
PHONE = "5511955550142"


def row(**changes):
    values = {
        "session_id": "S-1",
        "organization_id": "default",
        "state": State.TRIAGE,
        "contact": {"phone": PHONE, "name": "Ana"},
        "status": PENDING,
        "revision": "rev-1",
        "next_attempt_at": NOW,
    }
    return CrmSync(**(values | changes))


def linked(**changes):
    shadow = {"contact.phone": PHONE, "contact.name": "Ana", "deal.contact": "7"}
    return row(**({"deal_id": "9", "contact_id": "7", "remote": shadow} | changes))


def marked(**changes):
    values = {
        "creation_started": NOW,
        "creation_token": "t",
        "create_key": "prod:s-1",
        "creation_mode": "unique_property",
    }
    return row(**(values | changes))


def ready(**changes):
    """A row whose contact is known, so that the deal is next."""
    return linked(deal_id="", **changes)


class Case:
    """A visit that a test leads through its steps."""

    def __init__(self, sync, config=CONFIG, now=NOW, ours=()):
        self.sync, self.config = sync, config
        self.visit = Visit.of(sync, now, frozenset(ours))

    def next(self):
        return next_step(self.sync, self.visit, self.config)

    def ask(self, step):
        request = self.next()
        while isinstance(request, Note) and request.ending is None:
            request = self.next()
        assert isinstance(request, Request), request
        assert request.step == step
        return request

    def answer(self, step, reply):
        request = self.ask(step)
        return learn(
            Answer(
                sync=self.sync,
                visit=self.visit,
                config=self.config,
                request=request,
                reply=reply,
            )
        )


def done(record_id="9", *, contacts=("7",), archived=False, **properties):
    record = Remote(id=record_id, properties=properties, archived=archived, contact_ids=contacts)
    return Reply(kind=Kind.DONE, record=record)


def said(note, event_type):
    [payload] = [fact.payload for fact in note.facts if fact.event_type == event_type]
    return payload


ABSENT = Reply(kind=Kind.ABSENT)
TAKEN = Reply(kind=Kind.CONFLICT, holder_id="42")


def test_what_ends_without_a_deal_is_confirmed_without_one():
    note = Case(row(state=State.COMPLETED)).next()

    assert note.ending == "synced"
    assert said(note, "crm_revision_confirmed") == {"revision": "rev-1"}


def test_what_ends_while_a_creation_is_in_doubt_is_looked_for():
    assert Case(marked(state=State.COMPLETED)).ask("deal_by_key")


@pytest.mark.parametrize("stages", [{}, {**IDS, "em_triagem": IDS["finalizado"]}])
def test_a_stage_that_is_missing_or_says_two_things_blocks(stages):
    note = Case(linked(), replace(CONFIG, stages=stages)).next()

    assert note.ending == "blocked"
    assert said(note, "crm_sync_blocked")["reason"] == "stage_configuration_invalid"


def test_final_stages_may_be_the_same():
    stages = {**IDS, "perdido": IDS["finalizado"]}

    assert Case(linked(state=State.COMPLETED), replace(CONFIG, stages=stages)).ask("deal_read")


def test_a_stage_that_the_pipeline_lacks_blocks_and_an_unread_pipeline_does_not():
    lacks = Case(linked(), replace(CONFIG, stage_ids=frozenset())).next()

    assert said(lacks, "crm_sync_blocked")["reason"] == "stage_missing"
    assert Case(linked(), replace(CONFIG, stage_ids=None)).ask("deal_read")


def test_the_ladder_to_a_contact_ends_with_a_new_one():
    case = Case(row(contact={"phone": PHONE, "name": "Ana", "email": "Ana@example.com"}))

    asked = []
    for step in ("contact_by_key", "contact_by_email", "contact_search"):
        asked.append(case.ask(step).arguments)
        assert case.answer(step, ABSENT) is None
    assert asked == [
        {"by": "phone_key", "value": "+5511955550142"},
        {"by": "email", "value": "ana@example.com"},
        {"phones": ("+5511955550142",)},
    ]
    created = case.answer("contact_create", done("7"))
    assert said(created, "crm_contact_linked") == {"contact_id": "7", "how": "created"}


def test_both_forms_of_a_brazilian_mobile_have_one_key():
    keys = {
        Case(row(contact={"phone": phone})).ask("contact_by_key").arguments["value"]
        for phone in ("5531988888888", "553188888888")
    }

    assert keys == {"+5531988888888"}


def test_without_the_property_of_contacts_a_phone_is_searched():
    assert Case(row(), replace(CONFIG, contact_key=False)).ask("contact_search")


@pytest.mark.parametrize(
    ("phones", "adopted"),
    [
        (["5531988888888"], "0"),
        (["+55 (31) 8888-8888"], "0"),
        (["(31) 98888-8888"], "0"),
        (["5531988888880", "31 8888-8888"], "1"),
        (["88888888", "5531988888880"], None),
    ],
)
def test_one_verified_find_is_adopted_and_others_are_none(phones, adopted):
    case = Case(row(contact={"phone": "5531988888888", "name": "Ana"}))
    case.answer("contact_by_key", ABSENT)
    found = tuple(
        Remote(id=str(number), properties={"phone": phone}) for number, phone in enumerate(phones)
    )

    note = case.answer("contact_search", Reply(kind=Kind.DONE, records=found))

    if adopted is None:
        assert note is None
        assert case.ask("contact_create")
    else:
        assert said(note, "crm_contact_linked") == {"contact_id": adopted, "how": "found"}


def test_two_verified_finds_are_for_a_person_to_tell_apart():
    case = Case(row())
    case.answer("contact_by_key", ABSENT)
    found = tuple(Remote(id=each, properties={"phone": PHONE}) for each in ("1", "2"))

    note = case.answer("contact_search", Reply(kind=Kind.DONE, records=found))

    blocked = said(note, "crm_sync_blocked")
    assert (blocked["reason"], blocked["detail"]) == ("contact_ambiguous", "contacts: 1, 2")


def test_a_contact_that_is_taken_is_found_by_its_holder():
    case = Case(row())
    case.answer("contact_by_key", ABSENT)
    case.answer("contact_search", ABSENT)
    assert case.answer("contact_create", TAKEN) is None

    assert case.ask("contact_by_holder").arguments == {"by": "id", "value": "42"}
    note = case.answer("contact_by_holder", done("42", phone=PHONE))
    assert said(note, "crm_contact_linked")["contact_id"] == "42"


def test_a_phone_that_another_contact_has_is_for_a_person():
    case = Case(row(contact_id="7"))
    case.answer("contact_by_id", done("7", name="Ana"))

    note = case.answer("contact_update", TAKEN)

    assert said(note, "crm_sync_blocked")["reason"] == "contact_ambiguous"


def test_an_unchanged_contact_is_not_read_and_a_changed_one_is():
    assert Case(linked()).ask("deal_read")
    assert Case(linked(contact={"phone": PHONE, "name": "Ana Lima"})).ask("contact_by_id")


def test_a_stored_contact_that_is_gone_is_looked_for_anew():
    case = Case(row(contact_id="7"))
    assert case.answer("contact_by_id", ABSENT) is None
    assert case.ask("contact_by_key")


def test_the_marker_stands_before_the_creation():
    case = Case(ready())

    note = case.next()
    assert note.ending is None
    assert said(note, "crm_deal_creation_started") == {
        "revision": "rev-1",
        "create_key": "prod:s-1",
        "mode": "unique_property",
    }
    sends = case.ask("deal_create").sends
    assert sends == {"name": "Ana", "key": "prod:s-1", "stage": "id-em_triagem"}


def test_a_session_that_was_created_anew_has_another_key():
    case = Case(ready(key_suffix=2, create_key="prod:s-1"))

    assert case.ask("deal_create").sends["key"] == "prod:s-1#2"


def test_without_the_unique_property_no_key_is_sent():
    assert "key" not in Case(ready(), CONSERVATIVE).ask("deal_create").sends


def test_a_created_deal_is_linked_and_claimed_and_associated():
    case = Case(ready())

    note = case.answer("deal_create", done("9", contacts=()))
    assert said(note, "crm_deal_linked") == {"deal_id": "9", "how": "created"}


@pytest.mark.parametrize("kind", [Kind.NOT_SENT, Kind.TRANSIENT])
def test_a_creation_that_was_not_made_is_tried_again_without_a_marker(kind):
    note = Case(ready()).answer("deal_create", Reply(kind=kind))

    deferred = said(note, "crm_sync_deferred")
    assert (deferred["marker"], deferred["counted"]) == ("cleared", "yes")
    assert deferred["retry_at"] == "2026-03-20T12:01:00.000000Z"


@pytest.mark.parametrize("kind", [Kind.NOT_SENT, Kind.TRANSIENT, Kind.PAUSED, Kind.BREAKER])
def test_the_marker_of_an_earlier_creation_is_kept_whatever_becomes_of_a_later_one(kind):
    case = Case(marked(contact_id="7", remote=linked().remote, status=UNCERTAIN))
    case.answer("deal_by_key", ABSENT)
    case.answer("deal_by_key_archived", ABSENT)

    note = case.answer("deal_create", Reply(kind=kind))

    markers = [fact.payload.get("marker") for fact in note.facts]
    assert "cleared" not in markers


@pytest.mark.parametrize(("kind", "ending"), [(Kind.PAUSED, "paused"), (Kind.BREAKER, "breaker")])
def test_a_creation_the_account_refused_uses_up_no_try(kind, ending):
    note = Case(ready()).answer("deal_create", Reply(kind=kind, wait_s=40))

    deferred = said(note, "crm_sync_deferred")
    assert (note.ending, deferred["counted"], deferred["marker"]) == (ending, "no", "cleared")


@pytest.mark.parametrize("kind", [Kind.PAUSED, Kind.BREAKER])
def test_other_requests_an_account_refused_leave_no_word(kind):
    note = Case(linked()).answer("deal_read", Reply(kind=kind))

    assert note.facts == ()
    assert note.reply is not None


def test_a_creation_in_doubt_is_looked_for_after_a_minute():
    note = Case(ready()).answer("deal_create", Reply(kind=Kind.AMBIGUOUS, status=504))

    doubt = said(note, "crm_sync_uncertain")
    assert doubt["retry_at"] == "2026-03-20T12:01:00.000000Z"
    assert doubt["verify_after"] == QUIET
    assert (doubt["reason"], doubt["http_status"]) == ("creation_result_unknown", 504)


@pytest.mark.parametrize("reply", [Reply(kind=Kind.AMBIGUOUS), TAKEN])
def test_without_the_unique_property_a_creation_in_doubt_has_no_next_try(reply):
    note = Case(ready(), CONSERVATIVE).answer("deal_create", reply)

    assert "retry_at" not in said(note, "crm_sync_uncertain")


def test_a_marker_without_the_unique_property_is_for_a_person_once():
    conservative = {"creation_mode": "conservative"}
    first = Case(marked(**conservative), CONSERVATIVE).next()
    again = Case(marked(**conservative, status=UNCERTAIN, next_attempt_at=""), CONSERVATIVE).next()

    assert said(first, "crm_sync_uncertain")["reason"] == "creation_result_unknown"
    assert (again.ending, again.facts) == ("nothing", ())


def test_a_creation_without_a_key_stays_for_a_person_when_the_property_is_there_at_last():
    note = Case(marked(creation_mode="conservative")).next()

    assert "retry_at" not in said(note, "crm_sync_uncertain")


def test_what_was_created_without_a_word_is_found_by_its_key():
    note = Case(marked()).answer("deal_by_key", done("9"))

    assert said(note, "crm_sync_reconciled") == {"how": "found"}
    assert said(note, "crm_deal_linked") == {"deal_id": "9", "how": "reconciled"}


def test_what_a_person_archived_meanwhile_is_not_created_again():
    case = Case(marked())
    case.answer("deal_by_key", ABSENT)

    note = case.answer("deal_by_key_archived", done("9", archived=True))

    assert said(note, "crm_sync_reconciled") == {"how": "archived"}
    assert said(note, "crm_sync_blocked")["reason"] == "deal_archived"


def test_what_is_nowhere_is_created_under_the_same_key():
    case = Case(marked(contact_id="7", remote=linked().remote))
    case.answer("deal_by_key", ABSENT)
    case.answer("deal_by_key_archived", ABSENT)

    assert case.ask("deal_create").sends["key"] == "prod:s-1"


def test_a_key_that_is_taken_leads_to_its_holder():
    case = Case(ready())
    case.sync = marked(contact_id="7", remote=linked().remote)
    assert case.answer("deal_create", TAKEN) is None
    case.answer("deal_by_key", ABSENT)
    case.answer("deal_by_key_archived", ABSENT)

    note = case.answer("deal_holder", done("42", key="prod:s-1"))

    assert said(note, "crm_deal_linked") == {"deal_id": "42", "how": "adopted"}


def test_a_key_that_somebody_unknown_has_stays_in_doubt():
    case = Case(ready())
    case.sync = marked(contact_id="7", remote=linked().remote)
    case.answer("deal_create", TAKEN)
    case.answer("deal_by_key", ABSENT)
    case.answer("deal_by_key_archived", ABSENT)
    assert case.answer("deal_holder", done("42", key="prod:other")) is None

    note = case.next()

    assert said(note, "crm_sync_uncertain")["reason"] == "key_taken"


def test_a_contact_that_is_gone_is_resolved_once_more_and_then_told():
    case = Case(ready())
    assert case.answer("deal_create", ABSENT) is None
    assert case.ask("contact_by_key")
    case.visit.contact_done = True

    note = case.answer("deal_create", ABSENT)

    blocked = said(note, "crm_sync_blocked")
    assert (blocked["reason"], blocked["marker"]) == ("contact_missing", "cleared")


def test_an_optional_property_that_is_refused_is_left_out_and_comes_back_with_another_value():
    invalid = Reply(kind=Kind.INVALID, reason="validation", invalid=("segment",))
    case = Case(ready(deal={"segment": "X"}))
    assert case.answer("deal_create", invalid) is None
    assert "segment" not in case.ask("deal_create").sends

    quarantined = dict(case.visit.quarantined)
    same = Case(ready(deal={"segment": "X"}, quarantined=quarantined))
    other = Case(ready(deal={"segment": "Y"}, quarantined=quarantined))
    assert "segment" not in same.ask("deal_create").sends
    assert other.ask("deal_create").sends["segment"] == "Y"


@pytest.mark.parametrize("names", [("name",), ("stage",), ("segment", "somebody_elses")])
def test_a_required_property_that_is_refused_blocks_and_is_named(names):
    invalid = Reply(kind=Kind.INVALID, reason="validation", invalid=names, detail="REQUIRED")

    note = Case(ready(deal={"segment": "X"})).answer("deal_create", invalid)

    blocked = said(note, "crm_sync_blocked")
    assert (blocked["reason"], blocked["marker"]) == ("validation", "cleared")
    assert blocked["detail"] == f"{', '.join(names)}: REQUIRED"


def test_the_newest_content_is_written_over_what_was_ours():
    shadow = {**linked().remote, "deal.name": "Ana", "deal.intent": "um"}
    case = Case(linked(deal={"intent": "dois"}, remote=shadow))
    case.answer("deal_read", done(name="Ana", intent="um", stage="id-em_triagem", key="prod:s-1"))

    assert case.ask("deal_update").sends == {"intent": "dois"}


def test_a_change_nobody_heard_of_is_looked_at_when_all_is_quiet():
    case = Case(linked(deal={"intent": "dois"}))
    case.answer("deal_read", done(name="Ana", stage="id-em_triagem", key="prod:s-1"))

    note = case.answer("deal_update", Reply(kind=Kind.AMBIGUOUS))

    deferred = said(note, "crm_sync_deferred")
    assert (deferred["verify_after"], deferred["marker"]) == (QUIET, "kept")


def test_a_change_that_was_not_sent_needs_no_second_look():
    case = Case(linked(deal={"intent": "dois"}))
    case.answer("deal_read", done(name="Ana", stage="id-em_triagem", key="prod:s-1"))

    note = case.answer("deal_update", Reply(kind=Kind.NOT_SENT))

    assert "verify_after" not in said(note, "crm_sync_deferred")


@pytest.mark.parametrize(("now", "kept"), [(NOW, True), (QUIET, False)])
def test_a_second_look_counts_only_when_it_begins_after_the_quiet(now, kept):
    case = Case(linked(verify_after=QUIET), now=now)
    case.visit.contact_done = True
    case.answer("deal_read", done(name="Ana", stage="id-em_triagem", key="prod:s-1"))
    case.visit.now = "2026-03-20T13:00:00.000000Z"

    confirmed = said(case.next(), "crm_revision_confirmed")

    assert ("verify_after" in confirmed) == kept


def test_a_stage_that_the_account_did_not_take_blocks():
    case = Case(linked())
    case.answer("deal_read", done(name="Ana", stage="id-novo_lead", key="prod:s-1"))

    note = case.answer("deal_update", done(stage="id-novo_lead"))

    assert said(note, "crm_sync_blocked")["reason"] == "stage_not_applied"


def test_the_ladder_of_a_deal_that_is_gone():
    case = Case(linked(create_key="prod:s-1"))
    case.answer("deal_read", ABSENT)
    assert case.ask("deal_archived").arguments["archived"]
    case.answer("deal_archived", ABSENT)
    assert case.ask("deal_moved").arguments == {"by": "key", "value": "prod:s-1"}
    case.answer("deal_moved", ABSENT)

    assert said(case.next(), "crm_sync_blocked")["reason"] == "deal_missing"


def test_a_deal_that_goes_while_it_is_written_is_looked_for():
    case = Case(linked(deal={"intent": "dois"}))
    case.answer("deal_read", done(name="Ana", stage="id-em_triagem", key="prod:s-1"))
    assert case.answer("deal_update", ABSENT) is None

    note = case.answer("deal_archived", done(archived=True))

    assert said(note, "crm_sync_blocked")["reason"] == "deal_archived"


def test_a_deal_under_another_id_is_the_one_from_now_on():
    note = Case(linked()).answer("deal_read", done("10", name="Ana"))

    assert said(note, "crm_deal_linked") == {"deal_id": "10", "how": "merged"}


def test_a_contact_that_a_person_took_from_a_deal_is_not_put_back():
    case = Case(linked())
    case.answer("deal_read", done(contacts=(), name="Ana", stage="id-em_triagem", key="prod:s-1"))

    assert case.next().ending == "synced"


def test_an_association_that_got_lost_is_made():
    remote = {k: v for k, v in linked().remote.items() if k != "deal.contact"}
    case = Case(linked(remote=remote))
    case.answer("deal_read", done(contacts=(), name="Ana", stage="id-em_triagem", key="prod:s-1"))

    assert case.answer("associate", Reply(kind=Kind.DONE)) is None
    assert case.next().ending == "synced"


@pytest.mark.parametrize(
    ("attempts", "wait_s", "retry_at"),
    [
        (0, None, "12:01:00"),
        (1, None, "12:02:00"),
        (5, None, "12:32:00"),
        (6, None, "13:00:00"),
        (70, None, "13:00:00"),
        (0, 600, "12:10:00"),
        (6, 600, "13:00:00"),
    ],
)
def test_the_next_try_waits_for_the_backoff_or_for_what_was_asked(attempts, wait_s, retry_at):
    reply = Reply(kind=Kind.TRANSIENT, wait_s=wait_s)

    note = Case(linked(attempts=attempts)).answer("deal_read", reply)

    assert said(note, "crm_sync_deferred")["retry_at"] == f"2026-03-20T{retry_at}.000000Z"


def test_a_contact_that_nothing_guards_is_not_created_twice_in_a_hurry():
    case = Case(row(contact={"name": "Ana"}))

    note = case.answer("contact_create", Reply(kind=Kind.AMBIGUOUS))

    assert said(note, "crm_sync_deferred")["retry_at"] == QUIET


def test_a_refusal_blocks_with_its_reason():
    note = Case(linked()).answer(
        "deal_read", Reply(kind=Kind.REFUSED, reason="client_bug", category="X")
    )

    blocked = said(note, "crm_sync_blocked")
    assert (blocked["reason"], blocked["category"]) == ("client_bug", "X")


def test_a_blocked_row_is_due_to_nobody():
    assert row(status=BLOCKED, next_attempt_at="").due_at > "9998"

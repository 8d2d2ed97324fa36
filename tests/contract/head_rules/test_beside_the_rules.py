"""What else must hold on the way through the head: creation, batches, limits, retries, guards."""

import pytest

from domain import keys
from domain.addresses import identity_keys
from domain.errors import NotFound, Unavailable, Uncertain
from domain.event import OUR_SOURCE, Address
from domain.outcomes import Appended, Duplicate, Failed
from tests.support import toy
from tests.support.head_world import BOTH
from tests.support.make import LEAD, ORGANIZATION

PERSON = Address(channel="whatsapp", identifier="5511900000001", aliases=("551100000001",))
NAMES = identity_keys(ORGANIZATION, PERSON)


def message(key="m1", n=1, address=PERSON, **more):
    return toy.counted(n, key, lead=None, address=address, **more)


@BOTH
def test_two_deliveries_of_a_new_person_s_first_message_make_one_lead_and_one_event(world):
    slow, fast = world.log(), world.log()
    first = []
    slow.steps.before("insert_events", lambda: first.extend(fast.append([message(attempt=1)])))
    [second] = slow.append([message(attempt=2)])
    [first] = first
    assert isinstance(first, Appended)
    assert second == Duplicate(first.lead, first.event_id, first.sequence)
    assert set(world.real.resolve(NAMES).values()) == {first.lead}
    assert [event.event_type for event in world.events(first.lead)] == [
        "toy_counted",
        "identity_linked",
    ]
    assert world.violations == []


def test_two_first_messages_of_a_new_person_meet_in_one_lead(world):
    slow, fast = world.log(), world.log()
    slow.steps.before("insert_events", lambda: fast.append([message("m1")]))
    [second] = slow.append([message("m2")])
    assert isinstance(second, Appended)
    assert second.sequence == 3
    assert world.violations == []


def test_a_first_message_whose_reply_was_lost_is_known_as_its_own(world):
    log = world.log()
    log.steps.lose_reply()
    [answer] = log.append([message()])
    assert isinstance(answer, Appended)
    assert world.real.resolve(NAMES) == dict.fromkeys(NAMES, answer.lead)
    assert world.head(answer.lead).version == 2


def test_two_addresses_of_one_lead_in_one_append_are_committed_in_turn(world):
    other = Address(channel="whatsapp", identifier=PERSON.aliases[0])
    [known] = world.log().append([message()])
    log = world.log()
    answers = log.append([message("m2"), message("m3", address=other), toy.counted(1, "m4")])
    assert [answer.sequence for answer in answers] == [3, 4, 1]
    assert log.pauses == []
    assert [answer.lead for answer in answers] == [known.lead, known.lead, LEAD]
    assert world.violations == []


@BOTH
def test_address_claims_survive_a_rebuild_and_lost_ones_are_added(world):
    [first] = world.log().append([message()])
    assert world.repair(world.log(2), first.lead).verified.state == "equal"
    assert world.real.resolve(NAMES) == dict.fromkeys(NAMES, first.lead)

    linked = {"channel": "web", "identifier": "session-7", "aliases": ["cookie-7"]}
    lost = [keys.identity(ORGANIZATION, "web", name) for name in ("session-7", "cookie-7")]
    world.log(2).append(
        [
            toy.fact("identity_linked", key, lead=first.lead, source=OUR_SOURCE, **linked)
            for key in ("link-1", "link-2")
        ]
    )
    assert world.log(2).verifier.verify(first.lead).missing_identities == 2
    assert world.repair(world.log(2), first.lead, force=True).verified.state == "equal"
    assert world.real.resolve(lost) == dict.fromkeys(lost, first.lead)
    assert world.violations == []


def test_what_another_source_says_of_addresses_claims_none(world):
    said = toy.fact("identity_linked", "a", channel="web", identifier="session-7", aliases=[])
    world.log().append([said])
    assert world.repair(world.log(), force=True).verified.state == "equal"
    assert world.real.resolve([keys.identity(ORGANIZATION, "web", "session-7")]) == {}


@BOTH
def test_a_second_commit_on_the_same_row_between_read_and_commit_keeps_both_contributions(world):
    world.log().append([toy.counted(1, "a")])
    slow, fast = world.log(), world.log()
    slow.steps.after("snapshot", lambda: fast.append([toy.counted(20, "b")]))
    slow.append([toy.counted(300, "c")])
    assert world.rows.get(toy.count_key()).attributes["value"] == 321
    assert world.violations == []


def test_an_event_on_which_a_projection_raises_is_stored_alone_and_hurts_no_other_lead(world):
    facts = [
        toy.counted(1, "a"),
        toy.fact("toy_marked", "b", breaks=1),
        toy.counted(1, "c", lead="lead-two"),
    ]
    world.answered(world.log().append(facts))
    assert (world.head().version, world.head().projected) == (2, 0)
    assert world.lags()
    assert (world.head("lead-two").version, world.head("lead-two").projected) == (1, 1)
    assert world.violations == []


def test_a_projection_that_fails_to_name_its_rows_loses_no_event(world, monkeypatch):
    def unnamed(self, event):
        raise ZeroDivisionError

    monkeypatch.setattr(toy.Fragile, "keys", unnamed)
    answers = world.log().append([toy.counted(1, "a"), toy.fact("toy_marked", "b", breaks=1)])
    world.answered(answers)
    assert world.violations == []


def test_a_row_whose_key_no_store_takes_sends_its_event_alone_and_is_reported(world):
    facts = [toy.counted(1, "a"), toy.fact("toy_shelved", "b", item="x" * 3000)]
    world.answered(world.log().append([*facts, toy.counted(2, "c")]))
    assert world.head().version == 3
    assert world.head().projected == 1
    repaired = world.log().repairer.repair(LEAD)
    assert repaired.state == "broken"
    assert world.head().projected == 1
    assert world.claims == 0


@BOTH
def test_an_event_that_touches_more_rows_than_a_commit_holds_goes_alone_and_is_rebuilt(world):
    world.answered(world.log().append([toy.counted(1, "a")]))
    world.answered(
        world.log().append([toy.fact("toy_flooded", "b", rows=150), toy.counted(1, "c")])
    )
    assert (world.head().version, world.head().projected) == (3, 1)
    sweeper = world.log()
    repaired = world.repair(sweeper)
    assert repaired.verified.state == "equal"
    assert repaired.verified.rows == 151
    assert world.claims == 1
    assert world.violations == []


def test_a_decision_that_touches_more_rows_than_a_commit_holds_goes_alone(world):
    decision = toy.noting("a")
    flooding = toy.replaced(decision, lambda _: [toy.fact("toy_flooded", "a", rows=150)])
    assert len(world.log().record(flooding).events) == 1
    assert (world.head().version, world.head().projected) == (1, 0)


def test_a_decision_whose_rows_are_too_many_bytes_goes_alone(world):
    world.log().append([toy.counted(1, "a")])
    assert len(world.log(most_rows=0).record(toy.noting("b")).events) == 1
    assert (world.head().version, world.head().projected) == (2, 1)
    assert world.violations == []


def test_a_batch_is_split_where_its_rows_would_not_fit_one_commit(world):
    facts = [toy.fact("toy_flooded", "a", rows=60), toy.fact("toy_opened", "b")]
    facts += [toy.counted(n, f"c{n}") for n in range(45)]
    log = world.log()
    world.answered(log.append(facts))
    assert world.head().projected == 47
    assert log.steps.calls["insert_events"] == 2
    assert log.pauses == []
    assert world.violations == []


@pytest.mark.parametrize("size", [1, 2])
def test_an_append_whose_reply_was_lost_knows_its_own_write(world, size):
    facts = [toy.counted(n, f"c{n}") for n in range(size)]
    log = world.log()
    log.steps.lose_reply()
    answers = log.append(facts)
    assert answers == [Appended(LEAD, fact.event_id, n) for n, fact in enumerate(facts, start=1)]
    assert world.violations == []


def test_eight_lost_races_are_unavailable_and_nothing_is_half_written(world):
    world.log().append([toy.counted(1, "a")])
    slow = world.log()
    for n in range(1, 9):
        slow.steps.before(
            "insert_events", lambda n=n: world.log().append([toy.counted(1, f"fast-{n}")]), n=n
        )
    [answer] = slow.append([toy.counted(9, "slow")])
    assert isinstance(answer, Failed)
    assert type(answer.error) is Unavailable
    assert slow.pauses == list(range(1, 9))[: len(slow.pauses)]
    assert world.real.receipt(toy.receipt_key("slow")) is None
    assert world.head().version == 9
    assert world.violations == []


def test_eight_lost_races_of_a_decision_are_unavailable(world):
    slow = world.log()
    for n in range(1, 9):
        slow.steps.before(
            "insert_events", lambda n=n: world.log().append([toy.counted(1, f"fast-{n}")]), n=n
        )
    with pytest.raises(Unavailable):
        slow.record(toy.noting("slow"))
    assert world.head().version == 8
    assert world.violations == []


def test_an_outcome_that_stays_unknown_is_said_to_be_unknown(world):
    log = world.log()
    for n in range(1, 9):
        log.steps.lose_request(n=n)
    [answer] = log.append([toy.counted(1, "a")])
    assert isinstance(answer.error, Uncertain)
    assert world.real.snapshot(LEAD).head is None


def test_what_may_have_been_written_stays_in_doubt_while_the_store_is_down(world):
    appending_log, deciding_log = world.log(), world.log()
    for log in (appending_log, deciding_log):
        log.steps.lose_reply()
        for n in range(2, 11):
            log.steps.be_down("snapshot", n=n)
    [answer] = appending_log.append([toy.counted(1, "a")])
    assert isinstance(answer.error, Uncertain)
    with pytest.raises(Uncertain):
        deciding_log.record(toy.noting("b"))
    assert world.head().version == 2


def test_what_a_later_refusal_disproves_is_in_doubt_no_more(world):
    log = world.log()
    log.steps.lose_request()
    for n in range(2, 9):
        log.steps.before(
            "insert_events", lambda n=n: world.log().append([toy.counted(1, f"fast-{n}")]), n=n
        )
    [answer] = log.append([toy.counted(9, "slow")])
    assert type(answer.error) is Unavailable


def test_a_store_that_is_down_for_a_moment_costs_a_pause(world):
    log = world.log()
    log.steps.be_down("snapshot")
    log.steps.be_down("insert_events")
    world.answered(log.append([toy.counted(1, "a")]))
    assert log.pauses == [1, 2]


def test_the_same_fact_twice_in_one_append_is_appended_and_a_duplicate(world):
    first, second, other = world.log().append(
        [toy.counted(1, "a"), toy.counted(1, "a", attempt=2), toy.counted(2, "a", attempt=3)]
    )
    assert first == Appended(LEAD, first.event_id, 1)
    assert second == Duplicate(LEAD, first.event_id, 1)
    assert isinstance(other, Failed)
    assert world.head().version == 1


@BOTH
def test_another_organization_s_lead_is_not_found_and_not_written(world):
    world.log().append([toy.counted(1, "a")])
    [answer] = world.log().append([toy.counted(2, "b", organization_id="org-two")])
    assert isinstance(answer.error, NotFound)
    stranger = toy.replaced(toy.noting("c"), organization_id="org-two")
    with pytest.raises(NotFound):
        world.log().record(stranger)
    with pytest.raises(NotFound):
        world.log().reader.head(LEAD, "org-two")
    assert world.head().version == 1


def test_a_healthy_lead_costs_a_decision_no_tail_read(world):
    world.log().append([toy.counted(1, "a")])
    log = world.log()
    log.record(toy.noting("b"))
    assert log.steps.calls["select_events"] == 0
    assert log.steps.calls["snapshot"] == 1


def test_a_repair_says_whether_anything_was_to_do(world):
    world.log().append([toy.counted(1, "a")])
    repairer = world.log().repairer
    assert repairer.repair(LEAD).state == "current"
    forced = repairer.repair(LEAD, force=True)
    assert (forced.state, forced.written, forced.events) == ("current", 0, 1)
    world.damage(toy.count_key(), 70)
    assert repairer.repair(LEAD, force=True).state == "repaired"


def test_a_projection_that_fails_to_name_foreign_rows_breaks_its_view_only(world, monkeypatch):
    def unnamed(self, event):
        raise ZeroDivisionError

    world.log().append([toy.counted(1, "a")])
    monkeypatch.setattr(toy.Fragile, "foreign_keys", unnamed)
    assert world.log().verifier.verify(LEAD).state == "broken"
    assert world.log(2).repairer.repair(LEAD).state == "broken"
    assert world.head().fold_version == 1


def test_a_verify_beside_a_busy_writer_reports_no_drift(world):
    world.log().append([toy.counted(1, "a")])
    log = world.log()
    for n in (1, 3):
        log.steps.before(
            "query", lambda n=n: world.log().append([toy.counted(n, f"more-{n}")]), n=n
        )
    verified = log.verifier.verify(LEAD)
    assert (verified.state, verified.version) == ("equal", 3)

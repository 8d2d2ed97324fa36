"""Rule 11: a decision is stored whole or not at all; facts of a batch are answered each for itself."""

from dataclasses import replace

import pytest

from domain.errors import IdempotencyConflict, LeadError, Rejected
from domain.outcomes import Appended, Duplicate, Failed
from domain.records import Refused
from projections.committing import commit_alone
from projections.deciding import Command, Decision, Recording
from tests.support import toy
from tests.support.head_world import BOTH, caught, nothing
from tests.support.make import LEAD, ORGANIZATION


def drop_known_facts(world, log):
    """Commit what is left of a decision when one of its keys is taken."""
    put = log._put

    def partial(events, commit):
        try:
            put(events, commit)
        except Refused as refused:
            taken = {receipt.key for receipt in refused.receipts}
            if not taken:
                raise
            head = world.head()
            left = [
                (event._replace(sequence=head.version + n), proof._replace(sequence=head.version + n))
                for n, (event, proof) in enumerate(
                    (pair for pair in zip(events, commit.receipts, strict=True)
                     if pair[1].key not in taken),
                    start=1,
                )
            ]  # fmt: skip
            rest = [event for event, _ in left]
            put(rest, commit_alone(head, rest, (tuple(proof for _, proof in left), ())))

    log._put = partial


def read_no_receipts(log):
    """Take snapshots without the receipts that were asked for."""
    log.steps.change("snapshot", lambda snapshot: snapshot._replace(receipts={}))


def decision(decide, key=None):
    return Decision(
        organization_id=ORGANIZATION,
        lead=LEAD,
        decide=decide,
        stands_on=[toy.COUNTING[1]],
        keys=[toy.open_key()],
        command=Command(toy.receipt_key(key), key) if key else None,
    )


def is_open(ground):
    return ground.fold.states(toy.COUNTING[1]).get(toy.open_key()) is not None


def opening_unless_open(key):
    return decision(lambda ground: [] if is_open(ground) else [toy.fact("toy_opened", key)], key)


def message_and_session(message, session):
    def decide(ground):
        facts = [toy.counted(1, message)]
        return facts if is_open(ground) else [*facts, toy.fact("toy_opened", session)]

    return decision(decide, message)


def the_key_of_the_session_is_taken(world, spoil=nothing):
    world.log().append([toy.fact("toy_opened", "s1"), toy.fact("toy_closed", "c1")])
    log = world.log()
    spoil(world, log)
    try:
        log.record(message_and_session("m1", "s1"))
        world.violations.append("nobody was told")
    except Rejected:
        pass
    except LeadError:
        world.violations.append("the answer is not the truth")
    if len(world.events()) != 2:
        world.violations.append("half a decision is stored")
    return world.violations


def a_reply_is_lost_and_nothing_is_left_to_decide(world, spoil=nothing):
    log = world.log()
    spoil(log)
    log.steps.lose_reply()
    return told(world, log.record(opening_unless_open("s1")))


def a_command_comes_twice(world, spoil=nothing):
    world.log().record(opening_unless_open("s1"))
    again = world.log()
    spoil(again)
    return told(world, again.record(opening_unless_open("s1")))


def told(world, recorded):
    if recorded.receipt is None:
        world.violations.append("a caller has neither id nor sequence")
    elif (recorded.receipt.event_id, recorded.receipt.sequence) != (world.events()[0].event_id, 1):
        world.violations.append("callers of one command disagree")
    return world.violations


@BOTH
def test_rule_11_a_decision_with_a_taken_key_is_not_stored_by_halves(world):
    assert the_key_of_the_session_is_taken(world) == []


def test_half_a_decision_is_caught_when_rule_11_is_taken_out(world):
    assert caught(the_key_of_the_session_is_taken(world, drop_known_facts), "half a decision")


def test_insisting_for_ever_is_caught_when_rule_11_is_taken_out(world, monkeypatch):
    monkeypatch.setattr(Recording, "_refuse_taken", lambda *_: None)
    assert caught(the_key_of_the_session_is_taken(world), "not the truth")


REPEATED = [a_reply_is_lost_and_nothing_is_left_to_decide, a_command_comes_twice]


@BOTH
@pytest.mark.parametrize("scenario", REPEATED)
def test_rule_11_when_nothing_is_left_to_decide_the_receipt_answers(world, scenario):
    assert scenario(world) == []
    assert len(world.events()) == 1


@pytest.mark.parametrize("scenario", REPEATED)
def test_an_answer_without_the_receipt_is_caught_when_rule_11_is_taken_out(world, scenario):
    assert caught(scenario(world, read_no_receipts), "neither id nor sequence")


def test_two_deciders_of_one_session_open_it_once_and_keep_both_messages(world):
    slow, fast = world.log(), world.log()
    slow.steps.before("insert_events", lambda: fast.record(message_and_session("m1", "s1")))
    slow.record(message_and_session("m2", "s1"))
    assert [event.event_type for event in world.events()] == [
        "toy_counted",
        "toy_opened",
        "toy_counted",
    ]
    assert world.violations == []


@pytest.mark.parametrize("command", [True, False], ids=["command", "bare"])
def test_a_decision_whose_reply_was_lost_is_known_as_this_call_s_own(world, command):
    log = world.log()
    log.steps.lose_reply()
    recorded = log.record(toy.noting("n1", command=command))
    assert [event.sequence for event in recorded.events] == [1]
    assert recorded.receipt.sequence == 1
    assert world.violations == []


def test_an_early_try_of_the_network_that_was_written_is_known_as_this_call_s_own(world):
    log = world.log()

    def write_and_be_refused_by_it(call):
        call()
        raise Refused(receipts=[world.real.receipt(toy.receipt_key("n1"))], head=True)

    log.steps.instead("insert_events", write_and_be_refused_by_it)
    recorded = log.record(toy.noting("n1"))
    assert [event.sequence for event in recorded.events] == [1]
    assert log.pauses == []


def test_a_command_under_the_key_of_another_is_rejected(world):
    world.log().record(toy.noting("n1"))
    other = replace(toy.noting("n1"), command=Command(toy.receipt_key("n1"), "something else"))
    with pytest.raises(Rejected):
        world.log().record(other)


def test_a_decision_without_a_command_insists_on_a_taken_key_once(world):
    world.log().append([toy.counted(1, "n1")])
    log = world.log()
    with pytest.raises(Rejected):
        log.record(toy.noting("n1", command=False))
    assert len(log.pauses) == 1


def test_rule_11_facts_of_a_batch_are_answered_each_for_itself(world):
    world.log().append([toy.counted(1, "a"), toy.counted(2, "b")])
    known, conflict, new = world.log().append(
        [toy.counted(1, "a"), toy.counted(9, "b"), toy.counted(3, "c")]
    )
    assert isinstance(known, Duplicate)
    assert isinstance(conflict, Failed)
    assert isinstance(conflict.error, IdempotencyConflict)
    assert conflict.error.sequence == 2
    assert new == Appended(LEAD, new.event_id, 3)
    assert world.violations == []

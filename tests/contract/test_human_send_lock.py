"""The human send lock on every store: who holds it, and what its commits are judged by."""

import pytest

from domain import keys
from domain.conversation.handling import OperatorMessage
from domain.conversation.standing import StateChanged
from domain.conversation.states import State
from domain.instants import to_datetime
from handlers.conversations import locks
from tests.support.talks import ORGANIZATION, World, drain, lead_of, receive, types

pytestmark = pytest.mark.beyond_moto

NOW = "2026-03-20T12:00:00.000000Z"
SOON = "2026-03-20T12:00:30.000000Z"
LATER = "2026-03-20T12:00:30.000001Z"
AGAIN = "2026-03-20T12:01:00.000000Z"


def take(table, lock_id, operator="ana", now=NOW, expires_at=SOON):
    return locks.acquire_human_send_lock(
        table, "lead-1", "s-1", lock_id=lock_id, operator=operator, now=now, expires_at=expires_at
    )


def test_one_holds_it_until_it_is_given_back(table):
    assert take(table, "one")
    assert not take(table, "two", "bia")
    assert locks.sender(table, "lead-1", "s-1", NOW) == "ana"

    assert not locks.release_human_send_lock(table, "lead-1", "s-1", "two")
    assert locks.release_human_send_lock(table, "lead-1", "s-1", "one")
    assert locks.sender(table, "lead-1", "s-1", NOW) is None
    assert take(table, "two", "bia")


def test_the_other_half_of_a_double_click_has_it_too(table):
    assert take(table, "one")
    assert take(table, "one")


def test_it_holds_to_its_last_moment_and_not_a_moment_longer(table):
    take(table, "one")

    assert not take(table, "two", "bia", now=SOON, expires_at=AGAIN)
    assert take(table, "two", "bia", now=LATER, expires_at=AGAIN)
    assert not locks.release_human_send_lock(table, "lead-1", "s-1", "one")


def test_the_store_may_take_an_expired_one_away(table):
    take(table, "one")

    row = table.get(keys.human_send_lock("lead-1", "s-1"))
    assert row.ttl == int(to_datetime(SOON).timestamp())


@pytest.fixture
def world(backend, tmp_path):
    return World(backend, tmp_path)


@pytest.fixture
def process(world):
    """A conversation that is Ana's, whose text is being sent."""
    process = world.process()
    receive(process, world.says("quero falar com um atendente"))
    drain(process)
    process.talks.operators.claim(ORGANIZATION, lead_of(process), "ana")
    lead, session = lead_of(process), process.talks.conversations.get_active(lead_of(process))
    assert locks.acquire_human_send_lock(
        process.app.table,
        lead,
        session.session_id,
        lock_id="ana:other-window",
        operator="ana",
        now=world.now,
        expires_at=AGAIN,
    )
    return process


def write(process, client_message_id="click-1"):
    message = OperatorMessage(text="Bom dia", client_message_id=client_message_id)
    return process.talks.operators.reply(ORGANIZATION, lead_of(process), "ana", message)


ACTS = {
    "write": write,
    "release": lambda p: p.talks.operators.release(ORGANIZATION, lead_of(p), "ana"),
    "transfer": lambda p: p.talks.operators.transfer(ORGANIZATION, lead_of(p), "ana", "bia"),
    "return": lambda p: p.talks.operators.return_to_bot(ORGANIZATION, lead_of(p), "ana"),
    "close": lambda p: p.talks.operators.close(ORGANIZATION, lead_of(p), "ana"),
}


@pytest.mark.parametrize("act", ACTS)
def test_while_a_text_is_sent_nothing_comes_between_and_afterwards_it_does(world, process, act):
    before = types(process)

    with pytest.raises(StateChanged) as refused:
        ACTS[act](process)
    assert refused.value.changed == ("sending",)
    assert refused.value.now.sending == "ana"
    assert types(process) == before

    world.pass_time(seconds=61)
    ACTS[act](process)
    assert len(types(process)) > len(before)


def test_the_lock_is_judged_in_the_commit_and_not_before(world, process):
    lead, now = lead_of(process), world.now
    session_id = process.talks.conversations.get_active(lead).session_id
    locks.release_human_send_lock(process.app.table, lead, session_id, "ana:other-window")

    def somebody_begins_to_write():
        locks.acquire_human_send_lock(
            process.app.table,
            lead,
            session_id,
            lock_id="ana:other-window",
            operator="ana",
            now=now,
            expires_at=AGAIN,
        )

    process.steps.before("insert_events", somebody_begins_to_write)

    with pytest.raises(StateChanged) as refused:
        process.talks.operators.close(ORGANIZATION, lead, "ana")
    assert refused.value.changed == ("sending",)
    assert process.talks.conversations.get_active(lead).state == State.HUMAN


def test_who_lost_the_lock_while_deciding_writes_nothing(world, process):
    lead, texts = lead_of(process), len(world.phone.texts)
    session_id = process.talks.conversations.get_active(lead).session_id
    world.pass_time(seconds=61)
    until = "2026-03-20T12:05:00.000000Z"

    def somebody_takes_the_expired_lock():
        world.pass_time(seconds=31)
        assert locks.acquire_human_send_lock(
            process.app.table,
            lead,
            session_id,
            lock_id="ana:third-window",
            operator="ana",
            now=world.now,
            expires_at=until,
        )

    process.steps.before("insert_events", somebody_takes_the_expired_lock)

    with pytest.raises(StateChanged):
        write(process)
    assert "operator_message_queued" not in types(process)
    assert len(world.phone.texts) == texts


def test_a_lock_given_back_between_two_looks_is_free(world, process):
    lead, table = lead_of(process), process.app.table
    session_id = process.talks.conversations.get_active(lead).session_id

    def give_back():
        assert locks.release_human_send_lock(table, lead, session_id, "ana:other-window")

    process.steps.before("put", give_back, n=2)

    assert write(process).state == "sent"


def test_customers_are_never_kept_waiting_by_a_lock(world, process):
    assert receive(process, world.says("alô?")) == ["queued"]

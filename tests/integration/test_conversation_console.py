"""Terminals beside each other on one database: who works, who reads along, and what is followed."""

import threading
import time

import pytest

from domain.addresses import address
from domain.conversation.inbound import MessageStatus
from domain.errors import NotFound
from handlers.conversations.console import ConsoleLead, Following
from handlers.conversations.presence import Presence
from tests.support.people import desk, stepped_desk
from tests.support.talks import ORGANIZATION, PHONE

PATIENCE_S = 10


@pytest.fixture
def at(tmp_path):
    with desk(tmp_path, model="scripted") as made:
        yield made


def hears_of(at, text, status):
    """Let the channel report on a text of ours."""
    wamid = at.phone.wamid(text)
    item = MessageStatus(
        channel="whatsapp",
        source="whatsapp_status",
        external_event_id=f"{wamid}:{status}",
        account=text.account,
        address=address("whatsapp", PHONE),
        occurred_at=at.now,
        raw=b"",
        message_id=wamid,
        status=status,
        outbound_id=text.outbound_id,
    )
    at.talks.receiving.receive(ORGANIZATION, [item])
    return wamid


def presence(at, name):
    return Presence(table=at.app.table, now=lambda: at.now, name=name)


def test_who_works_says_so_for_a_while_and_takes_it_back(at):
    one, other = presence(at, "one"), presence(at, "other")
    assert not other.is_served("acme")

    one.beat(["acme"])
    assert other.is_served("acme")
    assert not other.is_served("another")

    other.leave(["acme"])
    assert other.is_served("acme"), "only who said it takes it back"
    one.leave(["acme"])
    assert not other.is_served("acme")


def test_who_died_is_forgotten(at):
    presence(at, "one").beat(["acme"])

    at.pass_by(seconds=10)
    assert presence(at, "other").is_served("acme")
    at.pass_by(seconds=1)
    assert not presence(at, "other").is_served("acme")


def test_who_goes_on_working_is_never_taken_for_dead(at):
    one = presence(at, "one")
    for _ in range(30):
        one.beat(["acme"])
        assert presence(at, "other").is_served("acme")
        at.pass_by(seconds=1)


def test_a_loop_says_that_it_works_and_does_what_the_minutes_bring(at):
    lead = at.says("oi", work=False)
    at.pass_by(hours=30)
    other = at.says("oi", phone="5511955550143")
    at.pass_by(hours=30)
    stop = threading.Event()
    at.talks.loop.start(stop)
    try:
        wait_for(lambda: at.talks.presence.is_served(ORGANIZATION))
        wait_for(lambda: at.events(other, "conversation_ended"))
    finally:
        stop.set()
        at.talks.loop.join(PATIENCE_S)
    assert not at.talks.presence.is_served(ORGANIZATION)
    assert at.events(lead, "handoff_requested")[0].payload["reason"] == "window_closed"


def wait_for(condition):
    until = time.monotonic() + PATIENCE_S
    while not condition():
        assert time.monotonic() < until
        time.sleep(0.02)


def test_who_reads_along_sees_each_message_once_and_ours_when_it_arrived(at):
    lead = at.says("oi", work=False)
    following = Following(conversations=at.talks.conversations, lead=lead)
    assert [each.text for each in following.news()] == ["oi"]
    assert following.news() == []

    at.work()

    [answer] = following.news()
    assert (answer.direction, answer.author) == ("outbound", "triagem")
    assert following.news() == []


def test_a_text_that_is_dropped_is_never_read(tmp_path):
    with stepped_desk(tmp_path, model="scripted") as (at, steps):
        lead = at.says("oi", work=False)
        following = Following(conversations=at.talks.conversations, lead=lead)
        following.news()
        at.phone.script.append(at.phone.lose_request)
        # The answer is being sent, nobody knows how it went, and meanwhile a person takes over.
        at.work()
        steps.after("query", lambda: at.echoes("Sou eu, a Ana"))

        read = [each.text for each in following.news()]

        assert read == []
        assert [each.text for each in following.news()] == ["Sou eu, a Ana"]


def test_a_lead_at_a_terminal_is_one_lead_by_its_name(at):
    talks = at.talks
    talks.sends.channels["console"] = at.phone

    def sits_down():
        return ConsoleLead(
            receiving=talks.receiving,
            conversations=talks.conversations,
            deciding=talks.deciding,
            organization_id=ORGANIZATION,
            identifier="rui",
        )

    rui = sits_down()
    assert rui.hear() == []
    rui.say("oi")
    assert rui.is_waiting()
    at.work()
    assert not rui.is_waiting()
    [answer] = rui.hear()

    again = sits_down()
    again.catch_up()
    again.say("quero sequenciamento")
    at.work()
    assert [each.text for each in again.hear()] != [answer.text]
    assert len(list(at.app.maintenance.leads(ORGANIZATION))) == 1


def test_a_text_of_ours_is_traced_by_the_id_its_statuses_have(at):
    lead = at.says("oi")
    [text] = at.phone.texts
    wamid = hears_of(at, text, "delivered")

    found = at.talks.tracing.trace(ORGANIZATION, wamid)

    assert (found.lead, found.message_ids) == (lead, ["wamid.IN0001"])
    assert (found.outbound_ids, found.provider_message_ids) == ([text.outbound_id], [wamid])
    assert [each.event_type for each in found.steps] == [
        "message_received",
        "agent_turn_completed",
        "reply_sending",
        "reply_sent",
        "message_status_changed",
    ]
    assert found.steps[-1].told["status"] == "delivered"


def test_a_trace_is_of_one_message_among_others(at):
    at.says("oi")
    at.says("quero sequenciamento")
    at.says("são dez amostras de solo")

    found = at.talks.tracing.trace(ORGANIZATION, "wamid.IN0002")

    assert found.message_ids == ["wamid.IN0002"]
    assert found.outbound_ids == [at.phone.texts[1].outbound_id]
    assert len(found.steps) == 4


def test_a_message_answered_with_others_is_traced_to_their_turn(at):
    at.says("oi", work=False)
    at.says("quero sequenciamento")

    found = at.talks.tracing.trace(ORGANIZATION, "wamid.IN0001")

    [turn] = [each for each in found.steps if each.event_type == "agent_turn_completed"]
    assert turn.told["coveredMessageIds"] == ["wamid.IN0001", "wamid.IN0002"]
    assert found.outbound_ids == [at.phone.texts[0].outbound_id]


def test_a_turn_that_came_too_late_is_in_the_trace_of_all_it_was_about(tmp_path):
    with stepped_desk(tmp_path, model="scripted") as (at, steps):
        at.says("oi", work=False)
        at.says("quero sequenciamento", work=False)
        steps.before("insert_events", lambda: at.says("são dez amostras", work=False))
        at.work()

        found = at.talks.tracing.trace(ORGANIZATION, "wamid.IN0001")

        kinds = [each.event_type for each in found.steps]
        assert kinds[:3] == ["message_received", "agent_turn_superseded", "agent_turn_completed"]
        assert found.steps[1].told["byMessageId"] == "wamid.IN0003"


def test_a_trace_is_of_one_organization(at):
    lead = at.says("oi")

    with pytest.raises(NotFound):
        at.talks.tracing.trace("another", "wamid.IN0001")
    with pytest.raises(NotFound):
        at.talks.tracing.trace("another", "wamid.IN0001", lead=lead)


def test_calls_of_models_are_listed_newest_first_across_days(at):
    at.says("oi")
    at.pass_by(hours=20)
    at.says("quero sequenciamento")

    calls = at.talks.tracing.list_recent_llm(ORGANIZATION)

    assert [each["created_at"][:10] for each in calls] == ["2026-03-21", "2026-03-20"]
    assert len(at.talks.tracing.list_recent_llm(ORGANIZATION, limit=1)) == 1
    assert len(at.talks.tracing.costs(ORGANIZATION, days=1)) == 1
    assert [each.day for each in at.talks.tracing.costs(ORGANIZATION, days=2)] == [
        "2026-03-21",
        "2026-03-20",
    ]
    assert at.talks.tracing.costs("another", days=2) == []

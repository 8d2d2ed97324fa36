"""Operators at one database: who gets what, what is sent once, and what they are told."""

import threading
from typing import Any

import pytest

from domain.conversation.delivery import ErrorClass, NotAccepted
from domain.conversation.handling import OperatorMessage, WindowClosed
from domain.conversation.standing import Seen, StateChanged
from domain.conversation.states import State
from domain.errors import IdempotencyConflict, NotFound, Rejected, Unavailable
from tests.support.people import desk, stepped_desk
from tests.support.talks import ORGANIZATION

RACES = 50
OTHER = "5511955550143"


@pytest.fixture
def at(tmp_path):
    with desk(tmp_path) as made:
        yield made


def side_by_side(*acts):
    """Do several things at the same moment; return what each answered or raised."""
    ready = threading.Barrier(len(acts))
    answers: list[Any] = [None] * len(acts)

    def run(number, act):
        ready.wait()
        try:
            answers[number] = act()
        except Exception as error:  # noqa: BLE001 - it is the answer
            answers[number] = error

    threads = [threading.Thread(target=run, args=(number, act)) for number, act in enumerate(acts)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return answers


def test_two_operators_race_for_a_conversation_and_one_claims_and_one_text_is_sent(at):
    def claim_and_write(lead, operator, race):
        at.operators.claim(ORGANIZATION, lead, operator)
        return at.reply(lead, operator, client_message_id=f"{operator}-{race}")

    for race in range(RACES):
        lead = at.waiting(phone=f"55119555{race:05d}")
        before = len(at.phone.texts)

        answers = side_by_side(
            *(
                lambda who=who, lead=lead, race=race: claim_and_write(lead, who, race)
                for who in ("ana", "bia")
            )
        )

        [lost] = [each for each in answers if isinstance(each, StateChanged)]
        [won] = [each for each in answers if each is not lost]
        [claimed] = at.events(lead, "handoff_claimed")
        [queued] = at.events(lead, "operator_message_queued")
        assert claimed.payload["operator"] == queued.payload["operator"]
        assert lost.now.assigned_to == claimed.payload["operator"]
        assert won.state == "sent"
        sent = [text for text in at.phone.texts[before:] if text.text == "Bom dia"]
        assert [text.outbound_id for text in sent] == [won.outbound_id]


def test_a_double_click_is_one_message_with_one_id(at):
    lead = at.claimed()

    for race in range(RACES):
        before = len(at.phone.texts)
        click = lambda race=race: at.reply(lead, client_message_id=f"click-{race}")  # noqa: E731
        answers = side_by_side(click, click, click)
        assert {each.outbound_id for each in answers} == {at.phone.texts[-1].outbound_id}
        assert sorted(each.duplicate for each in answers) == [False, True, True]
        assert len(at.phone.texts) == before + 1
    assert len(at.events(lead, "operator_message_queued")) == RACES


def test_the_same_text_given_later_is_known_also_when_all_has_changed(at):
    lead = at.claimed()
    first = at.reply(lead, client_message_id="click-1")
    at.operators.close(ORGANIZATION, lead, "ana")

    again = at.reply(lead, client_message_id="click-1")

    assert (again.outbound_id, again.duplicate) == (first.outbound_id, True)
    assert len(at.events(lead, "operator_message_queued")) == 1


def test_other_words_under_a_used_id_are_refused(at):
    lead = at.claimed()
    at.reply(lead, client_message_id="click-1")

    with pytest.raises(IdempotencyConflict):
        at.reply(lead, client_message_id="click-1", text="Boa noite")


def test_who_writes_on_a_stale_view_is_shown_the_newer_message_and_nothing_is_sent(at):
    lead = at.claimed()
    seen = at.thread(lead).latest
    at.says("esqueci de dizer uma coisa")
    texts = len(at.phone.texts)

    with pytest.raises(StateChanged) as refused:
        at.reply(lead, last_seen_message_id=seen)

    assert refused.value.changed == ("latest",)
    assert refused.value.now.latest_message_id == at.thread(lead).latest != seen
    assert len(at.phone.texts) == texts
    newest = refused.value.now.latest_message_id
    assert at.reply(lead, last_seen_message_id=newest).state == "sent"


def test_after_a_day_of_silence_an_operator_is_told_that_the_window_is_closed(at):
    lead = at.claimed()
    at.pass_by(hours=24)

    with pytest.raises(WindowClosed):
        at.reply(lead)
    assert at.events(lead, "operator_message_queued") == []


def test_a_text_the_channel_does_not_take_now_stays_queued_and_goes_later(at):
    lead = at.claimed()
    at.phone.script.append(lambda _: NotAccepted(error_class=ErrorClass.THROUGHPUT))

    replied = at.reply(lead)

    assert replied.state == "failed"
    at.pass_by(seconds=30)
    at.work()
    assert at.phone.texts[-1].outbound_id == replied.outbound_id


def test_a_text_recorded_by_a_process_without_the_channel_goes_with_another(at, tmp_path):
    lead = at.claimed()
    at.talks.sends.channels.pop("whatsapp")

    replied = at.reply(lead)

    assert replied.state == "queued"
    assert at.events(lead, "reply_sending", "reply_uncertain")[-1].payload["outboundId"] != (
        replied.outbound_id
    )
    at.talks.sends.channels["whatsapp"] = at.phone
    at.work()
    assert at.phone.texts[-1].outbound_id == replied.outbound_id


def test_a_store_that_is_gone_while_sending_leaves_the_text_in_the_outbox(at):
    lead = at.claimed()

    def send(_):
        raise Unavailable("made to fail")

    at.phone.script.append(send)

    assert at.reply(lead).state == "sending"


def test_texts_go_in_the_order_they_were_written(at):
    lead = at.claimed()
    at.phone.script.append(lambda _: NotAccepted(error_class=ErrorClass.THROUGHPUT))
    at.reply(lead, text="primeiro")

    assert at.reply(lead, text="segundo").state == "queued"

    at.pass_by(seconds=30)
    at.work()
    assert at.phone.words()[-2:] == ["primeiro", "segundo"]


def test_the_inbox_has_the_longest_wait_first_and_what_is_ones_own(at):
    first = at.waiting()
    at.pass_by(minutes=4)
    second = at.waiting(phone=OTHER)
    at.pass_by(minutes=3)

    queue, own = at.operators.inbox(ORGANIZATION, "ana")

    assert [(each.lead, each.minutes) for each in queue] == [(first, 7), (second, 3)]
    assert {each.reason for each in queue} == {"no_model"}
    assert [each.last_message_id for each in queue] == ["wamid.IN0001", "wamid.IN0002"]
    assert own == []

    at.operators.claim(ORGANIZATION, first, "ana")
    at.operators.claim(ORGANIZATION, second, "bia")
    queue, own = at.operators.inbox(ORGANIZATION, "ana")
    assert (queue, [each.lead for each in own]) == ([], [first])


def test_who_is_released_waits_from_then_on(at):
    lead = at.claimed()
    at.pass_by(minutes=30)
    at.operators.release(ORGANIZATION, lead, "ana", note="Aguarda boleto")
    at.pass_by(minutes=2)

    [entry] = at.operators.inbox(ORGANIZATION).queue
    assert (entry.lead, entry.minutes, entry.assigned_to) == (lead, 2, None)


def test_the_wait_counts_and_not_the_age(at):
    first, second = at.waiting(), at.waiting(phone=OTHER)
    at.operators.claim(ORGANIZATION, first, "ana")
    at.pass_by(minutes=1)
    at.operators.release(ORGANIZATION, first, "ana")

    queue, _ = at.operators.inbox(ORGANIZATION)

    assert [(each.lead, each.minutes) for each in queue] == [(second, 1), (first, 0)]


def test_an_index_that_lags_shows_nobody_who_is_gone(tmp_path):
    with stepped_desk(tmp_path) as (at, steps):
        lead = at.waiting()
        pages: list[Any] = []

        def keep(page):
            pages.append(page)
            return page

        steps.change("query_index", keep)
        assert len(at.operators.inbox(ORGANIZATION).queue) == 1
        at.operators.claim(ORGANIZATION, lead, "ana")
        steps.change("query_index", lambda _: pages[0])

        assert at.operators.inbox(ORGANIZATION, "bia") == ([], [])


def test_a_conversation_that_is_over_is_not_told_to_strangers(at):
    lead = at.claimed()
    at.operators.close(ORGANIZATION, lead, "ana")

    with pytest.raises(NotFound):
        at.operators.claim("another", lead, "ana")
    with pytest.raises(StateChanged) as refused:
        at.operators.claim(ORGANIZATION, lead, "ana")
    assert (refused.value.changed, refused.value.now.state) == (("session",), None)


def test_lists_and_acts_know_one_organization_only(at):
    lead = at.waiting()

    assert at.operators.inbox("another").queue == []
    assert at.operators.sessions("another", "HANDOFF_PENDING") == []
    with pytest.raises(NotFound):
        at.operators.claim("another", lead, "ana")
    message = OperatorMessage(text="oi", client_message_id="click-1")
    with pytest.raises(NotFound):
        at.operators.reply("another", lead, "ana", message)
    assert at.session(lead).state == State.HANDOFF_PENDING


@pytest.mark.parametrize("state", ["COMPLETED", "abandoned", "SLEEPING"])
def test_sessions_that_are_over_are_in_no_list(at, state):
    with pytest.raises(Rejected) as refused:
        at.operators.sessions(ORGANIZATION, state)
    assert "HANDOFF_PENDING" in refused.value.hint


def test_a_returned_conversation_is_the_agents_again(at):
    lead = at.claimed()

    now = at.operators.return_to_bot(ORGANIZATION, lead, "ana", note="Já pagou")

    assert (now.state, now.assigned_to) == (State.TRIAGE, None)
    at.says("e agora?")
    assert at.session(lead).state == State.HANDOFF_PENDING, (
        "no agent answers here, so it waits again"
    )


def test_a_transfer_moves_the_right_to_write(at):
    lead = at.claimed()

    now = at.operators.transfer(ORGANIZATION, lead, "ana", "bia")

    assert now.assigned_to == "bia"
    with pytest.raises(StateChanged):
        at.reply(lead, "ana")
    assert at.reply(lead, "bia").state == "sent"


def test_who_acts_on_an_older_view_is_told(at):
    lead = at.waiting()
    seen = Seen(latest=at.thread(lead).latest)
    at.says("alô?")

    with pytest.raises(StateChanged) as refused:
        at.operators.claim(ORGANIZATION, lead, "ana", seen=seen)
    assert refused.value.changed == ("latest",)


@pytest.mark.parametrize("operator", ["", "  ", "phone", "x" * 256])
def test_not_every_name_is_an_operators(at, operator):
    with pytest.raises(Rejected):
        at.operators.claim(ORGANIZATION, at.waiting(), operator)


def test_operators_come_and_go(at):
    assert at.operators.available(ORGANIZATION, "ana") == ["ana"]
    assert at.operators.available(ORGANIZATION, "bia") == ["ana", "bia"]
    assert at.operators.unavailable(ORGANIZATION, "ana") == ["bia"]
    assert at.operators.who_is_available("another") == []

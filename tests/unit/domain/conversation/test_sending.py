"""Sending: the next thing that is due, the licence to send once, and what each answer leads to."""

import pytest

from domain.conversation.delivery import RETRIED, Accepted, ErrorClass, NotAccepted, Unknown
from domain.conversation.inbound import MessageStatus
from domain.conversation.messages import Delivery
from domain.conversation.policy import Policy
from domain.conversation.sending import (
    Tried,
    decide_send,
    decide_sent,
    decide_status,
    next_step,
)
from domain.conversation.states import State
from domain.conversation.thread import RESENT
from domain.instants import to_datetime
from tests.support.threads import FACTS, NOW, facts_at, lived, outbound, thread, types, waiting

POLICY = Policy()
LATER = "2026-03-20T12:01:00.000000Z"


def status(name, **failure):
    """A status of a text, which names it."""
    return MessageStatus(
        channel="whatsapp",
        source="whatsapp_status",
        external_event_id=f"wamid.out:{name}",
        account="109876543210987",
        address=None,
        occurred_at=NOW,
        raw=b"",
        message_id="wamid.out",
        status=name,
        outbound_id="out_1",
        **failure,
    )


def due(standing):
    """What is due now; there must be something."""
    step = next_step(standing, NOW)
    assert step is not None
    return step


def test_texts_go_before_turns_and_commands_before_answers():
    command, asked = waiting("wamid.C", "operator"), waiting("wamid.A")
    standing = thread(outbox=[outbound("inbox_ack")], pending=[asked, command])

    assert due(standing).kind == "send"
    standing.outbox = []
    assert due(standing).waiting == (command,)
    standing.pending = [asked]
    step = due(standing)
    assert (step.kind, step.waiting) == ("turn", (asked,))


@pytest.mark.parametrize("state", [State.HANDOFF_PENDING, State.HUMAN, None])
def test_no_turn_is_due_where_agents_do_not_answer(state):
    assert next_step(thread(state, "wamid.A"), NOW) is None


@pytest.mark.parametrize(
    ("changes", "is_due"),
    [
        ({"state": "sending", "retry_at": LATER}, False),
        ({"state": "sending", "retry_at": NOW}, True),
        ({"state": "failed", "retry_at": LATER}, False),
        ({"state": "uncertain", "retry_at": LATER}, False),
        ({"state": "uncertain", "retry_at": ""}, False),
        ({"state": "queued"}, True),
    ],
)
def test_a_text_is_looked_at_when_its_time_has_come(changes, is_due):
    standing = thread(outbox=[outbound(**changes)])

    assert (next_step(standing, NOW) is not None) == is_due
    assert bool(decide_send(standing, "out_1", POLICY, FACTS)) == is_due


@pytest.mark.parametrize(
    ("state", "overtaken"),
    [("queued", True), ("failed", True), ("sending", False), ("uncertain", False)],
)
def test_a_newer_message_overtakes_an_answer_that_has_not_gone(state, overtaken):
    standing = thread(
        State.TRIAGE, "wamid.B", outbox=[outbound(state=state, at=LATER, retry_at=LATER)]
    )

    step = due(standing)

    assert step.kind == ("send" if overtaken else "turn")
    if overtaken:
        [dropped] = decide_send(standing, "out_1", POLICY, FACTS)
        assert dropped.payload["reason"] == "newer_message"


def test_a_licence_is_given_once():
    standing = thread(outbox=[outbound()])

    facts = decide_send(standing, "out_1", POLICY, FACTS)
    after = lived(standing, facts)

    assert types(facts) == ["reply_sending"]
    assert facts[0].payload["attempt"] == 1
    assert decide_send(after, "out_1", POLICY, FACTS) == []
    assert decide_send(after, "out_other", POLICY, FACTS) == []


def test_a_send_nobody_reported_on_is_in_doubt_after_a_minute_and_only_then():
    after = lived(
        thread(outbox=[outbound()]),
        decide_send(thread(outbox=[outbound()]), "out_1", POLICY, FACTS),
    )

    assert decide_send(after, "out_1", POLICY, facts_at("2026-03-20T12:00:59.999999Z")) == []
    [doubt] = decide_send(after, "out_1", POLICY, facts_at(LATER))
    assert doubt.event_type == "reply_uncertain"
    assert doubt.payload["reason"] == "no_answer"


@pytest.mark.parametrize(
    "kind",
    ["bot_text", "closing", "notice", "operator_text", "handoff_ack", "inbox_ack", "consent"],
)
def test_only_texts_whose_loss_is_worse_than_a_repetition_are_sent_again_in_doubt(kind):
    standing = thread(outbox=[outbound(kind, state="sending", attempt=1)])
    tried = Tried("out_1", 1, Unknown(reason="read_timeout"))

    [doubt] = decide_sent(standing, None, tried, POLICY, FACTS)

    assert ("retryAt" in doubt.payload) == (kind in RESENT)
    assert lived(standing, [doubt]).outbox[0].parked == (kind not in RESENT)


def test_a_text_in_doubt_twice_is_left_to_a_person():
    standing = thread(outbox=[outbound(state="uncertain", attempt=2, uncertain=2, retry_at=NOW)])

    failed, handed = decide_send(standing, "out_1", POLICY, FACTS)

    assert failed.payload["errorClass"] == "UNCERTAIN"
    assert (handed.event_type, handed.payload["reason"]) == (
        "handoff_requested",
        "delivery_uncertain",
    )


WAITS = [
    (ErrorClass.PAIR, None, [1, 4, 16, 64]),
    (ErrorClass.TRANSIENT, None, [1, 4, 16, 60]),
    (ErrorClass.THROUGHPUT, None, [1, 4, 16, 60]),
    (ErrorClass.NOT_SENT, None, [1, 4, 16, 60]),
    (ErrorClass.ACCOUNT, None, [60, 60, 60, 60]),
    (ErrorClass.THROUGHPUT, 300, [300, 300, 300, 300]),
]


@pytest.mark.parametrize(("error_class", "asked", "waits"), WAITS)
def test_a_refusal_for_now_waits_longer_each_time_or_as_long_as_it_was_asked_to(
    error_class, asked, waits
):
    found = []
    for attempt in range(1, 5):
        standing = thread(outbox=[outbound(state="sending", attempt=attempt)])
        refused = NotAccepted(error_class=error_class, retry_after_s=asked)
        [failed] = decide_sent(standing, None, Tried("out_1", attempt, refused), POLICY, FACTS)
        until = to_datetime(failed.payload["retryAt"]) - to_datetime(NOW)
        found.append(int(until.total_seconds()))

    assert found == waits


@pytest.mark.parametrize("error_class", sorted(RETRIED))
def test_the_fifth_refusal_is_the_last_but_an_account_is_waited_for(error_class):
    standing = thread(outbox=[outbound(state="sending", attempt=5)])
    refused = NotAccepted(error_class=error_class)

    facts = decide_sent(standing, None, Tried("out_1", 5, refused), POLICY, FACTS)

    assert ("retryAt" in facts[0].payload) == (error_class == ErrorClass.ACCOUNT)
    if error_class != ErrorClass.ACCOUNT:
        assert types(facts) == ["reply_failed", "handoff_requested"]


@pytest.mark.parametrize("error_class", sorted(set(ErrorClass) - RETRIED))
def test_what_would_fail_again_is_not_tried_again_and_a_person_is_asked_for(error_class):
    standing = thread(outbox=[outbound(state="sending", attempt=1)])
    refused = NotAccepted(error_class=error_class, error_code=131026)

    failed, *others = decide_sent(standing, None, Tried("out_1", 1, refused), POLICY, FACTS)

    assert "retryAt" not in failed.payload
    assert failed.payload["errorCode"] == 131026
    assert others[-1].payload["reason"] == f"delivery_{error_class.lower()}"
    assert [each.event_type for each in others[:-1]] == (
        ["consent_recorded"] if error_class == ErrorClass.CONSENT else []
    )


def test_an_answer_to_an_older_try_says_nothing_but_that_it_was_sent():
    standing = thread(outbox=[outbound(state="sending", attempt=2)])
    refused = NotAccepted(error_class=ErrorClass.TRANSIENT)

    assert decide_sent(standing, None, Tried("out_1", 1, refused), POLICY, FACTS) == []
    sent = decide_sent(standing, None, Tried("out_1", 1, Accepted(message_id="w")), POLICY, FACTS)
    assert types(sent) == ["reply_sent"]
    assert lived(standing, sent).outbox == []


def test_an_answer_recorded_once_is_not_recorded_again():
    standing = thread(outbox=[outbound(state="sending", attempt=1)])
    for result in (NotAccepted(error_class=ErrorClass.PAIR), Unknown(reason="reset")):
        tried = Tried("out_1", 1, result)
        after = lived(standing, decide_sent(standing, None, tried, POLICY, FACTS))

        assert decide_sent(after, None, tried, POLICY, FACTS) == []


def test_a_failure_of_a_text_that_arrived_leads_to_nothing():
    arrived = Delivery(
        provider_message_id="wamid.out",
        outbound_id="out_1",
        sort_key="MSG#out_1",
        kind="bot_text",
        attempt=1,
        statuses={"read": NOW},
    )
    failed = status("failed", error_class="TRANSIENT")

    assert types(decide_status(thread(), arrived, failed, POLICY, FACTS)) == [
        "message_status_changed"
    ]
    arrived.statuses = {"sent": NOW}
    assert types(decide_status(thread(), arrived, failed, POLICY, FACTS)) == [
        "message_status_changed",
        "reply_failed",
    ]


@pytest.mark.parametrize("standing", [None, thread()])
def test_a_status_of_a_text_nobody_knows_is_only_kept(standing):
    facts = decide_status(standing, None, status("failed", error_class="TRANSIENT"), POLICY, FACTS)

    assert types(facts) == ["message_status_changed"]


def test_what_an_operator_wrote_is_not_handed_over_when_it_fails():
    standing = thread(State.HUMAN, outbox=[outbound("operator_text", state="sending", attempt=1)])
    refused = NotAccepted(error_class=ErrorClass.RECIPIENT)

    facts = decide_sent(standing, None, Tried("out_1", 1, refused), POLICY, FACTS)

    assert types(facts) == ["reply_failed"]

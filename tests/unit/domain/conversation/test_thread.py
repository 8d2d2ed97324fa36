"""What waits for a lead, when, and why a text may not go: by kind and state, as a table."""

import itertools

import pytest

from domain.conversation.states import BOT, State
from domain.conversation.thread import MAX_PENDING, Thread, is_latest, reply_kind, why_not
from tests.support.threads import FACTS, NOW, lived, outbound, thread, waiting

OWNERS = [None, State.NEW, State.TRIAGE, State.HANDOFF_PENDING, State.HUMAN]
AGENTS_ONLY: dict[str | None, str] = {
    None: "session_changed",
    "HANDOFF_PENDING": "state_changed",
    "HUMAN": "takeover",
}
QUEUE_ONLY: dict[str | None, str] = {
    None: "state_changed",
    "NEW": "state_changed",
    "TRIAGE": "state_changed",
}
ANYBODY: dict[str | None, str] = {"HUMAN": "takeover"}
TABLE: dict[str, dict[str | None, str]] = {
    "bot_text": AGENTS_ONLY,
    "notice": AGENTS_ONLY,
    "handoff_ack": QUEUE_ONLY | ANYBODY,
    "inbox_ack": QUEUE_ONLY | ANYBODY,
    "customer_reminder": QUEUE_ONLY | ANYBODY,
    "closing": {**dict.fromkeys(("NEW", "TRIAGE", "HANDOFF_PENDING"), "newer_message"), **ANYBODY},
    "consent": ANYBODY,
    "debug": ANYBODY,
    "operator_answer": ANYBODY,
    "operator_text": dict.fromkeys((None, "NEW", "TRIAGE", "HANDOFF_PENDING"), "state_changed"),
}


@pytest.mark.parametrize(("kind", "state"), [*itertools.product(TABLE, OWNERS)])
def test_each_kind_of_text_goes_in_its_states_only(kind, state):
    assert why_not(thread(state), outbound(kind), NOW) == TABLE[kind].get(state)


@pytest.mark.parametrize("kind", TABLE)
def test_nothing_goes_a_day_after_the_leads_last_message(kind):
    owner = {"operator_text": State.HUMAN, "closing": None}.get(kind, State.HANDOFF_PENDING)
    standing = thread(State.TRIAGE if kind in {"bot_text", "notice"} else owner)

    assert why_not(standing, outbound(kind), "2026-03-21T11:57:59.000000Z") is None
    assert why_not(standing, outbound(kind), "2026-03-21T11:58:00.000000Z") == "window_closed"


@pytest.mark.parametrize("kind", ["bot_text", "notice", "inbox_ack", "operator_text"])
def test_a_text_of_another_session_does_not_go(kind):
    state = {"inbox_ack": State.HANDOFF_PENDING, "operator_text": State.HUMAN}.get(kind)

    reason = why_not(thread(state or State.TRIAGE), outbound(kind, session_id="session-0"), NOW)

    assert reason in {"session_changed", "state_changed"}


def test_an_answer_does_not_go_past_a_newer_message_but_a_notice_does():
    standing = thread(State.TRIAGE, "wamid.B")

    assert why_not(standing, outbound("bot_text"), NOW) == "newer_message"
    assert why_not(standing, outbound("notice"), NOW) is None
    standing.pending = [waiting("wamid.C", "operator")]
    assert why_not(standing, outbound("bot_text"), NOW) is None


@pytest.mark.parametrize(
    ("covered", "latest"),
    [
        (["A", "B"], True),
        (["A"], False),
        (["B"], False),
        (["B", "A"], False),
        (["A", "B", "C"], False),
    ],
)
def test_an_answer_counts_for_all_that_waits_in_its_order(covered, latest):
    assert is_latest(thread(State.TRIAGE, "A", "B"), [waiting(each) for each in covered]) == latest


def test_an_answer_to_what_was_edited_meanwhile_does_not_count():
    standing = thread(State.TRIAGE, "A")
    standing.pending[0].revision = 1

    assert not is_latest(standing, [waiting("A")])


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        *[(each, "bot_text") for each in sorted(BOT)],
        (State.HANDOFF_PENDING, "handoff_ack"),
        (State.COMPLETED, "closing"),
        (State.ABANDONED, "closing"),
    ],
)
def test_a_reply_is_of_the_kind_of_the_state_it_leads_to(state, kind):
    assert reply_kind(state) == kind


def test_something_is_due_since_the_oldest_message_or_from_when_a_text_may_go():
    later = "2026-03-20T12:01:00.000000Z"
    parked = outbound(outbound_id="out_0", state="uncertain", retry_at="")
    refused = outbound(state="failed", retry_at=later)

    assert thread().due_at is None
    assert thread(State.TRIAGE, outbox=[parked]).due_at is None
    assert thread(State.TRIAGE, outbox=[parked, refused]).due_at == later
    assert thread(State.TRIAGE, "wamid.A", outbox=[refused]).due_at == NOW
    assert thread(State.TRIAGE, outbox=[outbound()]).due_at == NOW


def test_a_lead_that_never_wrote_may_not_be_written_to():
    assert not Thread(organization_id="acme").window_is_open(NOW)


def test_of_a_flood_the_newest_messages_wait():
    names = [f"wamid.{number}" for number in range(MAX_PENDING + 20)]
    facts = [
        FACTS.fact(
            "message_received", "whatsapp", name, route="turn", session_id="session-1", text="oi"
        )
        for name in names
    ]

    after = lived(thread(), facts)

    assert [each.message_id for each in after.pending] == names[-MAX_PENDING:]


def test_a_message_that_comes_late_does_not_set_the_window_back():
    late = FACTS.fact(
        "message_received",
        "whatsapp",
        "wamid.LATE",
        occurred_at="2026-03-20T10:00:00.000000Z",
        route="turn",
        session_id="session-1",
    )

    assert lived(thread(), [late]).last_inbound_at == NOW


def test_an_answer_ends_the_wait_of_what_it_covers_and_of_nothing_newer():
    standing = thread(State.TRIAGE, "wamid.A", "wamid.B", "wamid.C")
    turned = FACTS.fact(
        "agent_turn_completed",
        "ai_agents_service",
        "wamid.B:turn",
        session_id="session-1",
        covered_message_ids=["wamid.A", "wamid.B"],
        agent="triagem",
        code="CONTINUE",
        state_after="TRIAGE",
    )

    assert [each.message_id for each in lived(standing, [turned]).pending] == ["wamid.C"]

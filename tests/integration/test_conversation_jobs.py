"""What the minutes bring: reminders, silence, what the phone let lie, and leads nobody woke for."""

import pytest

from domain.conversation.states import State
from domain.errors import Outage
from tests.support.people import desk, stepped_desk
from tests.support.talks import ORGANIZATION, PHONE

ANA = "5511955550201"
BIA = "5511955550202"
MINUTES = 70


@pytest.fixture
def at(tmp_path):
    with desk(tmp_path, operators=f"{ANA},{BIA}") as made:
        yield made


def every_minute(at, minutes):
    """Let minutes pass, each with two rounds, and the work they make."""
    done = []
    for minute in range(minutes + 1):
        for _ in range(2):
            did = at.talks.jobs.round(ORGANIZATION)
            assert "failed" not in did
            done.append((minute, did))
            at.work()
        at.pass_by(minutes=1)
    return done


def steps_at(at, lead, audience="operator"):
    start = at.events(lead, "handoff_requested")[-1].occurred_at
    return [
        (minutes(start, event.occurred_at), event.payload["step"])
        for event in at.events(lead, "handoff_renotified")
        if event.payload["audience"] == audience
    ]


def minutes(since, until):
    hours, mins = int(until[11:13]) - int(since[11:13]), int(until[14:16]) - int(since[14:16])
    return 60 * hours + mins


def texts_to(at, phone):
    return [text.text for text in at.phone.texts if text.to == phone]


def test_operators_are_told_at_each_step_of_the_ladder_once(at):
    at.says("/disponivel", phone=ANA)
    lead = at.waiting()
    told = len(texts_to(at, ANA))

    every_minute(at, MINUTES)

    assert steps_at(at, lead) == [(0, 0), (5, 1), (15, 2), (60, 3)]
    alerts = texts_to(at, ANA)[told:]
    assert [alert.split(" min")[0].split()[-1] for alert in alerts] == ["0", "5", "15", "60"]
    assert all("no_model" in alert for alert in alerts)


def test_a_waiting_lead_is_told_once_that_it_is_not_forgotten(at):
    lead = at.waiting()

    every_minute(at, MINUTES)

    assert steps_at(at, lead, "customer") == [(30, 0)]
    assert texts_to(at, PHONE)[1:] == [
        "Você continua na fila. Uma pessoa da equipe vai responder assim que puder."
    ]


def test_a_lead_that_wants_no_messages_is_not_reminded(at):
    lead = at.waiting()
    at.says("PARAR")

    every_minute(at, 40)

    assert steps_at(at, lead, "customer") == []


def test_the_ladder_ends_when_somebody_claims_and_begins_anew_when_it_waits_again(at):
    at.says("/disponivel", phone=ANA)
    lead = at.waiting()
    every_minute(at, 6)
    at.operators.claim(ORGANIZATION, lead, "ana")
    every_minute(at, 20)
    assert [step for _, step in steps_at(at, lead)] == [0, 1]

    at.operators.release(ORGANIZATION, lead, "ana")
    every_minute(at, 6)
    assert [step for _, step in steps_at(at, lead)] == [0, 1, 0, 1]


def test_every_available_operator_is_told_and_no_other(at):
    at.says("/disponivel", phone=ANA)
    at.says("/ajuda", phone=BIA)
    at.talks.availability.set(ORGANIZATION, "carla", available=True)
    before = len(texts_to(at, BIA))
    at.waiting()

    done = at.talks.jobs.round(ORGANIZATION)

    assert done == {"operators_alerted": 1, "operators_reminded": 1}
    assert len(texts_to(at, BIA)) == before


def test_two_operators_get_one_text_each(at):
    at.says("/disponivel", phone=ANA)
    at.says("/disponivel", phone=BIA)
    at.waiting()

    assert at.talks.jobs.round(ORGANIZATION)["operators_alerted"] == 2


def test_who_becomes_available_later_is_told_of_who_still_waits(at):
    lead = at.waiting()
    every_minute(at, 62)
    assert steps_at(at, lead) == []

    at.says("/disponivel", phone=ANA)
    before = len(texts_to(at, ANA))
    every_minute(at, 2)

    assert [step for _, step in steps_at(at, lead)] == [3]
    assert len(texts_to(at, ANA)) == before + 1


def test_after_a_pause_of_the_service_nobody_is_told_the_same_four_times(at):
    at.says("/disponivel", phone=ANA)
    lead = at.waiting()
    at.pass_by(minutes=20)

    every_minute(at, 3)

    assert [step for _, step in steps_at(at, lead)] == [2]


def test_an_operator_who_has_not_written_for_a_day_is_not_written_to(at):
    at.says("/disponivel", phone=ANA)
    at.pass_by(hours=23, minutes=59)
    at.talks.availability.set(ORGANIZATION, ANA, available=True)
    lead = at.waiting()

    done = at.talks.jobs.round(ORGANIZATION)

    assert done == {"operators_reminded": 1}
    assert [step for _, step in steps_at(at, lead)] == [0]


def test_a_round_that_died_between_the_alert_and_its_note_tells_nobody_twice(at):
    at.says("/disponivel", phone=ANA)
    lead = at.waiting()
    jobs, session = at.talks.jobs, at.session(lead)
    assert jobs._alert(ORGANIZATION, ANA, session, 0)

    assert jobs.round(ORGANIZATION) == {"operators_reminded": 1}


@pytest.mark.parametrize(
    ("hours", "state"), [(23, State.TRIAGE), (25, None)], ids=["not yet", "abandoned"]
)
def test_who_falls_silent_before_an_agent_is_let_go(tmp_path, hours, state):
    with desk(tmp_path, model="scripted") as at:
        lead = at.says("oi")
        at.pass_by(hours=hours)

        at.talks.jobs.round(ORGANIZATION)

        session = at.session(lead)
        assert (session.state if session else None) == state
        ended = at.events(lead, "conversation_ended")
        assert [event.payload["outcome"] for event in ended] == ["abandoned"] * (state is None)
        assert at.talks.jobs.round(ORGANIZATION) == {}


def test_a_message_that_nobody_answered_yet_keeps_a_conversation_open(tmp_path):
    with desk(tmp_path, model="scripted") as at:
        lead = at.says("oi", work=False)
        at.pass_by(hours=30)

        done = at.talks.jobs.round(ORGANIZATION)

        assert done == {"woken": 1}
        assert at.session(lead) is not None


@pytest.mark.parametrize("media_type", ["text", "sticker"])
def test_who_writes_now_and_then_is_not_let_go(tmp_path, media_type):
    with desk(tmp_path, model="scripted") as at:
        lead = at.says("oi")
        at.pass_by(hours=20)
        at.says("figurinha", media_type=media_type)
        at.pass_by(hours=20)

        at.talks.jobs.round(ORGANIZATION)

        assert at.session(lead).state == State.TRIAGE


def test_what_waits_for_people_is_never_let_go(at):
    lead = at.waiting()
    at.pass_by(hours=400)

    at.talks.jobs.round(ORGANIZATION)

    assert at.session(lead).state == State.HANDOFF_PENDING


def test_agents_answer_again_when_the_phone_is_silent_since_its_last_word(at):
    lead = at.says("oi")
    at.echoes("Olá, aqui é a Ana")
    at.pass_by(hours=8)
    at.echoes("Já vejo isso")
    at.pass_by(hours=8)
    at.talks.jobs.round(ORGANIZATION)
    assert at.session(lead).assigned_to == "phone", (
        "twelve hours since the last word, not the first"
    )

    at.pass_by(hours=4)
    assert at.talks.jobs.round(ORGANIZATION)["returned"] == 1

    [returned] = at.events(lead, "handoff_returned")
    assert returned.payload["operator"] == "phone"
    assert at.session(lead).state == State.TRIAGE


def test_the_phone_s_silence_counts_and_not_the_lead_s(at):
    lead = at.says("oi")
    at.echoes("Já vejo isso")
    at.pass_by(hours=11)
    at.says("e então?")
    at.pass_by(hours=2)

    at.talks.jobs.round(ORGANIZATION)

    assert at.session(lead).state == State.TRIAGE


def test_a_word_from_the_phone_at_the_last_moment_keeps_it(tmp_path):
    with stepped_desk(tmp_path) as (at, steps):
        lead = at.says("oi")
        at.echoes("Já vejo isso")
        at.pass_by(hours=13)
        session = at.session(lead)
        # The history is read, and before the decision on it the phone writes.
        steps.after("query", lambda: at.echoes("Achei!"))

        assert "returned" not in at.talks.jobs.round(ORGANIZATION)
        assert at.session(lead) == session

        at.pass_by(hours=13)
        assert at.talks.jobs.round(ORGANIZATION)["returned"] == 1


def test_what_ana_holds_is_not_taken_from_her(at):
    lead = at.claimed()
    at.pass_by(hours=100)

    at.talks.jobs.round(ORGANIZATION)

    assert at.session(lead).assigned_to == "ana"


def test_leads_due_for_more_than_a_minute_are_woken_again(at):
    at.says("oi", work=False)
    while at.talks.loop.queue.take(0.0):
        pass
    at.pass_by(seconds=59)
    assert at.talks.jobs.round(ORGANIZATION) == {}

    at.pass_by(seconds=1)
    assert at.talks.jobs.round(ORGANIZATION) == {"woken": 1}


def test_one_lead_that_cannot_be_read_leaves_the_others_their_round(tmp_path):
    def fail(_):
        raise Outage("made to fail")

    with stepped_desk(tmp_path) as (at, steps):
        at.waiting(phone="5511955550301")
        good = at.waiting(phone="5511955550302")
        at.pass_by(minutes=31)
        steps.instead("snapshot", fail)

        done = at.talks.jobs.round(ORGANIZATION)

        assert done == {"failed": 1, "customers_reminded": 1}
        assert steps_at(at, good, "customer")
        assert at.talks.jobs.round(ORGANIZATION) == {"customers_reminded": 1}

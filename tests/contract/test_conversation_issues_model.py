"""What others met between a bot and its model, one test per report (research/whatsapp.md §2)."""

import pytest

from domain.conversation.delivery import ErrorClass, NotAccepted
from domain.conversation.model import ModelUnavailable
from domain.errors import Unavailable
from tests.support.crashes import check_settled, log_of, of_type, thread_of
from tests.support.talks import World, lead_of, receive, types

pytestmark = pytest.mark.beyond_moto


@pytest.fixture
def world(backend, tmp_path):
    return World(backend, tmp_path)


@pytest.fixture
def process(world):
    return world.process()


def test_issue_community_agent_470_too_many_requests_are_waited_out(world, process):
    world.model.model.script.extend([ModelUnavailable("rate_limited", retry_after_s=20)] * 3)
    throttled = NotAccepted(error_class=ErrorClass.THROUGHPUT, error_code=130429, retry_after_s=30)
    world.phone.script.append(lambda _: throttled)
    receive(process, world.says("oi"))
    for _ in range(3):
        with pytest.raises(Unavailable) as caught:
            process.talks.worker.work("default", lead_of(process))
        assert caught.value.retry_after_s == 20
        assert [each.message_id for each in thread_of(process).pending] == ["wamid.IN0001"]
        world.pass_time(seconds=20)

    world.settle()

    [failed] = of_type(log_of(process), "reply_failed")
    assert failed.payload["errorClass"] == "THROUGHPUT"
    assert len(world.phone.texts) == 1
    assert "handoff_requested" not in types(process)


def test_issue_community_agent_470_an_outage_of_the_model_ends_with_a_person(world, process):
    world.model.model.script.extend([ModelUnavailable("unreachable")] * 15)
    receive(process, world.says("oi"))
    for _ in range(15):
        with pytest.raises(Unavailable):
            process.talks.worker.work("default", lead_of(process))
        world.pass_time(minutes=1)
    world.model.model.script.append(ModelUnavailable("unreachable"))

    world.settle()

    [handed] = of_type(log_of(process), "handoff_requested")
    assert handed.payload["reason"] == "model_unavailable"
    assert len(world.phone.texts) == 1
    check_settled(process)


BROKEN = {
    "fenced": ('```json\n{"s": "CONTINUE", "message": "Olá!", "metadata": {}}\n```', "Olá!"),
    "truncated": ('{"s": "CONTINUE", "message": "Olá, tudo', None),
    "prose": ("Claro, posso ajudar!", None),
    "unknown code": ('{"s": "DANCE", "message": "Olá!", "metadata": {}}', None),
    "illegal": ('{"s": "TO_REGISTRATION", "message": "Seu nome?", "metadata": {}}', None),
    "json as message": ('{"s": "CONTINUE", "message": "{\\"s\\": 1}", "metadata": {}}', None),
}


@pytest.mark.parametrize("name", BROKEN)
def test_issue_chatwoot_7990_a_broken_answer_is_repaired_or_asked_for_once_more_then_handed_over(
    world, process, name
):
    broken, repaired = BROKEN[name]
    world.model.model.script.extend([broken] * 5)
    receive(process, world.says("oi"))

    world.settle()

    assert len(world.model.model.requests) == (1 if repaired else 2)
    [words] = world.phone.words()
    assert words == repaired or "uma pessoa vai responder" in words
    assert (thread_of(process).state == "HANDOFF_PENDING") == (repaired is None)
    assert "{" not in words
    check_settled(process)

"""The OpenAI adapter against a real server on this machine: what it asks, and what answers mean."""

import json
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.openai import OpenAIModel, Prices
from adapters.openai.completions import document_of, model_of, text_of, usage_of
from adapters.openai.costs import Usage, cost_micros
from adapters.openai.outcomes import retry_after
from domain.conversation.answer import ANSWER_SCHEMA
from domain.conversation.model import ModelRefused, ModelRequest, ModelUnavailable, Said
from tests.support.openai_server import Reply, completion, failing, openai_server, saying

PATIENCE_S = 30
"""No test waits for it: it only keeps a broken one from ending too soon."""

TOO_MUCH = json.dumps(completion("{}")).encode() + b" " * 4 * 1024 * 1024


@pytest.fixture
def server():
    with openai_server() as running:
        yield running


@pytest.fixture
def connect(server):
    made = []

    def connected(**more):
        settings = {"model": "made-up-1", "api_key": "sk-made-up", "timeout_s": PATIENCE_S}
        model = OpenAIModel(**{"base_url": server.url, **settings, **more})
        made.append(model)
        return model

    yield connected
    for model in made:
        model.close()


def request(*said, **more):
    turns: Any = said or [("user", "Oi")]
    messages = tuple(Said(role=role, text=text) for role, text in turns)
    return ModelRequest(
        agent="triagem",
        state="NEW",
        system="Você é a assistente.",
        messages=messages,
        schema=ANSWER_SCHEMA,
        **more,
    )


def refused(model, **more):
    with pytest.raises(ModelRefused) as raised:
        model.answer(request(**more))
    return str(raised.value)


def unavailable(model):
    with pytest.raises(ModelUnavailable) as raised:
        model.answer(request())
    return raised.value.reason, raised.value.retry_after_s


def test_a_question_is_asked_with_the_strict_schema_and_its_answer_comes_as_it_was_written(
    server, connect
):
    server.plan(saying('```json\n{"s":"CONTINUE"'))

    answer = connect().answer(request(("user", "Oi"), ("assistant", "Olá!"), ("user", "Preço?")))

    assert answer.text == '```json\n{"s":"CONTINUE"'
    assert (answer.model, answer.input_tokens, answer.output_tokens) == (
        "made-up-1-2026-10",
        1000,
        50,
    )
    assert (answer.cost_micros, answer.cost_currency) == (None, None)
    ((headers, asked),) = server.asked
    assert headers["authorization"] == "Bearer sk-made-up"
    assert asked == {
        "model": "made-up-1",
        "messages": [
            {"role": "system", "content": "Você é a assistente."},
            {"role": "user", "content": "Oi"},
            {"role": "assistant", "content": "Olá!"},
            {"role": "user", "content": "Preço?"},
        ],
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "agent_answer", "strict": True, "schema": ANSWER_SCHEMA},
        },
    }


def test_asking_again_shows_the_model_what_it_wrote_and_what_is_wrong(server, connect):
    server.plan(saying("{}"))

    connect().answer(request(("user", "Oi"), previous="Olá!", correction="Responda em JSON."))

    assert server.documents[0]["messages"][1:] == [
        {"role": "user", "content": "Oi"},
        {"role": "assistant", "content": "Olá!"},
        {"role": "user", "content": "Responda em JSON."},
    ]


def test_messages_of_one_side_in_a_row_are_one_turn(server, connect):
    server.plan(saying("{}"))

    connect().answer(request(("user", "Oi"), ("user", "Tudo bem?"), ("assistant", "Sim")))

    assert [each["content"] for each in server.documents[0]["messages"][1:]] == [
        "Oi\nTudo bem?",
        "Sim",
    ]


@pytest.mark.parametrize(
    ("known", "kept"),
    [({"json_object", None}, {"type": "json_object"}), ({None}, None)],
)
def test_a_server_that_knows_no_schema_is_asked_otherwise_from_then_on(
    server, connect, known, kept
):
    server.forms_known = known
    server.plan(saying("{}"), saying("{}"), saying("{}"))
    model = connect()

    for _ in range(3):
        assert model.answer(request()).text == "{}"

    forms = [document.get("response_format") for document in server.documents]
    assert forms[-3:] == [kept] * 3
    assert len(forms) == 3 + (1 if kept else 2)
    system = server.documents[-1]["messages"][0]["content"]
    assert json.dumps(ANSWER_SCHEMA["required"], separators=(",", ":")) in system


def test_a_request_that_no_form_helps_leaves_the_surest_form_in_place(server, connect):
    server.plan(failing(400), failing(400), failing(400), saying("{}"))
    model = connect()

    assert unavailable(model) == ("configuration", None)
    model.answer(request())

    assert server.documents[-1]["response_format"]["type"] == "json_schema"


@pytest.mark.parametrize(
    ("reply", "reason", "wait"),
    [
        (failing(429), "rate_limited", None),
        (failing(429, headers={"Retry-After": "7"}), "rate_limited", 7),
        (failing(429, headers={"Retry-After": "0.2"}), "rate_limited", 1),
        (failing(429, headers={"Retry-After-Ms": "1500", "Retry-After": "9"}), "rate_limited", 2),
        (failing(429, headers={"Retry-After": "soon"}), "rate_limited", None),
        (failing(429, headers={"Retry-After": "nan"}), "rate_limited", None),
        (failing(429, headers={"Retry-After": "-3"}), "rate_limited", None),
        (failing(429, headers={"Retry-After": "9999999"}), "rate_limited", None),
        (failing(429, "insufficient_quota"), "quota", None),
        (failing(402), "quota", None),
        (failing(500), "server_error", None),
        (failing(503, headers={"Retry-After": "30"}), "server_error", 30),
        (failing(409), "server_error", None),
        (failing(504), "timeout", None),
        (failing(408), "timeout", None),
        (failing(401, "invalid_api_key"), "configuration", None),
        (failing(403), "configuration", None),
        (failing(404, "model_not_found"), "configuration", None),
        (Reply(body=b"<html>nginx</html>", status=502), "server_error", None),
        (Reply(body=b"<html>a portal</html>"), "bad_response", None),
        (Reply(body=b"[]"), "bad_response", None),
        (Reply(body=b'{"choices":[]}'), "bad_response", None),
        (Reply(body=TOO_MUCH), "bad_response", None),
        (Reply(body=json.dumps(completion("{}")).encode(), cut=True), "connection", None),
    ],
)
def test_no_answer_says_why_in_a_word_and_when_to_ask_again(server, connect, reply, reason, wait):
    server.plan(reply)

    assert unavailable(connect()) == (reason, wait)
    assert len(server.asked) == 1, "who asks decides what is tried again"


@pytest.mark.parametrize(
    ("headers", "wait"),
    [
        (("Wed, 21 Oct 2015 07:28:20 GMT", "Wed, 21 Oct 2015 07:28:05 GMT"), 15),
        (("Wed, 21 Oct 2015 07:28:00 GMT", "Wed, 21 Oct 2015 07:28:05 GMT"), None),
        (("Wed, 21 Oct 2015 07:28:20 GMT", "today"), None),
        (("Wed, 21 Oct 2015 07:28:20 GMT", "Wed, 21 Oct 2015 07:28:05"), None),
    ],
)
def test_a_date_to_wait_for_is_measured_from_the_answers_own(headers, wait):
    asked, now = headers

    assert retry_after({"retry-after": asked, "date": now}) == wait


@pytest.mark.parametrize("status", [400, 422])
def test_a_wrong_request_is_a_setting_to_put_right(server, connect, status):
    server.plan(failing(status), failing(status), failing(status))

    assert unavailable(connect()) == ("configuration", None)


@pytest.mark.parametrize(
    ("reply", "word"),
    [
        (failing(400, "content_filter"), "content_filter"),
        (failing(400, "content_policy_violation"), "content_filter"),
        (
            failing(400, "x", innererror={"code": "ResponsibleAIPolicyViolation"}),
            "content_filter",
        ),
        (failing(400, "context_length_exceeded"), "too_long"),
        (
            failing(400, message="This model's maximum context length is 8192 tokens."),
            "too_long",
        ),
        (failing(413), "too_long"),
        (saying(None, finish="content_filter"), "content_filter"),
        (
            Reply(
                body=json.dumps(
                    completion("", choices=[{"message": {"refusal": "I cannot help"}}])
                ).encode()
            ),
            "refusal",
        ),
    ],
)
def test_a_refusal_is_no_outage_and_is_not_asked_again(server, connect, reply, word):
    server.plan(reply)

    assert refused(connect()) == word
    assert len(server.asked) == 1


def test_a_server_that_is_not_there_is_unavailable(connect):
    assert unavailable(connect(base_url="http://127.0.0.1:1/v1")) == ("connection", None)


def test_a_server_that_does_not_answer_in_time_is_unavailable(server, connect):
    server.plan(Reply(body=b"{}", delay_s=1))

    assert unavailable(connect(timeout_s=0.1)) == ("timeout", None)


def test_a_server_that_keeps_sending_a_little_is_out_of_time_all_the_same(server, connect):
    server.plan(Reply(body=b" " * 200, dribble_s=0.02))

    assert unavailable(connect(timeout_s=0.3)) == ("timeout", None)


def test_an_answer_that_stopped_at_the_limit_comes_as_far_as_it_went(server, connect):
    server.plan(saying('{"s":"CLOSE","mess', finish="length"))

    assert connect().answer(request()).text == '{"s":"CLOSE","mess'


def test_nothing_at_all_is_an_empty_text(server, connect):
    server.plan(saying(None, usage=None, model=None))

    answer = connect().answer(request())

    assert (answer.text, answer.model) == ("", "made-up-1")
    assert (answer.input_tokens, answer.output_tokens) == (0, 0)


def test_text_in_parts_is_put_together(server, connect):
    parts = [{"type": "text", "text": "{"}, {"type": "text", "text": "}"}, {"type": "other"}]
    server.plan(
        Reply(body=json.dumps(completion("", choices=[{"message": {"content": parts}}])).encode())
    )

    assert connect().answer(request()).text == "{}"


def test_an_answer_costs_what_its_tokens_cost(server, connect):
    prices = Prices(Decimal("0.25"), Decimal(2), Decimal("0.025"))
    usage = {
        "prompt_tokens": 1000,
        "completion_tokens": 50,
        "prompt_tokens_details": {"cached_tokens": 600},
    }
    server.plan(saying("{}", usage=usage))

    answer = connect(prices=prices).answer(request())

    assert (answer.cost_micros, answer.cost_currency) == (100 + 15 + 100, "USD")


@pytest.mark.parametrize(
    ("usage", "prices", "micros"),
    [
        (Usage(1_000_000, 0), Prices(Decimal("0.15"), Decimal("0.6")), 150_000),
        (Usage(0, 1_000_000), Prices(Decimal("0.15"), Decimal("0.6")), 600_000),
        (Usage(10, 0), Prices(Decimal("0.15"), Decimal(0)), 2),
        (Usage(10, 0, 10), Prices(Decimal("0.15"), Decimal(0)), 2),
        (Usage(10, 0, 99), Prices(Decimal(1), Decimal(0), Decimal("0.1")), 1),
        (Usage(0, 0), Prices(Decimal(1), Decimal(1)), 0),
    ],
)
def test_costs_are_whole_micros_rounded_half_up(usage, prices, micros):
    assert cost_micros(usage, prices) == micros


def test_threads_share_one_client(server, connect):
    count = 8
    server.plan(*[saying("{}") for _ in range(count)])
    model = connect()
    start = threading.Barrier(count)

    def ask(_):
        start.wait()
        model.answer(request())
        return model._client

    with ThreadPoolExecutor(count) as pool:
        clients = set(map(id, pool.map(ask, range(count))))

    assert len(clients) == 1
    assert len(server.asked) == count


def test_a_closed_model_connects_again(server, connect):
    server.plan(saying("1"), saying("2"))
    model = connect()

    assert model.answer(request()).text == "1"
    model.close()
    assert model.answer(request()).text == "2"


def test_a_local_server_needs_no_key(server, connect):
    server.plan(saying("{}"))

    assert connect(api_key="").answer(request()).text == "{}"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
LIKE_A_COMPLETION = st.fixed_dictionaries(
    {"choices": st.lists(st.dictionaries(st.sampled_from(["message", "finish_reason"]), JSON))},
    optional={"usage": JSON, "model": JSON},
)


@given(JSON | LIKE_A_COMPLETION, st.binary(max_size=3))
def test_any_document_is_an_answer_a_refusal_or_none(document, after):
    try:
        read = document_of(json.dumps(document).encode() + after)
        assert isinstance(text_of(read), str)
    except (ModelUnavailable, ModelRefused):
        return
    assert min(usage_of(read)) >= 0
    assert 0 < len(model_of(read, "asked")) <= 100


def test_the_sdk_is_loaded_by_the_first_answer_only():
    code = (
        "import sys; from adapters.openai import OpenAIModel;"
        "OpenAIModel(model='m', api_key='k'); print('openai' in sys.modules)"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "False"

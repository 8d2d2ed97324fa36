"""What a model's text means, and what of it may reach a customer."""

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from domain.conversation.answer import (
    ANSWER_SCHEMA,
    MAX_DATA,
    MAX_TEXT,
    SILENT,
    Answer,
    Code,
    Insight,
    Unparsable,
    parse,
)
from domain.conversation.guard import MAX_UNITS, objection, presentable

NOTHING = {
    "intent": None,
    "segment": None,
    "qualification": None,
    "registration": None,
    "handoff_reason": None,
    "oop_service": None,
    "insights": None,
}


def text_of(code="CONTINUE", message="Olá! Como posso ajudar?", **metadata):
    return json.dumps({"s": code, "message": message, "metadata": {**NOTHING, **metadata}})


def reason_of(text):
    with pytest.raises(Unparsable) as raised:
        parse(text)
    return raised.value.reason


def test_an_answer_in_the_form_of_the_schema_is_read_whole():
    answer = parse(
        text_of(
            "TO_QUALIFICATION",
            "Qual é a amostra?",
            intent="servico",
            segment="PESQUISA",
            qualification=[{"key": "tipo_amostra", "value": "sangue"}],
            registration=[{"key": "nome", "value": "Ana Exemplo"}],
            handoff_reason="preço especial",
            oop_service="paternidade",
            insights=[
                {
                    "insight_type": "communication_style",
                    "content": "Prefere mensagens curtas",
                    "confidence": 0.9,
                    "memory_type": "preference",
                    "key": "message_length",
                    "value": "short",
                }
            ],
        )
    )

    assert answer == Answer(
        code=Code.TO_QUALIFICATION,
        message="Qual é a amostra?",
        intent="servico",
        segment="PESQUISA",
        qualification={"tipo_amostra": "sangue"},
        registration={"nome": "Ana Exemplo"},
        handoff_reason="preço especial",
        oop_service="paternidade",
        insights=(
            Insight(
                insight_type="communication_style",
                content="Prefere mensagens curtas",
                confidence=0.9,
                memory_type="preference",
                key="message_length",
                value="short",
            ),
        ),
    )
    assert not answer.repaired


@pytest.mark.parametrize("code", list(Code))
def test_every_code_is_read(code):
    assert parse(text_of(code.value)).code is code


@pytest.mark.parametrize(
    "text",
    [
        '```json\n{"s":"CLOSE","message":"Até logo!"}\n```',
        '~~~\n{"s":"CLOSE","message":"Até logo!"}\n~~~',
        'Claro! Aqui está {o objeto}:\n{"s":"CLOSE","message":"Até logo!","metadata":{}}\nÉ isso.',
        '{"s":"CLOSE","message":"Até logo!",}',
        '{"s":"CLOSE" "message":"Até logo!","metadata":{"insights":[],},}',
        '{"s":" close ","message":"Até logo!"}',
        '{"s":"CLOSE","message":"Até logo!","metadata":{"intent":"serv',
        '{"s":"CLOSE","message":"Até logo!","metadata":{"insights":[{"confidence":0.',
        '{"s":"CLOSE","message":"Até logo!","metadata":{"intent":null,"segm',
        '{"s":"CLOSE","message":"Até logo!","metadata":',
        '{"s":"CLOSE","message":"Até logo!","x":tru',
        '```json\n{"s":"CLOSE","message":"Até logo!","metadata":{"intent":"servi\n```',
        '```json\n{"s":"CLOSE","message":"Até logo!","metadata":{"intent":null,\n```\n',
        '{"s":"CLOSE","message":"Até logo!","surprise":[{"a":1}]}',
        '{"s":"CLOSE","message":"Até logo!","metadata":null}',
        '{"s":"CLOSE","message":"Até logo!","metadata":["intent"]}',
        '[{"s":"CLOSE","message":"Até logo!"}]',
        '{"thoughts":1} {"s":"CLOSE","message":"Até logo!"}',
        '{"s":"CLOSE","message":"Até logo!"}{"s":"CLOSE","message":"Até logo!"}',
        json.dumps('{"s":"CLOSE","message":"Até logo!"}'),
        '{"s":"CLOSE","message":"Até\x00 lo\\u0000go\\ud83d!"}',
    ],
)
def test_a_clear_answer_in_a_bad_form_is_repaired(text):
    answer = parse(text)

    assert answer == Answer(code=Code.CLOSE, message="Até logo!")
    assert answer.repaired


def test_a_message_keeps_its_lines_whoever_wrote_them():
    assert parse('{"s":"CLOSE","message":"um\\r\\ndois"}').message == "um\ndois"
    assert parse('{"s":"CLOSE","message":"um\ndois"}').message == "um\ndois"


def test_maps_are_read_as_pairs_and_as_objects():
    pairs = [
        {"key": "quantidade", "value": "24"},
        {"key": "", "value": "x"},
        {"key": "prazo", "value": None},
        {"value": "x"},
        "x",
    ]
    values = {"quantidade": 24, "prazo": None, "lista": [1], "nome": "  ", "x": {"y": 1}}

    assert parse(text_of(qualification=pairs)).qualification == {"quantidade": "24"}
    assert parse(text_of(qualification=values)).qualification == {"quantidade": "24"}
    assert parse(text_of(registration={"a": True, "b": 0.5, "c": False})).registration == {
        "a": "true",
        "b": "0.5",
        "c": "false",
    }
    assert parse('{"s":"HANDOFF","metadata":{"registration":{"a":1e999}}}').registration == {}


def test_a_map_is_kept_as_far_as_an_event_has_room():
    long = {f"campo {number}": "valor" * 100 for number in range(50)}

    kept = parse(text_of(qualification=long)).qualification

    assert 0 < len(kept) < 50
    assert len(json.dumps(kept, ensure_ascii=False)) <= MAX_DATA


@pytest.mark.parametrize(
    "insight",
    [
        "x",
        {},
        {"insight_type": "a", "content": "b"},
        {"insight_type": "a", "content": "b", "confidence": True},
        {"insight_type": "a", "content": "b", "confidence": 1.5},
        {"insight_type": "a", "content": "", "confidence": 0.5},
        {"insight_type": None, "content": "b", "confidence": 0.5},
    ],
)
def test_an_insight_that_lacks_something_is_left_out(insight):
    good = {"insight_type": "a", "content": "b", "confidence": 1, "memory_type": ["fact"]}

    found = parse(text_of(insights=[insight, good])).insights

    assert found == (Insight(insight_type="a", content="b", confidence=1.0),)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "no_object"),
        ("Olá! Como posso ajudar?", "no_object"),
        ("[1, 2]", "no_object"),
        ("null", "no_object"),
        ('{"s":', "missing_code"),
        ('{"message":"Olá"}', "missing_code"),
        ('{"s":7,"message":"Olá"}', "missing_code"),
        ('{"s":"DANCE","message":"Olá"}', "unknown_code"),
        (text_of("DANCE"), "unknown_code"),
        (text_of(message=" \n\x00 "), "empty_message"),
        ('{"s":"CONTINUE","message":["Olá"]}', "empty_message"),
        ('{"s":"CONTINUE","message":"Olá, tudo b', "empty_message"),
        ('{"s":"CLOSE","message":"a"} {"s":"HANDOFF","message":"a"}', "ambiguous"),
        ('{"s":"CLOSE","message":"a"} {"s":"CLOSE","message":"b"}', "ambiguous"),
        ('{"s":"CLOSE","message":"' + "a" * MAX_TEXT, "too_long"),
    ],
)
def test_what_has_no_answer_says_why_in_a_word(text, reason):
    assert reason_of(text) == reason


def test_only_a_handoff_may_be_silent():
    assert parse(text_of("HANDOFF", "")).message == ""
    for code in set(Code) - SILENT:
        assert reason_of(text_of(code.value, "")) == "empty_message"


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=20,
)
SKETCH = st.fixed_dictionaries(
    {},
    optional={
        "s": st.sampled_from([*Code, "continue", "x"]) | JSON,
        "message": st.text() | JSON,
        "metadata": st.dictionaries(st.sampled_from(list(NOTHING)), JSON) | JSON,
    },
)


@given(
    st.text()
    | st.text(alphabet='{}[]",:\\sa1 `tn-')
    | st.binary().map(lambda raw: raw.decode("utf-8", "surrogateescape"))
    | SKETCH.map(json.dumps)
    | st.tuples(SKETCH.map(json.dumps), st.integers(0, 400)).map(lambda cut: cut[0][: cut[1]])
)
@example("{" * 60_000)
@example('{"a":' * 10_000)
@example("[" * 60_000)
@example('{"s":' + "9" * 5000)
@example('{"s":"CLOSE","message":"a","metadata":{"intent":' + "9" * 5000 + "}}")
def test_any_text_is_an_answer_or_unparsable_and_nothing_else(text):
    try:
        answer = parse(text)
    except Unparsable:
        return
    assert answer.message or answer.code in SILENT
    told = [answer.message, answer.qualification, answer.registration, answer.intent]
    json.dumps(told, ensure_ascii=False, allow_nan=False).encode()


@given(SKETCH, st.integers(0, 400))
def test_a_cut_answer_says_nothing_else_than_the_whole_one(sketch, at):
    whole = json.dumps({"s": "CONTINUE", "message": "Olá", **sketch})
    try:
        cut = parse(whole[:at])
    except Unparsable:
        return

    full = parse(whole)
    assert (cut.code, cut.message) == (full.code, full.message)
    assert cut.qualification.items() <= full.qualification.items()


def objects_of(schema):
    if isinstance(schema, dict):
        if "properties" in schema:
            yield schema
        for each in schema.values():
            yield from objects_of(each)
    if isinstance(schema, list):
        for each in schema:
            yield from objects_of(each)


def test_the_schema_is_one_that_strict_structured_outputs_take():
    objects = list(objects_of(ANSWER_SCHEMA))

    assert len(objects) == 5
    for each in objects:
        assert each["required"] == list(each["properties"])
        assert each["additionalProperties"] is False
        assert all("type" in prop for prop in each["properties"].values())
    json.dumps(ANSWER_SCHEMA)


@pytest.mark.parametrize(
    "message",
    [
        "Olá! Como posso ajudar?",
        "Temos dois planos:\n- básico\n- completo",
        "O valor é de R$ 150,00 (à vista).",
        "150",
        "Você pode pagar por transferência bancária ou transferir por Pix.",
        "Posso te transferir para um atendente, se preferir?",
        "Quer que eu chame um especialista?",
        "Não vou te transferir sem você pedir.",
        "Vou passar os valores agora: são três opções.",
        "Use o cupom [BEMVINDO] na compra {obrigatório} até sexta.",
        'Ele disse: "está certo", e assinou.',
        "[1] Básico\n[2] Completo",
        "[10 amostras], certo?",
        "Nossa equipe tem 20 anos de experiência.",
        "I'll handle this for you: which plan?",
        "😀" * 5_000,
    ],
)
def test_what_people_write_to_customers_may_be_sent(message):
    assert objection(message) is None
    assert presentable(message)


@pytest.mark.parametrize(
    "message",
    [
        "Transferi você para um atendente.",
        "Ja transferi seu contato, aguarde.",
        "Vou te transferir agora.",
        "Vou transferir a sua conversa para o setor comercial",
        "Estou te transferindo para um humano…",
        "Passei para um atendente.",
        "Passei o seu contato para o nosso time de vendas.",
        "Encaminhei sua solicitação para a nossa equipe.",
        "VOU ENCAMINHAR VOCÊ PARA UMA ESPECIALISTA!",
        "Seu atendimento será transferido em instantes.",
        "Um atendente vai falar com você em breve.",
        "Nossa equipe entrará em contato hoje.",
        "Nosso   consultor\tirá te chamar.",
        "I'm transferring you to a human now.",
        "Let me connect you with an agent.",
    ],
)
def test_a_transfer_is_claimed_only_where_one_happens(message):
    assert objection(message) == "claims_transfer"
    assert presentable(message, handoff=True)


@pytest.mark.parametrize(
    ("message", "word"),
    [
        ("", "empty"),
        (" \n\t", "empty"),
        ("a" * 10_001, "too_long"),
        ("😀" * (MAX_UNITS // 2 + 1), "too_long"),
        ("a\x00", "unprintable"),
        ("a\ud83d", "unprintable"),
        ("```json\nOlá\n```", "looks_like_json"),
        ("```Olá", "looks_like_json"),
        ('{"s":"CONTINUE","message":"Olá"}', "looks_like_json"),
        ('{"s":"CONTINUE","mess', "looks_like_json"),
        ('Claro: {"s":"CONTINUE","message":"Olá"} ok?', "looks_like_json"),
        ("Claro: {'s': 'CONTINUE'} ok?", "looks_like_json"),
        ('Anotei {"nome": "Ana"} aqui.', "looks_like_json"),
        ('"s":"CONTINUE","message":"Olá"', "looks_like_json"),
        (r"{\"s\":\"CONTINUE\"} e mais", "looks_like_json"),
        ('["a","b"]', "looks_like_json"),
        ('["a","b', "looks_like_json"),
        ("[1, 2]", "looks_like_json"),
        ("[1, 2", "looks_like_json"),
        ("[true, nu", "looks_like_json"),
        ('"Olá"', "looks_like_json"),
        ("null", "looks_like_json"),
        ("true", "looks_like_json"),
        ("[" * 9_000, "looks_like_json"),
        ("[1," + "[" * 9_000, "looks_like_json"),
        ("<think>O cliente quer</think> Olá", "looks_like_json"),
        ("<lead_memory>Ana</lead_memory>", "looks_like_json"),
    ],
)
def test_what_may_never_be_sent_says_why_in_a_word(message, word):
    assert objection(message) == word
    assert objection(message, handoff=True) == word


@given(JSON.filter(lambda value: not isinstance(value, int | float) or isinstance(value, bool)))
def test_raw_json_is_never_presentable(value):
    for written in (json.dumps(value), json.dumps(value, indent=2, ensure_ascii=False)):
        assert not presentable(written, handoff=True)
        assert not presentable(f"\n {written} ", handoff=True)


@given(SKETCH, st.integers(2, 400))
def test_a_raw_answer_is_never_presentable_also_where_it_was_cut(sketch, at):
    written = json.dumps({"s": "CONTINUE", "message": "Olá", **sketch})

    assert not presentable(written[:at], handoff=True)
    assert not presentable(f"Claro! {written[: max(at, 6)]}", handoff=True)


@given(st.text(), st.booleans())
def test_any_message_is_judged(message, handoff):
    assert presentable(message, handoff=handoff) == (objection(message, handoff=handoff) is None)

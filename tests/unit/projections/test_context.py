# ruff: noqa: RUF001, RUF003 - × is the sign for times
import json
import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.event import LeadEvent
from projections.memories import contributions
from projections.memories.cells import Cells, merge
from projections.memories.context import Context, context, score
from projections.memories.phrases import PHRASES, SECTIONS, WEEKDAYS, WORDS
from projections.memories.render import Memory, render_all
from projections.memories.rules import VIEWS
from projections.memories.wording import quoted
from tests.support.strategies import event, histories

NOW = "2026-03-21T00:00:00.000000Z"

FORMATS = st.sampled_from(["xml", "markdown", "json"])
LOCALES = st.sampled_from(["pt-BR", "en"])
NASTY = st.text(
    st.sampled_from(
        list('</lead_memory>"\\\n\r\t\x00\x1b\u2028\u202e\u200b{}[]&;#-*` é🧉\U000e0041')
    )
)


def memories(*events: LeadEvent) -> list[Memory]:
    states: dict[tuple[str, str], Cells] = {}
    for each in events:
        for memory_type, key, cells in contributions(each):
            merge(states.setdefault((memory_type, key), {}), cells)
    return render_all(states, NOW)


def sale(day: str, **more: Any) -> LeadEvent:
    payload = {
        "productId": "whey_1kg",
        "productName": "Whey Protein",
        "amount": "150.00",
        "currency": "BRL",
        "paymentMethod": "credit_card",
    }
    return event(
        "purchase_completed", payload | more, at=f"2026-{day}T14:00:00.000000Z", event_id=day
    )


def answer(text: str) -> LeadEvent:
    responses = [{"question": "Como nos conheceu?", "answer": text}]
    return event("form_submitted", {"formId": "f", "responses": responses})


DOCUMENTED = [sale(day) for day in ("01-15", "01-30", "02-14", "03-01", "03-15")]


def shown(found: Context) -> set[str]:
    return {line.removeprefix("- ") for line in found.text.splitlines()}


@given(histories(max_size=25), st.integers(0, 4000), FORMATS, LOCALES)
def test_the_text_is_never_over_budget_and_names_what_it_shows(
    history: list[LeadEvent], budget: int, form: str, locale: str
):
    found = memories(*history)

    made = context(found, now=NOW, budget=budget, format=form, locale=locale)

    assert made.tokens <= budget
    assert made.tokens == -(-len(made.text.encode()) // 4)
    assert sorted(made.included + made.omitted) == sorted(
        f"{each.memory_type}/{each.key}" for each in found
    )
    if form == "json" and made.text:
        groups = json.loads(made.text)["lead_memory"]
        assert sum(map(len, groups.values())) == len(made.included)
    elif made.text:
        assert len(re.findall("^- ", made.text, re.MULTILINE)) == len(made.included)


@pytest.mark.parametrize("form", ["xml", "markdown", "json"])
def test_the_budget_holds_to_the_last_byte(form: str):
    found = memories(*DOCUMENTED, answer("Instagram"), event("ticket_opened", {"ticketId": "T-1"}))
    everything = context(found, now=NOW, budget=10_000, format=form)

    made = [context(found, now=NOW, budget=each, format=form) for each in range(600)]

    assert all(each.tokens <= budget for budget, each in enumerate(made))
    assert made[everything.tokens] == everything
    assert made[everything.tokens - 1].omitted != ()


@given(histories(max_size=25), st.integers(50, 1000), FORMATS, st.randoms(use_true_random=False))
def test_what_is_omitted_would_not_have_fitted_and_order_of_memories_does_not_matter(
    history: list[LeadEvent], budget: int, form: str, chance: Any
):
    found = memories(*history)
    shuffled = list(found)
    chance.shuffle(shuffled)

    made = context(found, now=NOW, budget=budget, format=form)

    assert context(shuffled, now=NOW, budget=budget, format=form) == made
    everything = context(found, now=NOW, budget=1_000_000, format=form)
    assert everything.omitted == ()
    assert (everything.tokens <= budget) == (made.omitted == ())


@given(NASTY, FORMATS, LOCALES)
def test_no_text_of_a_customer_closes_the_block_or_begins_a_line(text: str, form: str, locale: str):
    nasty = f"</lead_memory>{text}"
    found = memories(
        answer(nasty),
        sale("03-10", productId=nasty, productName=nasty, paymentMethod=nasty, category=nasty),
        event("campaign_delivered", {"campaignId": nasty, "channel": nasty}),
        event("conversation_started", {"channel": nasty, "context": nasty}),
        event("ticket_opened", {"ticketId": nasty, "subject": nasty, "priority": nasty}),
        event("purchase_abandoned", {"productIds": [nasty], "stageAbandoned": nasty}),
    )
    harmless = memories(
        answer("x"),
        sale("03-10", productId="x", productName="x", paymentMethod="x", category="x"),
        event("campaign_delivered", {"campaignId": "x", "channel": "x"}),
        event("conversation_started", {"channel": "x", "context": "x"}),
        event("ticket_opened", {"ticketId": "x", "subject": "x", "priority": "x"}),
        event("purchase_abandoned", {"productIds": ["x"], "stageAbandoned": "x"}),
    )

    made = context(found, now=NOW, budget=10_000, format=form, locale=locale).text
    plain = context(harmless, now=NOW, budget=10_000, format=form, locale=locale).text

    def structure(text: str) -> list[str]:
        return [line.partition(" ")[0] for line in text.splitlines()]

    assert len(structure(made)) == len(structure(plain))
    assert re.findall("<[^>]*>", made) == re.findall("<[^>]*>", plain)
    assert not re.search("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u202e\u200b\U000e0041]", made)
    if form == "json":
        assert json.loads(made).keys() == json.loads(plain).keys()


@given(NASTY)
def test_quoted_text_is_json_of_what_was_sent(text: str):
    assert json.loads(quoted(text)) == (text if len(text) <= 160 else text[:159] + "…")


def test_the_documented_example_reads_as_documented():
    made = context(memories(*DOCUMENTED), now=NOW, budget=400)

    assert 'comprou "Whey Protein" 5×, R$ 750,00, a cada ~15 dias' in shown(made)
    assert "prefere pagar com credit_card" in shown(made)
    assert made.text.startswith("<lead_memory ")
    assert made.text.endswith("</lead_memory>\n")


def test_money_numbers_and_days_are_written_as_the_locale_does():
    found = memories(
        sale("03-15", amount="1234567.80", productId="a"),
        sale("03-16", amount="1234567", currency="JPY", productId="b"),
    )

    portuguese, english = (
        shown(context(found, now=NOW, budget=1000, locale=locale)) for locale in ("pt-BR", "en")
    )

    assert 'comprou "Whey Protein" 1×, R$ 1.234.567,80' in portuguese
    assert 'bought "Whey Protein" 1×, R$1,234,567.80' in english
    assert 'última compra: "Whey Protein", JPY 1.234.567, credit_card, em 16/03/2026' in portuguese
    assert 'last purchase: "Whey Protein", JPY 1,234,567, credit_card, on 16 Mar 2026' in english


def test_days_are_local():
    late = event("product_asked", {"question": "?"}, at="2026-03-15T02:00:00.000000Z")

    def said(timezone: str) -> set[str]:
        return shown(context(memories(late), now=NOW, budget=400, timezone=timezone))

    assert 'última pergunta: "?", em 14/03/2026' in said("America/Sao_Paulo")
    assert 'última pergunta: "?", em 15/03/2026' in said("UTC")


def test_sections_stand_in_their_order_and_lines_by_key():
    made = context(memories(*DOCUMENTED, answer("Instagram")), now=NOW, budget=1000)

    sections = re.findall(r"^<(\w+)>$", made.text, re.MULTILINE)
    assert sections == ["respostas", "preferencias", "compras", "interesses"]
    assert list(made.included) == [
        "form/f:como_nos_conheceu",
        "preference/payment_method",
        "purchase/last_transaction",
        "purchase/product:whey_1kg",
        "purchase/totals",
        "interest/product:whey_1kg",
    ]


def test_what_matters_more_is_shown_first_and_age_halves_it():
    (memory,) = (each for each in memories(sale("03-15")) if each.key == "totals")

    assert score(memory, NOW) == 100_000
    assert score(memory, "2026-05-14T13:59:59.000000Z") == 100_000
    assert score(memory, "2026-05-14T14:00:00.000000Z") == 50_000
    assert score(memory, "2026-03-01T00:00:00.000000Z") == 100_000
    assert score(memory, "9998-01-01T00:00:00.000000Z") == 0
    assert score(replace(memory, confidence="0.1234"), NOW) == 12_300


def test_a_smaller_memory_takes_the_room_a_better_one_does_not_fit_in():
    long = memories(sale("03-15", productName="x" * 150))
    best = [each for each in long if each.value.get("purchaseCount") and each.key != "totals"]

    made = context([*best, *memories(answer("ok"))], now=NOW, budget=45)

    assert made.included == ("form/f:como_nos_conheceu",)
    assert made.omitted == ("purchase/product:whey_1kg",)


def test_an_expired_memory_is_not_shown():
    found = memories(event("product_viewed", {"productId": "p"}))

    assert context(found, now=NOW, budget=400).included == ("interest/product:p",)
    made = context(found, now="2026-08-01T00:00:00.000000Z", budget=400)
    assert (made.included, made.omitted) == ((), ("interest/product:p",))


def test_a_budget_that_holds_not_even_the_empty_block_gives_no_text():
    assert context(memories(*DOCUMENTED), now=NOW, budget=5).text == ""


def test_a_memory_without_a_phrase_is_shown_field_by_field_and_as_safe():
    memory = replace(
        memories(answer("x"))[0],
        memory_type="novelty",
        key="a key\n</lead_memory>",
        value={"b": True, "a": "<b>", "n": 1.5, "list": ["x"], "map": {"k": 1}},
    )

    made = context([memory], now=NOW, budget=400)

    assert "<novelty>" in made.text
    line = r'novelty/"a key\n\u003c/lead_memory\u003e": a "\u003cb\u003e", b sim, list "x", n 1,5'
    assert line in shown(made)


def test_a_phrase_that_lacks_a_field_falls_back_to_the_fields_there_are():
    memory = replace(memories(answer("x"))[0], value={"question": "Por quê?"})

    made = context([memory], now=NOW, budget=400)

    assert 'form/"f:como_nos_conheceu": question "Por quê?"' in shown(made)


@pytest.mark.parametrize("table", [PHRASES, WORDS, SECTIONS], ids=["phrases", "words", "sections"])
def test_locales_have_the_same_entries(table: dict[str, dict[Any, str]]):
    assert set(table["pt-BR"]) == set(table["en"])
    assert set(table) == set(WEEKDAYS)


def test_every_declared_memory_has_a_phrase():
    assert set(VIEWS) == set(PHRASES["pt-BR"])


@given(histories(min_size=1, max_size=8), LOCALES)
def test_phrases_fit_what_the_rules_write(history: list[LeadEvent], locale: str):
    made = context(memories(*history), now=NOW, budget=100_000, locale=locale)

    fallen_back = [line for line in shown(made) if re.match(r"\w+/", line)]
    assert fallen_back == []

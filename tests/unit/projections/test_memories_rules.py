from decimal import Decimal

import pytest

from domain.event import LeadEvent
from projections.memories import MEMORIES, contributions, numbers, states_by_name
from projections.memories.cells import Cells
from projections.memories.declaration import MAX_KEY_CHARACTERS, Name, memory_key, preferred, slug
from projections.memories.render import Memory, render
from projections.memories.times import days_between, hours_between, local_hour
from projections.projection import Rows
from tests.support.strategies import event


def states(*events: LeadEvent) -> dict[Name, Cells]:
    rows = Rows(MEMORIES, None)
    for each in events:
        MEMORIES.evolve(rows, each)
    return states_by_name(rows.standing())


def viewed(number: int) -> LeadEvent:
    return event(
        "product_viewed",
        {"productId": "whey_1kg"},
        at=f"2026-03-15T13:00:{number:02d}.000000Z",
        event_id=f"evt-{number:03d}",
    )


def test_a_memory_lists_the_newest_20_events_and_counts_all():
    made = states(*(viewed(number) for number in reversed(range(25))))

    memory = render("interest", "product:whey_1kg", made["interest", "product:whey_1kg"])

    assert memory.source_event_ids == tuple(f"evt-{number:03d}" for number in range(24, 4, -1))
    assert memory.source_event_count == 25
    assert memory.created_at == "2026-03-15T13:00:00.000000Z"
    assert memory.updated_at == "2026-03-15T13:00:24.000000Z"


def test_digests_tell_equal_memories_from_different_ones():
    def digest(*events: LeadEvent) -> str:
        key = "product:whey_1kg"
        return render("interest", key, states(*events)["interest", key]).digest

    assert digest(viewed(1), viewed(2)) == digest(viewed(2), viewed(1))
    assert digest(viewed(1), viewed(2)) != digest(viewed(1), viewed(3))


def test_a_form_makes_80_memories_at_most():
    responses = [{"question": f"Pergunta {number}", "answer": number} for number in range(100)]

    made = contributions(event("form_submitted", {"formId": "f", "responses": responses}))

    keys = [key for memory_type, key, _ in made if memory_type == "form"]
    assert keys == [f"f:pergunta_{number}" for number in range(80)]


def test_a_cart_makes_memories_of_80_products_at_most():
    products = [f"p{number}" for number in range(100)]

    made = states(event("purchase_abandoned", {"productIds": products}))

    assert len([name for name in made if name[0] == "interest"]) == 80
    assert made["purchase", "abandoned_cart"]["last:cart"][2]["productIds"] == products[:80]


@pytest.mark.parametrize(
    ("given", "name", "field"),
    [
        (
            event("agent_insight", {"insightType": "x", "content": "c" * 501, "confidence": 1}),
            ("fact", "insight:x"),
            "content",
        ),
        (event("product_asked", {"question": "c" * 501}), ("support", "last_question"), "question"),
        (
            event("objection_raised", {"type": "x", "context": "c" * 501}),
            ("behavioral", "objection:x"),
            "lastContext",
        ),
        (
            event("discount_requested", {"context": "c" * 501}),
            ("preference", "price_sensitivity"),
            "lastContext",
        ),
    ],
)
def test_free_text_is_cut_to_500_characters(given: LeadEvent, name: Name, field: str):
    memory: Memory = render(*name, states(given)[name])

    assert memory.value[field] == "c" * 500


def test_an_interest_an_agent_guessed_is_a_guess_until_the_lead_acts():
    guess = event(
        "interest_detected",
        {"productId": "whey_1kg", "confidence": 0.5},
        event_id="evt-999",
        source="ai_agents_service",
    )
    name = ("interest", "product:whey_1kg")

    assert render(*name, states(guess)[name]).source == "agent_inferred"
    assert render(*name, states(guess, viewed(1))[name]).source == "event_derived"


def test_sensitivity_grows_with_every_time_the_lead_asks():
    asked = [event("discount_requested", {}, event_id=f"evt-{number}") for number in range(5)]
    accepted = event("discount_accepted", {"discountPercent": 5}, event_id="evt-9")
    name = ("preference", "price_sensitivity")

    levels = [
        render(*name, states(accepted, *asked[:count])[name]).value["level"] for count in range(6)
    ]

    assert levels == ["low", "low", "medium", "high", "high", "high"]


def test_a_rate_of_engagement_is_one_at_most_and_needs_a_delivery():
    engaged = [
        event(
            "campaign_engaged",
            {"campaignId": "c", "engagementType": "opened"},
            event_id=f"evt-{number}",
        )
        for number in range(2)
    ]
    delivered = event("campaign_delivered", {"campaignId": "c", "channel": "web"}, event_id="evt-9")
    name = ("behavioral", "campaign_response")

    assert "engagementRate" not in render(*name, states(*engaged)[name]).value
    assert render(*name, states(delivered, *engaged)[name]).value["engagementRate"] == 1


def test_of_labels_with_equal_votes_at_one_instant_the_first_by_name_is_preferred():
    cells: Cells = {"count:votes": {"web": 1, "pix": 1}, "maxmap:at": {"web": "1", "pix": "1"}}

    assert preferred(cells)[0] == "pix"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("How did you find us?", "how_did_you_find_us"),
        ("  Você é ATLETA?! ", "voce_e_atleta"),
        ("De 1 a 10", "de_1_a_10"),
    ],
)
def test_a_slug_is_the_words_in_plain_letters(text: str, expected: str):
    assert slug(text) == expected


def test_slugs_tell_apart_what_plain_letters_cannot():
    long = "pergunta " * 20
    texts = ["質問", "質疑", "?", "!", long + "a", long + "b"]

    slugs = [slug(text) for text in texts]

    assert len(set(slugs)) == len(texts)
    assert max(map(len, slugs)) <= 80


def test_keys_are_hashed_at_the_end_where_they_would_be_too_long():
    fits = "p" * (MAX_KEY_CHARACTERS - len("product:"))

    assert memory_key("product", fits) == f"product:{fits}"
    one, other = memory_key("product", fits + "a"), memory_key("product", fits + "b")
    assert one != other
    assert one == memory_key("product", fits + "a")
    assert len(one) == len(other) == MAX_KEY_CHARACTERS
    assert one.startswith("product:ppp")


@pytest.mark.parametrize(
    ("hour", "expected"),
    [
        ("2026-03-15T13", ("10", "7")),
        ("2026-03-16T02", ("23", "7")),
        ("2026-03-16T03", ("00", "1")),
        # Summer time, which Brazil had until 2019: two hours behind UTC.
        ("2019-01-15T13", ("11", "2")),
        ("2019-07-15T13", ("10", "1")),
    ],
)
def test_local_hours_are_of_sao_paulo(hour: str, expected: tuple[str, str]):
    assert local_hour(hour) == expected


def test_spans_are_exact():
    start, end = "2026-01-15T14:00:00.000000Z", "2026-03-15T02:00:00.000001Z"

    assert hours_between(start, start) == 0
    assert days_between(start, end) * 86_400_000_000 == Decimal(
        58 * 86_400_000_000 + 43_200_000_001
    )


@pytest.mark.parametrize(
    ("value", "factor", "expected"),
    [(0.8, 1000, 800), (0.29, 10_000, 2900), (0.0005, 1000, 0), (0.0015, 1000, 2), (7, 1000, 7000)],
)
def test_stated_numbers_become_integers_as_they_are_written(
    value: float, factor: int, expected: int
):
    assert numbers.scaled(value, factor) == expected


@pytest.mark.parametrize(
    ("confidence", "expected"),
    [(0, 0), (0.1, 105_361), (0.35, 430_783), (0.6, 916_291), (0.99, 4_605_170), (1, 4_605_170)],
)
def test_evidence_is_the_logarithm_of_doubt(confidence: float, expected: int):
    assert numbers.evidence(confidence) == expected


def test_evidence_adds_up_and_never_passes_95_percent():
    half = numbers.evidence(0.5)

    assert round(numbers.noisy_or(half), 4) == Decimal("0.5")
    assert round(numbers.noisy_or(2 * half), 4) == Decimal("0.75")
    assert numbers.noisy_or(10 * half) == Decimal("0.95")


def test_a_number_is_whole_where_it_can_be():
    assert [numbers.ratio(6, 2), numbers.ratio(59, 4), numbers.ratio(2, 3, 4)] == [3, 14.75, 0.6667]
    assert isinstance(numbers.ratio(6, 2), int)

"""Payloads of every event type, drawn from the fields the catalog declares.

Identifiers come from small pools, so that keys of memories collide. Built by field name: with an
alias generator hypothesis would pass both names.
"""

from hypothesis import strategies as st

from domain import catalog
from domain.money import exponent, from_minor

POOLS = {
    "productId": ["whey_1kg", "creatina_300g", "camiseta_p"],
    "campaignId": ["camp_a", "camp_b", "camp_c"],
    "planId": ["club_monthly", "club_yearly"],
    "category": ["supplements", "clothing"],
    "ticketId": ["T-1", "T-2"],
    "formId": ["survey_a", "survey_b"],
    "channel": ["whatsapp", "web"],
    "conversationId": ["conv-1", "conv-2", "conv-3"],
    "paymentMethod": ["pix", "credit_card", "boleto"],
    "type": ["price", "trust"],
    "insightType": ["communication_style", "goal"],
    "key": ["message_length", "goal"],
}
FEW_CURRENCIES = ["BRL", "USD", "JPY", "KWD"]

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=12)
WORDS = TEXT.filter(bool)
INSTANTS = st.sampled_from(
    [f"2026-0{month}-15T12:00:00.000000Z" for month in (1, 2, 3)] + ["2026-09-01T00:00:00.000000Z"]
)
NUMBERS = st.integers(0, 100).map(lambda hundredths: hundredths / 100)
SCALARS = st.one_of(TEXT, st.integers(-9, 9), st.sampled_from([0.5, 7.25]), st.booleans())
RESPONSES = st.fixed_dictionaries(
    {
        "question": st.one_of(st.sampled_from(["Que nota você dá?", "Como nos conheceu?"]), WORDS),
        "answer": st.one_of(SCALARS, st.lists(WORDS, max_size=3)),
    },
    optional={"ref": st.sampled_from(["score", "origin"])},
)


@st.composite
def payloads(draw, event_type, pools=POOLS):
    """Draw a payload of the newest version of a type, in canonical form."""
    declared = catalog.TYPES[event_type]
    fields = [field for field in declared.fields if field.required or draw(st.booleans())]
    if event_type == "interest_detected" and not {"category", "productId"} & names(fields):
        fields.append(declared.fields[0])
    if event_type == "ticket_resolved" and "satisfactionScore" in names(fields):
        fields = list(declared.fields)
    currency = draw(st.sampled_from(FEW_CURRENCIES))
    drawn = {field.name: draw(value_of(field, currency, pools)) for field in fields}
    if "currency" not in drawn:
        drawn |= {
            field.name: draw(value_of(field, "BRL", pools))
            for field in fields
            if field.bounds.endswith("decimal places")
        }
    return catalog.validate(event_type, declared.version, drawn)[0]


def names(fields):
    return {field.wire for field in fields}


def value_of(field, currency, pools=POOLS):
    """Build the strategy of one field from its declaration."""
    if field.bounds.endswith("decimal places"):
        most = 10 ** (exponent(currency) + 4)
        return st.integers(0, most).map(lambda units: from_minor(units, currency))
    if field.wire in pools:
        return st.sampled_from(pools[field.wire])
    of_its_own = {
        "currency": st.just(currency),
        "productIds": st.lists(st.sampled_from(pools["productId"]), min_size=1, max_size=3),
        "responses": st.lists(RESPONSES, max_size=3),
    }
    return of_its_own[field.wire] if field.wire in of_its_own else by_type(field)


def by_type(field):
    if "`" in field.bounds:
        return st.sampled_from([word.strip("`") for word in field.bounds.split(" · ")])
    if field.bounds.startswith("ISO 8601"):
        return INSTANTS
    if field.json_type == "integer":
        low, high = (int(bound) for bound in field.bounds.split("…"))
        return st.integers(low, min(high, low + 100))
    return {
        "string": WORDS,
        "number": NUMBERS,
        "array": st.lists(WORDS, max_size=2),
        "json": SCALARS,
    }[field.json_type]

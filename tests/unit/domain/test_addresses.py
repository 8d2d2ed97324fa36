"""One person, however a number is written, is one lead; two persons never are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import keys
from domain.addresses import address, identity_keys
from domain.errors import InvalidEvent
from domain.event import Address


def forms(channel: str, identifier: str) -> tuple[str, ...]:
    found = address(channel, identifier)
    return (found.identifier, *found.aliases)


@pytest.mark.parametrize(
    ("identifier", "expected"),
    [
        # Brazil: with and without the ninth digit.
        ("5511987654321", ("5511987654321", "551187654321")),
        ("551187654321", ("5511987654321", "551187654321")),
        ("+55 (11) 98765-4321", ("5511987654321", "551187654321")),
        ("+55 011 98765.4321", ("5511987654321", "551187654321")),
        # Brazil: a landline has no ninth digit, and a mobile 9 5… never was without one.
        ("551131234567", ("551131234567",)),
        ("5511951234567", ("5511951234567",)),
        # Mexico and Argentina: WhatsApp's digit behind the country code.
        ("5215512345678", ("525512345678", "5215512345678")),
        ("525512345678", ("525512345678", "5215512345678")),
        ("5491123456789", ("541123456789", "5491123456789")),
        ("541123456789", ("541123456789", "5491123456789")),
        # Elsewhere: the digits of E.164.
        ("+44 (0)20 7946 0958", ("442079460958",)),
        ("+351 912 345 678", ("351912345678",)),
        ("14155552671", ("14155552671",)),
    ],
)
def test_every_form_of_a_number_finds_the_same_lead(identifier, expected):
    assert forms("whatsapp", identifier) == expected


@pytest.mark.parametrize(
    ("identifier", "canonical"),
    [
        ("+55 11 98765-4321", "5511987654321"),
        ("0055 11 98765-4321", "5511987654321"),
        ("5511987654321", "5511987654321"),
        ("+51 987 654 321", "51987654321"),
    ],
)
def test_a_phone_number_states_its_country(identifier, canonical):
    assert forms("phone", identifier)[0] == canonical


@pytest.mark.parametrize(
    "identifier",
    [
        "11987654321",
        "(51) 98765-4321",
        "987654321",
        "+5511",
        "+5511987654321000",
        "null",
        "n/a",
        "+",
        "++5511987654321",
        "1-800-FLOWERS",
        "+999123456789",
        "٥٥١١٩٨٧٦٥٤٣٢١",
        "9" * 200,
        "5511987654321,5511987654322",
        "5511987654321 ou 5511987654322",
    ],
)
def test_what_may_be_national_or_is_no_number_is_refused_without_being_told(identifier):
    with pytest.raises(InvalidEvent) as caught:
        address("phone", identifier)
    (field,) = caught.value.fields

    assert field.pointer == "/lead/channelIdentifier"
    assert identifier not in str(caught.value) or identifier == "+"


def test_an_email_is_trimmed_and_lowered():
    assert forms("email", "  Ana.Silva@Exemplo.COM ") == ("ana.silva@exemplo.com",)


@pytest.mark.parametrize("identifier", ["ana", "ana@", "@exemplo.com", "a b@exemplo.com", "a@b@c"])
def test_an_email_needs_its_form(identifier):
    with pytest.raises(InvalidEvent, match="/lead/channelIdentifier: must be an e-mail"):
        address("email", identifier)


@pytest.mark.parametrize("identifier", ["BR.1234567890", "BR.ENT.AbC123", "bsuid:BR.15012"])
def test_user_ids_of_whatsapp_stay_as_they_are(identifier):
    assert forms("whatsapp", f" {identifier} ") == (identifier,)


@pytest.mark.parametrize("identifier", ["null", "unknown", "5511987654321@s.whatsapp.net", "Ana"])
def test_no_placeholder_gathers_people_on_whatsapp(identifier):
    with pytest.raises(InvalidEvent):
        address("whatsapp", identifier)


def test_identifiers_of_other_channels_keep_their_case():
    assert address("instagram", " Ana.Silva ") == Address(
        channel="instagram", identifier="Ana.Silva"
    )


def test_a_channel_is_lower_case_whoever_writes_it():
    assert address("WhatsApp", "5511951234567").channel == "whatsapp"


@pytest.mark.parametrize("channel", [None, 5, "", "what sapp", "a#b", "é", "x" * 51, "web\n"])
def test_a_channel_is_one_word(channel):
    with pytest.raises(InvalidEvent, match="/lead/channel:"):
        address(channel, "x")


@pytest.mark.parametrize(
    "identifier", [None, 5, True, "", "   ", "a\nb", "a\x00", "\x7f", "\ud800", "x" * 256, ["x"]]
)
def test_an_identifier_is_printable_text(identifier):
    with pytest.raises(InvalidEvent, match="/lead/channelIdentifier:"):
        address("web", identifier)


def test_identity_keys_name_the_organization_and_begin_with_the_canonical_form():
    assert identity_keys("org-one", address("whatsapp", "551187654321")) == (
        keys.identity("org-one", "whatsapp", "5511987654321"),
        keys.identity("org-one", "whatsapp", "551187654321"),
    )


@given(
    st.sampled_from(["55", "52", "521", "54", "549", "1", "44"]),
    st.text("0123456789", min_size=8, max_size=11),
)
def test_any_form_of_an_address_has_the_forms_of_the_first(country, rest):
    try:
        found = address("whatsapp", country + rest)
    except InvalidEvent:
        return

    for form in (found.identifier, *found.aliases):
        assert address("whatsapp", form) == found

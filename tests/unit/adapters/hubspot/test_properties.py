"""Our words for what a record has, and HubSpot's, both ways."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.hubspot import description, properties
from tests.support.hubspot import CONTACT, EMAIL

# A line as a model or a form writes it; lines of notes stand among lines that look like ours.
_line = st.text(
    st.characters(codec="utf-8", exclude_characters="\r\n\x0b\x0c\x1c\x1d\x1e\x85\u2028\u2029"),
    min_size=1,
    max_size=20,
)
_one_line = _line.map(lambda text: " ".join(text.split())).filter(bool)
_notes = st.lists(
    _one_line | st.sampled_from(["Segmento: x", "Intenção: y", "Anotações:"]),
    min_size=1,
    max_size=4,
).map("\n".join)


def test_a_contact_is_written_with_first_and_last_name_and_a_plus():
    assert properties.written("contact", CONTACT, "default") == {
        "phone": "+5511955550142",
        "lead_phone_e164": "+5511955550142",
        "firstname": "Ana",
        "lastname": "Souza",
        "email": EMAIL,
    }


def test_a_deal_is_written_with_its_pipeline_and_one_description():
    deal = {
        "name": "Ana Souza",
        "stage": "101",
        "key": "prod:s",
        "segment": "leite",
        "intent": "compra",
        "notes": "raca: Gir\ncabecas: 40",
    }

    assert properties.written("deal", deal, "sales") == {
        "dealname": "Ana Souza",
        "dealstage": "101",
        "pipeline": "sales",
        "lead_session_id": "prod:s",
        "description": "Segmento: leite\nIntenção: compra\nAnotações:\nraca: Gir\ncabecas: 40",
    }


@pytest.mark.parametrize("kind", ["contact", "deal"])
def test_what_is_not_named_is_not_written(kind):
    assert properties.written(kind, {}, "default") == {}


def test_an_empty_text_clears():
    assert properties.written("contact", {"name": "", "email": ""}, "default") == {
        "firstname": "",
        "lastname": "",
        "email": "",
    }
    assert properties.written("deal", dict.fromkeys(description.PARTS, ""), "default") == {
        "description": ""
    }


def test_what_is_null_empty_or_no_text_is_missing():
    kept = {"dealname": None, "dealstage": "", "description": "", "lead_session_id": 5}

    assert properties.read("deal", kept) == {}
    assert properties.read("contact", {"firstname": None, "lastname": "Souza"}) == {"name": "Souza"}
    assert properties.read("contact", None) == {}


@pytest.mark.parametrize(
    ("there", "here"),
    [
        ("+5511955550142", "5511955550142"),
        ("5511955550142", "5511955550142"),
        ("(11) 95555-0142", "(11) 95555-0142"),
        ("+55 11 95555-0142", "+55 11 95555-0142"),
    ],
)
def test_a_phone_is_read_as_digits_only_where_it_is_nothing_else(there, here):
    assert properties.read("contact", {"phone": there}) == {"phone": here}


@pytest.mark.parametrize("name", ["Ana", "Ana Souza", "Ana Maria de Souza e Silva"])
def test_a_name_comes_back_as_it_went(name):
    written = properties.written("contact", {"name": name}, "default")

    assert properties.read("contact", written) == {"name": name}


@given(
    st.fixed_dictionaries({}, optional={"segment": _one_line, "intent": _one_line, "notes": _notes})
)
def test_a_description_comes_back_as_it_went(parts):
    assert description.read(description.written(parts)) == parts


def test_what_people_write_into_a_description_is_notes():
    text = "Ligou hoje.\r\nSegmento: leite\r\nSegmento: corte\r\nAnotações:\r\nraca: Gir"

    assert description.read(text) == {
        "segment": "leite",
        "notes": "Ligou hoje.\nSegmento: corte\nraca: Gir",
    }


@given(st.text(max_size=200))
def test_any_description_is_read(text):
    parts = description.read(text)

    assert set(parts) <= set(description.PARTS)
    assert description.read(description.written(parts)) == {
        name: value for name, value in parts.items() if value.strip()
    }


def test_hubspots_names_have_ours_and_strangers_keep_theirs():
    names = ("pipeline", "dealstage", "description", "lead_score")

    assert properties.logical("deal", names) == (
        "stage",
        "segment",
        "intent",
        "notes",
        "lead_score",
    )
    assert properties.logical("contact", ("lastname", "firstname")) == ("name",)


def test_what_is_asked_for_is_all_that_is_read():
    assert set(properties.asked("contact")) == set(
        properties.written("contact", CONTACT, "default")
    )
    assert set(properties.asked("deal")) >= {"dealstage", "pipeline", "lead_session_id"}
    assert properties.are_known("contact", CONTACT)
    assert not properties.are_known("contact", {"stage": "1"})
    assert not properties.are_known("deal", {"phone": "1"})

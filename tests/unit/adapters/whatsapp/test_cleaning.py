"""Single values of others become what can be stored, or nothing."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.whatsapp.cleaning import clean_text, id_of, moment, number, text_of, word_of

NOW = "2026-03-21T12:00:00.000000Z"


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("Olá", "Olá"),
        ("a\ud83d", "a\ufffd"),
        ("\udc00\ud83d", "\ufffd\ufffd"),
        ("a\x00b\x07c\x1fd", "abcd"),
        ("a\r\nb\tc", "a\nb\tc"),
        ("👨\u200d👩\u200d👧", "👨\u200d👩\u200d👧"),
        ("\u202eabc\u2066", "\u202eabc\u2066"),
        ("e\u0301\ufe0f", "e\u0301\ufe0f"),
        ("", ""),
    ],
)
def test_text_is_cleaned_of_what_cannot_be_kept_alone(text, cleaned):
    assert clean_text(text) == cleaned


@given(st.text(st.characters()))
def test_cleaned_text_can_be_encoded_and_is_clean(text):
    cleaned = clean_text(text)

    assert cleaned.encode().decode() == cleaned == clean_text(cleaned)
    assert "\x00" not in cleaned


def test_text_is_bounded_and_nothing_else_is_text():
    assert text_of("x" * 10_001) == "x" * 10_000
    assert text_of("\x00" * 5 + "x" * 10_000) == "x" * 10_000
    others: list[object] = [None, 5, True, {}, [], ["x"]]
    assert {text_of(each) for each in others} == {""}


@pytest.mark.parametrize("value", ["wamid.A=", "x" * 255, "é#:"])
def test_an_id_stays_as_it_is(value):
    assert id_of(value) == value


@pytest.mark.parametrize(
    "value", ["", "x" * 256, "a\x00", "a\n", "\ud800", "\x7f", None, True, {}, []]
)
def test_what_cannot_be_an_id_is_none(value):
    assert id_of(value) is None


def test_an_id_may_have_been_written_as_a_number():
    assert id_of(5511955550142) == "5511955550142"


@pytest.mark.parametrize(
    ("value", "word"),
    [
        ("sent", "sent"),
        ("RINGING", "ringing"),
        ("call_permission_reply", "call_permission_reply"),
        ("", None),
        ("two words", None),
        ("5511955550142", None),
        ("a5511955550142", None),
        ("x" * 61, None),
        ("é", None),
        (None, None),
        (5, None),
    ],
)
def test_an_open_enumeration_holds_words_without_digits(value, word):
    assert word_of(value) == word


@pytest.mark.parametrize(
    ("value", "whole"),
    [
        ("12", 12),
        (12, 12),
        ("-3", -3),
        ("12.9", 12),
        ("1e3", None),
        ("", None),
        ("٣", None),
        (True, None),
        (None, None),
        ({}, None),
        ("9" * 19, None),
    ],
)
def test_a_number_may_be_text(value, whole):
    assert number(value) == whole


@pytest.mark.parametrize(
    ("stated", "instant"),
    [
        ("1773928800", "2026-03-19T14:00:00.000000Z"),
        (1773928800, "2026-03-19T14:00:00.000000Z"),
        ("1773928800.5", "2026-03-19T14:00:00.000000Z"),
        ("1773928800123", "2026-03-19T14:00:00.123000Z"),
        ("946684800", "2000-01-01T00:00:00.000000Z"),
        # Five minutes ahead may be a clock; more is none.
        ("1774094700", "2026-03-21T12:05:00.000000Z"),
        ("1774094701", None),
        ("1774094700001", None),
        ("946684799", None),
        ("999999999999", None),
        ("999999999999999", None),
        ("999999999999999999", None),
        ("-1", None),
        ("0", None),
        ("ontem", None),
        ("", None),
        (None, None),
        (True, None),
        ({}, None),
    ],
)
def test_a_time_is_in_seconds_or_milliseconds_and_can_be_true(stated, instant):
    assert moment(stated, NOW) == instant

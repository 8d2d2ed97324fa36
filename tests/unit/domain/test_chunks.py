"""Long answers become a few messages, cut where a reader would pause."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain.conversation.chunks import chunks, units

FAMILY = "👨\u200d👩\u200d👧\u200d👦"
FLAG = "🇧🇷"
WAVE = "👋🏽"
ACCENT = "e\u0301"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        (" \n\t ", []),
        ("  Oi!\n", ["Oi!"]),
        ("um dois\n\ntrês quatro", ["um dois", "três quatro"]),
        ("um dois\ntrês quatro", ["um dois", "três quatro"]),
        ("um dois. três quatro", ["um dois.", "três quatro"]),
        ("umdois três quatro", ["umdois três", "quatro"]),
        ("abcdefghijklmnop", ["abcdefghijkl", "mnop"]),
        # A paragraph far from the end is worth less than a space near it.
        ("a\n\nbcdefgh ijklmnop", ["a\n\nbcdefgh", "ijklmnop"]),
        # The pause may stand right behind what fits.
        ("abcdefghijkl mnop", ["abcdefghijkl", "mnop"]),
        ("abcdefg hijk lmno", ["abcdefg hijk", "lmno"]),
    ],
)
def test_a_text_is_cut_at_the_best_pause_that_fits(text, expected):
    assert chunks(text, limit=12) == expected


def test_what_fits_no_more_messages_ends_in_an_ellipsis():
    parts = chunks("palavra " * 40, limit=20)

    assert parts == ["palavra palavra", "palavra palavra", "palavra palavra pal…"]


def test_length_is_counted_as_channels_count_it():
    assert units("ação") == 4
    assert units("😀") == 2
    assert chunks("😀" * 5, limit=4) == ["😀😀", "😀😀", "😀"]


@pytest.mark.parametrize("character", [FAMILY, FLAG, WAVE, ACCENT, "❤\ufe0f", "1\ufe0f\u20e3"])
@pytest.mark.parametrize("before", range(13))
def test_no_cut_is_inside_what_is_seen_as_one_character(character, before):
    text = "x" * before + character * (40 // units(character))
    parts = chunks(text, limit=26)

    assert len(parts) > 1
    assert "".join(parts) == text
    assert all(part.removeprefix("x" * before).replace(character, "") == "" for part in parts)


def test_a_pile_of_joined_characters_is_cut_all_the_same():
    parts = chunks("e" + "\u0301" * 300, limit=100)

    assert [units(part) for part in parts] == [100, 100, 100]
    assert parts[-1].endswith("…")


TEXTS = st.text(
    st.one_of(
        st.sampled_from([*" \n.!ab", *FAMILY, *FLAG, *WAVE, *ACCENT]), st.characters(codec="utf-8")
    ),
    max_size=120,
)


@given(TEXTS, st.integers(3, 30))
def test_messages_fit_and_say_the_text_in_order_or_its_beginning(text, limit):
    parts = chunks(text, limit)
    said, meant = "".join("".join(parts).split()), "".join(text.split())

    assert len(parts) <= 3
    assert all(0 < units(part) <= limit and part == part.strip() for part in parts)
    assert said == meant or (said.endswith("…") and meant.startswith(said[:-1]))


@given(TEXTS)
def test_a_text_that_fits_stays_whole(text):
    assert chunks(text, limit=240) == ([text.strip()] if text.strip() else [])

"""What is read of JSON that others wrote, and what is refused, with its place."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import canonical
from domain.errors import FieldError, InvalidEvent, MalformedBody
from domain.reading import MAX_DEPTH, MAX_KEYS, check, parse, read_json, read_ndjson

TEXT = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=8)
SCALARS = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | TEXT
DOCUMENTS = st.recursive(
    SCALARS.filter(lambda value: value not in (float("inf"), float("-inf"))),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=12,
)


def problem(data: bytes) -> FieldError:
    with pytest.raises(InvalidEvent) as caught:
        read_json(data)
    (field,) = caught.value.fields
    return field


@given(DOCUMENTS)
def test_reads_what_the_standard_library_writes(value):
    assert read_json(json.dumps(value).encode()) == value


@given(st.binary(max_size=40) | st.text('[]{}",:\\ud80e9-.aé\n', max_size=40).map(str.encode))
def test_whatever_arrives_is_read_and_storable_or_refused(data):
    try:
        value = read_json(data)
    except (MalformedBody, InvalidEvent):
        return

    canonical.dumps(value)


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (b'{"a":', "line 1 column 5"),
        (b'{"a": 1,\n "b": maria}', "line 2 column 7"),
        (b"", "line 1 column 0"),
        (b"[1,]", "line 1 column 4"),
        (b"NaN", "line 1 column 1"),
        (b"-Infinity", "line 1 column 2"),
        (b'"\xff"', "line 1 column 2"),
        (b'"maria', "line 1 column 6"),
        (b"{} {}", "line 1 column 4"),
        (b'{"a":"\\ud800", nothing}', "line 1 column 13"),
        (b'{"a":"\\ud800", "b": NaN}', "line 1 column 13"),
    ],
)
def test_what_is_not_json_is_refused_with_its_position_and_without_its_content(data, place):
    with pytest.raises(MalformedBody) as caught:
        read_json(data)

    assert place in str(caught.value)
    assert "maria" not in str(caught.value)


@pytest.mark.parametrize(
    ("data", "pointer"),
    [
        (b'{"a": {"b": ["x", "\\u0000"]}}', "/a/b/1"),
        (b'{"a": {"b\\u0000": 1}}', "/a/*"),
        (b'{"a": "\\ud800"}', "/a"),
        (b'{"a": "\\udc00\\ud800"}', "/a"),
        (b'{"\\ud800": 1}', "/*"),
        (b'"\\u0000"', ""),
        (b'{"a": 1e400}', "/a"),
        (b'{"a": [0, -1e999]}', "/a/1"),
        (b'{"a": ' + b"9" * 5000 + b"}", "/a"),
        (b'{"cpf 52998224725": {"a": 1e400}}', "/*/a"),
    ],
)
def test_what_cannot_be_stored_is_refused_with_a_pointer(data, pointer):
    assert problem(data).pointer == pointer


def test_surrogate_pairs_and_long_integers_are_ordinary():
    assert read_json(b'["\\ud83d\\ude00", 123456789012345678901234567890]') == [
        "\N{GRINNING FACE}",
        123456789012345678901234567890,
    ]


def test_a_byte_order_mark_is_no_content():
    assert read_json(b"\xef\xbb\xbf{}") == {}


@pytest.mark.parametrize(("opening", "closing"), [(b"[", b"]"), (b'{"a":', b"}")])
def test_nesting_ends_at_its_limit(opening, closing):
    def nested(depth):
        return opening * depth + b"1" + closing * depth

    read_json(nested(MAX_DEPTH))
    for depth in (MAX_DEPTH + 1, 199, 201, 100_000):
        assert problem(nested(depth)).detail == "nested deeper than 32 levels"


def test_an_object_ends_at_its_limit_of_keys():
    def wide(count: int) -> bytes:
        return json.dumps({f"k{number}": number for number in range(count)}).encode()

    read_json(wide(MAX_KEYS))

    assert problem(wide(MAX_KEYS + 1)).detail == "an object has more than 256 keys"


@pytest.mark.parametrize(
    "poison", [b'{"a":' * 5000 + b"1" + b"}" * 5000, b'["\\ud800"]', b"[1e400]"]
)
def test_one_item_that_cannot_be_stored_leaves_the_others_of_its_batch(poison):
    good = {"a": "\N{GRINNING FACE}", "n": [1, 2.5, 10**25]}
    good_text = json.dumps(good).encode()
    document = parse(b'{"events": [' + good_text + b"," + poison + b"," + good_text + b"]}")
    first, second, third = document["events"]

    check(first)
    check(third)
    assert (first, third) == (good, good)
    with pytest.raises(InvalidEvent):
        check(second)


def test_brackets_in_text_are_not_nesting():
    text = "[{" * 500 + '"\\'
    document = parse(json.dumps([text, "\ud800"]).encode())

    assert document[0] == text


def test_hostile_text_is_refused_in_time_that_grows_with_its_length():
    hostile = b"[" * 300 + b'"' + b'\\"' * 500_000
    started = time.perf_counter()
    with pytest.raises(MalformedBody):
        read_json(hostile)

    assert time.perf_counter() - started < 5


def test_lines_are_numbered_as_an_editor_numbers_them_and_blank_ones_left_out():
    data = b'\xef\xbb\xbf{"a":1}\r\n\n   \n{"a":2}\n{"a":'

    assert list(read_ndjson(data)) == [(1, b'{"a":1}'), (4, b'{"a":2}'), (5, b'{"a":')]

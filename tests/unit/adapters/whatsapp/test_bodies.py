"""JSON as it came: read without loss, kept in ASCII, named by what it says."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.whatsapp.bodies import MAX_RAW_BYTES, UNREADABLE, decode, encode, local_id


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b" ",
        b"{",
        b"oi",
        b"\xff",
        b'{"a":NaN}',
        b'{"a":Infinity}',
        b'{"a":1}{"b":2}',
        b"[" * 200_000,
        b'{"a":' * 100_000,
        '{"a":1}'.encode("utf-16"),
    ],
)
def test_what_is_not_json_is_said_to_be_none(raw):
    assert decode(raw) is UNREADABLE


@pytest.mark.parametrize(
    "raw",
    [
        b'{"a":-23.5614140000000031}',
        b'{"a":1e400,"b":1E-7,"c":-0.0,"d":1.50}',
        b'{"a":123456789012345678901234567890}',
        b'{"a":' + b"9" * 5000 + b"}",
        b'{"a":9223372036854775807,"b":-5,"c":true,"d":null,"e":[],"f":{}}',
        rb'{"a":"\ud83d\ude00 \u00e9 \u0000 \" \\ \/"}'.replace(rb"\/", b"/"),
        b'{"b":1,"a":2}',
    ],
)
def test_a_value_is_kept_to_the_last_digit(raw):
    assert encode(decode(raw)) == raw


def test_half_of_a_surrogate_pair_is_kept():
    assert encode(decode(rb'{"a":"x\ud83d","b":1.50}')) == rb'{"a":"x\ud83d","b":"1.50"}'


def test_a_byte_order_mark_is_no_part_of_a_body():
    assert decode(b'\xef\xbb\xbf{"a":1}') == {"a": 1}


def test_what_is_nested_too_deeply_does_not_take_the_rest_with_it():
    deep = b"[" * 100_000 + b"]" * 100_000
    body = decode(b'{"good":1,"deep":' + deep + b',"more":[2]}')

    assert body is not UNREADABLE
    assert (body["good"], body["more"]) == (1, [2])
    assert encode(body["deep"]).startswith(b"[[[[")


@pytest.mark.parametrize("depth", [100, 300, 900])
def test_what_can_be_read_at_all_can_be_kept(depth):
    raw = b"[" * depth + b"]" * depth
    body = decode(raw)

    assert json.loads(encode(body)) == body
    assert local_id(body) == local_id(decode(raw))


def test_the_longest_item_is_whole_and_a_longer_one_is_cut_and_says_so():
    fits = {"a": "x" * (MAX_RAW_BYTES - len('{"a":""}'))}
    longer = {"a": "x" * 10**6, "b": '"\\' * 10**5}

    assert json.loads(encode(fits)) == fits
    cut = json.loads(encode(longer))
    assert (cut["cut"], cut["bytes"]) == (True, len(json.dumps(longer, separators=(",", ":"))))
    assert cut["beginning"].startswith('{"a":"xxx')
    assert len(encode(longer)) <= MAX_RAW_BYTES
    assert len(encode({"b": '"\\' * 10**6})) <= MAX_RAW_BYTES


def test_an_item_is_named_by_what_it_says_and_not_by_the_order_of_its_keys():
    item = decode(rb'{"a":1.50,"b":{"c":"\u00e9","d":2}}')
    again = decode('{"b":{"d":2,"c":"é"},"a":1.50}'.encode())

    assert local_id(item) == local_id(again)
    assert local_id(item).startswith("local:")
    assert len({local_id(item), local_id(item, "x"), local_id(item, "x", "y"), local_id([])}) == 4
    assert local_id(item) != local_id(decode(rb'{"a":1.5,"b":{"c":"\u00e9","d":2}}'))
    assert local_id({"a": "\ud800", "b": 1}) == local_id({"b": 1, "a": "\ud800"})


def digits(text):
    return json.loads(text, parse_float=str, parse_int=str)


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters()),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(st.characters()), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(JSON)
def test_whatever_json_is_read_can_be_kept_in_ascii(value):
    body = decode(json.dumps(value).encode())
    kept = encode(body)

    assert kept.isascii()
    assert len(local_id(body)) == len("local:") + 64
    if not any("\ud800" <= each <= "\udfff" for each in json.dumps(value, ensure_ascii=False)):
        assert digits(kept) == digits(json.dumps(value))


@given(st.binary(max_size=100))
def test_no_bytes_raise(raw):
    body = decode(raw)

    assert body is UNREADABLE or encode(body).isascii()

"""Flat items to attribute values and back."""

from typing import Any

import pytest
from boto3.dynamodb.types import TypeSerializer
from hypothesis import given
from hypothesis import strategies as st

from adapters.dynamodb import codec

VALUES = st.one_of(
    st.text(), st.binary(), st.integers(min_value=-(10**38) + 1, max_value=10**38 - 1)
)


@given(st.dictionaries(st.text(min_size=1), VALUES))
def test_an_item_comes_back_as_it_went_in(item):
    assert codec.decode(codec.encode(item)) == item


@given(VALUES)
def test_a_value_is_what_boto_would_make_of_it(value):
    boto = TypeSerializer().serialize(value)

    assert codec.encode_value(value) == boto


@pytest.mark.parametrize("value", [{"SS": ["a"]}, {"M": {"a": {"BS": []}}}, {}])
def test_a_type_that_nobody_wrote_is_not_guessed_at(value):
    with pytest.raises(KeyError):
        codec.decode({"attribute": value})


def test_what_an_earlier_deployment_wrote_as_maps_and_lists_is_read_as_text():
    wire: dict[str, dict[str, Any]] = {
        "messages": {"L": [{"S": "oi"}, {"N": "2"}]},
        "data": {"M": {"b": {"BOOL": True}, "a": {"NULL": True}}},
        "score": {"N": "0.5"},
    }

    assert codec.decode(wire) == {
        "messages": '["oi",2]',
        "data": '{"a":null,"b":true}',
        "score": "0.5",
    }

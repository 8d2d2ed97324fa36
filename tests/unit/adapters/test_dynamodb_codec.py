"""Flat items to attribute values and back."""

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


@pytest.mark.parametrize("value", [{"BOOL": True}, {"NULL": True}, {"M": {}}, {}])
def test_a_type_that_nothing_here_writes_is_not_guessed_at(value):
    with pytest.raises(KeyError):
        codec.decode({"name": value})

import pytest
from hypothesis import given
from hypothesis import strategies as st

from domain import money


@pytest.mark.parametrize(
    ("value", "currency", "text"),
    [
        (150, "BRL", "150.00"),
        (150.1, "BRL", "150.10"),
        (0.1, "BRL", "0.10"),
        ("150", "BRL", "150.00"),
        ("007.5", "BRL", "7.50"),
        ("150.000", "BRL", "150.00"),
        (150.0, "JPY", "150"),
        ("1.234", "KWD", "1.234"),
        ("1.5", "CLF", "1.5000"),
        (-0.0, "BRL", "0.00"),
        ("19.9", None, "19.90"),
        (999_999_999_999.99, "BRL", "999999999999.99"),
    ],
)
def test_an_amount_has_exactly_the_decimal_places_of_its_currency(value, currency, text):
    assert money.canonical(value, currency) == text


@pytest.mark.parametrize(
    ("value", "currency"),
    [
        (0.1 + 0.2, "BRL"),
        ("150.001", "BRL"),
        ("1.5", "JPY"),
        ("0.0001", "KWD"),
        ("1.234", None),
        (-1, "BRL"),
        ("-0.01", "BRL"),
        (10**12, "BRL"),
        (10**4000, "BRL"),
        (float("nan"), "BRL"),
        (float("inf"), "BRL"),
        (1e-300, "BRL"),
        (True, "BRL"),
        (None, "BRL"),
        ([], "BRL"),
        ("", "BRL"),
        ("1e2", "BRL"),
        ("1_000", "BRL"),
        (" 1", "BRL"),
        ("1.", "BRL"),
        ("R$ 1,00", "BRL"),
        ("\u0661", "BRL"),
        ("NaN", "BRL"),
        ("1", "XXX"),
    ],
)
def test_what_is_no_exact_amount_is_refused_without_being_repeated(value, currency):
    with pytest.raises(ValueError, match=r"^(?!.*150\.001)[^$]+$"):
        money.canonical(value, currency)


@given(
    units=st.integers(0, 10**14 - 1),
    currency=st.sampled_from([code for code in money.CURRENCIES if money.exponent(code) <= 2]),
)
def test_minor_units_and_canonical_text_are_two_forms_of_one_amount(units, currency):
    text = money.from_minor(units, currency)

    assert money.minor_units(text, currency) == units
    if units < money.LIMIT * 10 ** money.exponent(currency):
        assert money.canonical(text, currency) == text
        assert money.canonical(float(text), currency) == text


@pytest.mark.parametrize(
    ("units", "currency", "text"),
    [
        (15000, "BRL", "150.00"),
        (5, "BRL", "0.05"),
        (-5, "BRL", "-0.05"),
        (0, "JPY", "0"),
        (1234, "KWD", "1.234"),
        (-12345, "USD", "-123.45"),
    ],
)
def test_minor_units_are_written_as_text(units, currency, text):
    assert money.from_minor(units, currency) == text


def test_minor_units_refuse_what_the_currency_cannot_hold():
    assert money.minor_units("150", "BRL") == 15000
    assert money.minor_units("150.000", "BRL") == 15000
    with pytest.raises(ValueError, match="finer"):
        money.minor_units("150.001", "BRL")
    with pytest.raises(ValueError, match="ISO 4217"):
        money.minor_units("150.00", "ZZZ")


def test_every_currency_is_three_upper_case_letters_and_named_once():
    assert all(len(code) == 3 and code.isalpha() and code.isupper() for code in money.CURRENCIES)
    assert len(money.CURRENCIES) == len(set(money.CURRENCIES)) == 166
    assert {"BRL", "USD", "EUR", "ARS", "MXN", "CLP", "PYG", "UYU", "COP", "PEN"} <= set(
        money.CURRENCIES
    )


def test_currencies_without_two_decimal_places_are_known():
    assert [money.exponent(code) for code in ("JPY", "CLP", "KWD", "CLF", "BRL")] == [0, 0, 3, 4, 2]

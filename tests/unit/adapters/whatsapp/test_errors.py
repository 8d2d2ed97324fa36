"""What an error means for the next try, whoever tells it."""

import pytest

from adapters.whatsapp.errors import Told, classify, told
from domain.conversation.delivery import RETRIED, ErrorClass

# Source: research/whatsapp.md §5.1, code by code.
TABLE = {
    "PAIR": [131056],
    "THROUGHPUT": [130429, 4, 80007],
    "TRANSIENT": [1, 2, 131000, 131016, 131057, 135000],
    "ACCOUNT": [0, 3, 10, 190, 200, 250, 299, 131005, 131031, 131037, 131042, 131045, 368],
    "WINDOW": [131047],
    "RECIPIENT": [131026, 131021, 131030, 130472, 131062, 137000],
    "CONSENT": [131050, 131049],
    "SPAM": [131048, 131064],
    "REQUEST": [100, 33, 131008, 131009, 131051, 132000, 132001, 132999],
    "MEDIA": [131052, 131053],
}
CODES = [(code, name) for name, codes in TABLE.items() for code in codes]


@pytest.mark.parametrize(("code", "name"), CODES)
@pytest.mark.parametrize("status", [None, 200, 400, 429, 500])
@pytest.mark.parametrize("transient", [True, False])
def test_a_known_code_decides_whatever_comes_with_it(code, name, status, transient):
    assert classify(code, status, transient) is ErrorClass(name)


def test_every_class_but_one_has_a_code():
    assert set(TABLE) == set(ErrorClass) - {ErrorClass.NOT_SENT}


@pytest.mark.parametrize("code", [None, 300, 133000, 131999, -1, 99999])
@pytest.mark.parametrize(
    ("status", "transient", "name"),
    [
        (429, False, "THROUGHPUT"),
        (429, True, "THROUGHPUT"),
        (400, True, "TRANSIENT"),
        (None, True, "TRANSIENT"),
        (408, False, "TRANSIENT"),
        (500, False, "TRANSIENT"),
        (503, False, "TRANSIENT"),
        (401, False, "ACCOUNT"),
        (403, False, "ACCOUNT"),
        (407, False, "ACCOUNT"),
        (400, False, "REQUEST"),
        (302, False, "REQUEST"),
        (None, False, "REQUEST"),
    ],
)
def test_without_a_known_code_the_rest_decides(code, status, transient, name):
    assert classify(code, status, transient) is ErrorClass(name)


def test_what_nobody_knows_is_not_sent_again():
    assert classify(None, None, is_transient=False) not in RETRIED


def test_an_error_is_told_by_code_title_and_details():
    error = {
        "code": 131047,
        "title": "Re-engagement message",
        "message": "other words",
        "error_data": {"details": "More than 24 hours have passed"},
        "href": "https://developers.facebook.com/",
    }

    assert told(error) == Told(131047, "Re-engagement message", "More than 24 hours have passed")


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (None, Told(None, None, None)),
        ("broken", Told(None, None, None)),
        ([], Told(None, None, None)),
        ({}, Told(None, None, None)),
        ({"code": "131047", "message": "words"}, Told(131047, "words", None)),
        ({"code": True, "title": 5, "error_data": "x"}, Told(None, None, None)),
        ({"code": -1, "title": ""}, Told(None, None, None)),
        ({"code": 10**9 + 1}, Told(None, None, None)),
        ({"title": "a\x00b\ud800\n c"}, Told(None, "ab\ufffd c", None)),
        ({"title": "x y " * 100}, Told(None, ("x y " * 100)[:200], None)),
    ],
)
def test_what_is_no_error_tells_nothing(error, expected):
    assert told(error) == expected


def test_numbers_ids_and_tokens_in_metas_words_are_left_out():
    said = told(
        {
            "title": "Message to +5511955550142 failed (131026)",
            "error_data": {"details": "wamid.HBgNNTUxMTk1NTU1MDE0MhUCABEYEjk= and EAAG" + "x" * 40},
        }
    )

    assert said.title == "Message to … failed (131026)"
    assert said.details == "… and …"

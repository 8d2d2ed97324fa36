"""What is Meta's and what is not: signatures over raw bytes, and the handshake."""

import hashlib
import hmac

import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.whatsapp.signature import challenge, verify

# Source: research/whatsapp.md §6.1. The backslashes are part of the body.
SECRET = b"test-app-secret"
BODY = (
    rb'{"object":"whatsapp_business_account","entry":[{"id":"1","changes":[{"value":{"messages":'
    rb'[{"text":{"body":"Ol\u00e1 \ud83d\ude00 https:\/\/ex.com a@b.c"}}]}}]}]}'
)
SIGNED = "sha256=58f142b9e1fd3cc5c8e7f4ce63d6414c8d4cd2e66e0a47d469b68e57930b7398"


def signed(body, secret):
    return "sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest()


def test_the_published_vector_is_genuine():
    assert verify(BODY, SIGNED, [SECRET])


@pytest.mark.parametrize(
    "body",
    [
        BODY.replace(rb"\/", b"/"),
        BODY.replace(rb"\u00e1", "á".encode()),
        BODY.replace(b'":', b'": '),
        BODY + b"\n",
        b"",
    ],
)
def test_the_same_json_in_other_bytes_is_not(body):
    assert not verify(body, SIGNED, [SECRET])


@pytest.mark.parametrize(
    "header",
    [
        None,
        "",
        "sha256=",
        SIGNED.removeprefix("sha256="),
        SIGNED[:-1],
        SIGNED + "0",
        SIGNED[:-1] + "9",
        SIGNED.replace("sha256", "sha1"),
        SIGNED.replace("sha256", "SHA256"),
        " " + SIGNED,
        SIGNED + "\n",
        f"{SIGNED}, {SIGNED}",
        f"{SIGNED},{SIGNED}",
        SIGNED[:-1] + "é",
        SIGNED[:-1] + "\uff18",
        "sha256=" + "é" * 64,
        "\ud800",
    ],
)
def test_a_header_that_is_no_signature_of_it_proves_nothing(header):
    assert not verify(BODY, header, [SECRET])


def test_hexadecimal_letters_may_be_capital():
    assert verify(BODY, "sha256=" + SIGNED.removeprefix("sha256=").upper(), [SECRET])


@pytest.mark.parametrize("secrets", [[SECRET, b"next"], [b"next", SECRET], [b"", SECRET]])
def test_any_of_several_secrets_will_do_while_one_replaces_another(secrets):
    assert verify(BODY, SIGNED, secrets)


@pytest.mark.parametrize("secrets", [[], [b""], [b"", b""]])
def test_without_a_secret_nothing_is_genuine(secrets):
    assert not verify(BODY, SIGNED, secrets)
    assert not verify(BODY, signed(BODY, b""), secrets)


@given(st.binary(max_size=200), st.binary(min_size=1, max_size=40), st.integers(0, 7))
def test_one_bit_more_or_less_is_another_body(body, secret, bit):
    other = bytes((*body[:-1], (body or b"\0")[-1] ^ (1 << bit)))

    assert verify(body, signed(body, secret), [secret])
    assert not verify(other, signed(body, secret), [secret])


@given(st.binary(max_size=50), st.one_of(st.none(), st.text(st.characters(), max_size=80)))
def test_no_header_raises(body, header):
    assert verify(body, header, [SECRET]) in (True, False)


QUERY = {"hub.mode": "subscribe", "hub.verify_token": "olá-token", "hub.challenge": "1158201444"}


def test_the_handshake_is_answered_with_its_challenge():
    assert challenge(QUERY, "olá-token") == "1158201444"


@pytest.mark.parametrize(
    "changed",
    [
        {"hub.mode": "unsubscribe"},
        {"hub.mode": None},
        {"hub.verify_token": "ola-token"},
        {"hub.verify_token": "olá-token "},
        {"hub.verify_token": "\ud800"},
        {"hub.verify_token": None},
        {"hub.challenge": "<script>alert(1)</script>"},
        {"hub.challenge": "a b"},
        {"hub.challenge": "1\n"},
        {"hub.challenge": "١٢٣"},
        {"hub.challenge": ""},
        {"hub.challenge": "1" * 129},
        {"hub.challenge": None},
    ],
)
def test_any_other_handshake_is_not_answered(changed):
    query = {name: value for name, value in {**QUERY, **changed}.items() if value is not None}

    assert challenge(query, "olá-token") is None


def test_a_long_challenge_is_answered_up_to_its_bound():
    assert challenge({**QUERY, "hub.challenge": "aZ_-" * 32}, "olá-token") == "aZ_-" * 32


def test_a_token_that_is_not_set_answers_nobody():
    assert challenge({**QUERY, "hub.verify_token": ""}, "") is None
    assert challenge({"hub.mode": "subscribe", "hub.challenge": "1"}, "") is None

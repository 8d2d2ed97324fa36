"""Proof that a delivery is Meta's: the signature of a body, and the handshake of a subscription."""

import hashlib
import hmac
import re
from collections.abc import Mapping, Sequence
from typing import Final

_HEADER: Final = re.compile(r"sha256=([0-9a-fA-F]{64})", re.ASCII)
# What is echoed cannot be markup, whatever a browser makes of it.
_CHALLENGE: Final = re.compile(r"[A-Za-z0-9_-]{1,128}", re.ASCII)


def verify(raw: bytes, header: str | None, secrets: Sequence[bytes]) -> bool:
    """Tell whether the header signs exactly these bytes with one of the secrets. Never raises.

    Several secrets are valid while one replaces another. Without any (an empty one is none)
    nothing is genuine. A header that came twice is joined by a comma, and so is no signature.
    """
    match = _HEADER.fullmatch(header) if header else None
    if match is None:
        return False
    stated = bytes.fromhex(match[1])
    genuine = False
    for secret in filter(None, secrets):
        genuine |= hmac.compare_digest(hmac.digest(secret, raw, hashlib.sha256), stated)
    return genuine


def challenge(query: Mapping[str, str], token: str) -> str | None:
    """Return what answers a subscription's handshake, or None: it is not ours to answer.

    To be sent as `text/plain`, not to be sniffed. An unset token answers nobody.
    """
    stated = query.get("hub.verify_token", "")
    known = hmac.compare_digest(_bytes(stated), _bytes(token))
    answer = query.get("hub.challenge", "")
    if not (token and known and query.get("hub.mode") == "subscribe"):
        return None
    return answer if _CHALLENGE.fullmatch(answer) else None


def _bytes(text: str) -> bytes:
    # Comparing text fails on anything but ASCII, encoding it on half a surrogate pair.
    return text.encode(errors="surrogatepass")

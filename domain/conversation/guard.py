"""What may reach a customer: the last look at an agent's message. Source: research/whatsapp.md §6.4.

A message that is held back costs one more call of the model, or a person's time; one that slips
through shows a customer the machine's insides, or promises what does not happen. So where it is
not clear, it is held back.
"""

import json
import re
import unicodedata
from typing import Final

MAX_UNITS: Final = 12_000
"""UTF-16 units: three messages of a channel, with room for where they are cut."""

MAX_CHARACTERS: Final = 10_000
"""What an event of the turn records."""

_UNSTORABLE: Final = re.compile("[\x00\ud800-\udfff]")
_FENCE: Final = re.compile(r"`{3}|~{3}")
_OBJECT: Final = re.compile(r"""\A\s*\{|\}\s*\Z|\{\s*\\*["']|\A\s*\[\s*["'{\[\]]""")
# Also one that is cut off, or nested deeper than a reader goes, which is another depth in each Python.
_LIST: Final = re.compile(r"\A\s*\[\s*(?:-?\d[^\s,\]]*|true|false|null)\s*,")
_MEMBER: Final = re.compile(r"""\\*["'](?:s|message|metadata)\\*["']\s*:""")
_TAG: Final = re.compile(r"</?(?:think|lead_memory|system|assistant|user)\b|<\|", re.IGNORECASE)

_WHOM: Final = (
    r"(?:atendentes?|humanos?|pessoas?|alguem|colegas?|especialistas?|consultor(?:a|es)?|equipe|time"
    r"|vendedor(?:a|es)?|responsave(?:l|is)|setor|departamento|agent|human|specialist|team|colleague)"
)
_ME: Final = r"(?:(?:te|lhe|voce|o|a|seu|sua|senhor|senhora|conversa|contato|atendimento) ){0,3}"
_NEAR: Final = r"[^.!?\n]{0,60}?\b"
# Of words without accents, in lower case. An offer or a question promises nothing.
_DONE: Final = (
    r"\b(?:te |lhe |ja )?(?:transferi|transferirei|transferiremos|transferimos)\b",
    rf"\b(?:te|lhe|ja|estou|estamos) {_ME}(?:transfiro|transferindo)\b",
    r"\b(?:sera|foi|fica|esta sendo|sendo) (?:transferid|encaminhad|direcionad)[oa]\b",
    rf"\b(?:encaminh|pass|direcion|conect|cham|acion|repass)(?:ei|amos|ando|arei){_NEAR}{_WHOM}\b",
    r"\b(?:i have|i've|i|we have|we've) (?:transferred|connected|handed)\b",
)
_ABOUT_TO: Final = (
    rf"(?<!nao )\b(?:vou|vamos|irei|iremos) {_ME}transferir\b",
    (
        rf"(?<!nao )\b(?:vou|vamos|irei|iremos) {_ME}(?:estar )?"
        rf"(?:encaminh|pass|direcion|conect|cham|acion|repass)ar{_NEAR}{_WHOM}\b"
    ),
    (
        r"\b(?:i am|i'm|i will|i'll|we will|we'll|let me) (?:now )?(?:transfer|connect|hand)"
        rf"(?:ing|ring)?\b{_NEAR}(?:you|{_WHOM})\b"
    ),
)
_SOMEBODY_WILL: Final = (
    (
        rf"\b(?:um|uma|nosso|nossa|algum|alguma|o|a) {_WHOM}{_NEAR}"
        r"(?:vai|ira|entrara|continuara|assumira|falara|respondera|atendera)\b"
    ),
    rf"\balguem {_NEAR}(?:vai|ira|entrara|falara|respondera|atendera)\b",
)
_CLAIM: Final = re.compile("|".join((*_DONE, *_ABOUT_TO, *_SOMEBODY_WILL)))


def presentable(message: str, *, handoff: bool = False) -> bool:
    """Tell whether an agent's message may be sent. Total: any text has an answer.

    Args:
        message: what the agent wants to say.
        handoff: the conversation really goes to a person, so the message may say so.
    """
    return objection(message, handoff=handoff) is None


def objection(message: str, *, handoff: bool = False) -> str | None:
    """Return why a message may not be sent, in a word, None if it may.

    Words: empty, too_long, unprintable, looks_like_json, claims_transfer.
    """
    if not message.strip():
        return "empty"
    if len(message) > MAX_CHARACTERS or _units(message) > MAX_UNITS:
        return "too_long"
    if _UNSTORABLE.search(message):
        return "unprintable"
    if _looks_like_code(message):
        return "looks_like_json"
    return "claims_transfer" if not handoff and _CLAIM.search(_plain(message)) else None


def _looks_like_code(message: str) -> bool:
    return any(
        pattern.search(message) for pattern in (_FENCE, _OBJECT, _LIST, _MEMBER, _TAG)
    ) or _is_json(message)


def _is_json(message: str) -> bool:
    """Tell whether a message as a whole is JSON; a number alone is something people say."""
    try:
        value = json.loads(message)
    except ValueError:
        return False
    except RecursionError:
        return True
    return isinstance(value, bool) or not isinstance(value, int | float)


def _plain(message: str) -> str:
    """Return a message without accents, in lower case, words one space apart, lines kept."""
    letters = unicodedata.normalize("NFKD", message.casefold())
    bare = "".join(each for each in letters if not unicodedata.combining(each))
    return re.sub(r"[^\S\n]+", " ", bare.replace("\u2019", "'"))


def _units(message: str) -> int:
    return len(message) + sum(each > "\uffff" for each in message)

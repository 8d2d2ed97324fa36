"""What an answer means for the visit that asked: something learned, or something to record. Pure.

Source: research/crm.md §4.2 to §4.4.
"""

from domain.crm import contact_answers, deal_answers
from domain.crm.recording import rests, try_later
from domain.crm.replies import Kind
from domain.crm.visit import Answer, Note

_AGAIN = frozenset((Kind.NOT_SENT, Kind.TRANSIENT, Kind.AMBIGUOUS))


def learn(answer: Answer) -> Note | None:
    """Take an answer into its visit; return what is to be recorded of it, None if nothing is.

    The visit's `now` is the time the answer came.
    """
    step, kind = answer.request.step, answer.reply.kind
    if kind in {Kind.PAUSED, Kind.BREAKER}:
        return rests(answer)
    if kind in _AGAIN and step != "deal_create":
        return try_later(answer)
    meanings = contact_answers.MEANINGS | deal_answers.MEANINGS
    return meanings[step](answer)

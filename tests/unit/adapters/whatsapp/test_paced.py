"""What our own pace holds back is answered as delayed, and was not handed over."""

import pytest

from adapters.whatsapp.client import WhatsAppChannel
from adapters.whatsapp.paced import PacedChannel
from adapters.whatsapp.pacing import PAIR_BURST, Pacing
from domain.conversation.delivery import ErrorClass, NotAccepted, OutboundText

HELD_BACK = "held back by our own pace"


@pytest.fixture
def channel():
    """A channel to where nobody listens: what is handed over is refused at once."""
    made = WhatsAppChannel("token", version="v25.0", base_url="http://127.0.0.1:1")
    yield made
    made.close()


def text(to="551155550142"):
    return OutboundText(outbound_id="out_a", account="109876543210987", to=to, text="oi")


def answer(paced, to="551155550142") -> NotAccepted:
    result = paced.send(text(to))
    assert isinstance(result, NotAccepted)
    return result


def test_a_person_is_written_to_as_often_as_the_channel_allows_and_then_later(channel):
    paced = PacedChannel(channel, Pacing(lambda: 0.0))
    handed = [answer(paced) for _ in range(PAIR_BURST)]
    held = answer(paced)

    assert {each.error_title for each in handed}.isdisjoint({HELD_BACK})
    assert (held.error_class, held.error_title, held.retry_after_s) == (
        ErrorClass.PAIR,
        HELD_BACK,
        6,
    )


def test_a_number_that_is_at_its_limit_lets_others_wait_a_moment(channel):
    paced = PacedChannel(channel, Pacing(lambda: 0.0, per_second=2))
    handed = [answer(paced, f"55115555010{number}") for number in range(2)]
    held = answer(paced, "551155550103")

    assert {each.error_title for each in handed}.isdisjoint({HELD_BACK})
    assert (held.error_class, held.retry_after_s) == (ErrorClass.THROUGHPUT, 1)

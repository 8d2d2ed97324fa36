"""Ids of our texts, and how far a text came by what the channel told of it."""

import itertools

import pytest

from domain.conversation.messages import Delivery, outbound_id

AT = "2026-03-20T12:00:00.000000Z"


@pytest.mark.parametrize(
    ("statuses", "reached"),
    [
        ((), "accepted"),
        (("sent",), "sent"),
        (("sent", "delivered"), "delivered"),
        (("read",), "read"),
        (("delivered", "read", "played"), "played"),
        (("failed",), "failed"),
        (("sent", "failed"), "failed"),
        (("delivered", "failed"), "delivered"),
        (("sent", "read", "failed"), "read"),
        (("odd",), "odd"),
        (("odd", "failed"), "failed"),
    ],
)
def test_a_text_came_as_far_as_its_furthest_status_in_any_order(statuses, reached):
    for order in itertools.permutations(statuses):
        told = Delivery(provider_message_id="wamid.1", statuses=dict.fromkeys(order, AT))

        assert told.status == reached
        assert told.arrived == bool({"delivered", "read", "played"} & set(order))


def test_the_same_cause_gives_the_same_id_and_any_other_another():
    names = [
        outbound_id(session, cause, kind, part)
        for session in ("session-1", "session-2", None)
        for cause in ("wamid.A", "wamid.B")
        for kind in ("bot_text", "notice")
        for part in (0, 1)
    ]

    assert len(set(names)) == len(names)
    assert outbound_id("session-1", "wamid.A", "bot_text") == names[0]


def test_an_id_tells_nothing_and_fits_what_the_channel_gives_back():
    name = outbound_id("session-1", "wamid.A", "bot_text")

    assert name.startswith("out_")
    assert len(name) == 30
    assert name.removeprefix("out_").isalnum()


def test_parts_of_an_id_cannot_run_into_each_other():
    assert outbound_id("a", "bc", "kind") != outbound_id("ab", "c", "kind")

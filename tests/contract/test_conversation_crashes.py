"""Every call on the way from a message to its reply, cut in every way it can be: one reply comes.

Each story is told once for every call of an operation, on a store of its own, until there is no
further call of it. Of DynamoDB only what writes or acts is cut: reads are the same code.
"""

import itertools

import pytest

from tests.support.crashes import (
    EVERY_CALL_ON,
    HOWS,
    Cut,
    Story,
    check_answered_once,
    log_of,
    of_type,
)
from tests.support.talks import receive

TWO_PARTS = '{"s": "CONTINUE", "message": "%s", "metadata": {}}' % ("Uma frase comum. " * 300)

STORIES = {
    "one message": Story(("oi",)),
    "two messages": Story(("oi", "quero sequenciamento")),
    "a reply of two parts": Story(("oi",), script=(TWO_PARTS,)),
    "a reply refused at first": Story(("oi",), refusals=1),
    "a wish for a person": Story(("quero falar com um atendente",)),
    "a picture": Story(("",), changes={"media_type": "image"}),
}
WRITES = ("insert_events", "send", "answer")
ON_DYNAMODB = [
    ("insert_events", "dies before"),
    ("insert_events", "dies after"),
    ("insert_events", "arrives late"),
    ("insert_events", "loses the reply"),
    ("send", "dies after"),
    ("answer", "dies after"),
]

CASES = [
    *[
        (store, story, operation, how)
        for store in EVERY_CALL_ON
        for story in STORIES
        for operation, hows in HOWS.items()
        if story == "one message" or operation in WRITES
        if (story, operation) != ("a picture", "answer")
        for how in hows
    ],
    *[
        ("ministack", "one message", operation, how)
        for operation, how in ON_DYNAMODB
        if "ministack" not in EVERY_CALL_ON
    ],
]


@pytest.mark.parametrize(("store", "story", "operation", "how"), CASES)
def test_a_message_is_answered_once_whatever_becomes_of_one_call(
    lend, subtests, store, story, operation, how
):
    for n in itertools.count(1):
        happened = False
        with subtests.test(call=n), lend(store, *STORIES[story].script) as world:
            happened = tell_cut_short(world, STORIES[story], Cut(operation, how, n))
        if not happened:
            break
    assert n > 1, f"the story has no call of {operation}"


@pytest.mark.parametrize("operation", HOWS)
def test_a_second_delivery_changes_nothing_of_it(lend, subtests, operation):
    for n in itertools.count(1):
        happened = False
        with subtests.test(call=n), lend("sqlite") as world:
            cut = Cut(operation, "dies after", n)
            happened = tell_cut_short(world, STORIES["one message"], cut, again=True)
        if not happened:
            break


def tell_cut_short(world, story, cut, *, again=False):
    """Tell a story to a process that is cut, let others go on; tell whether the cut was reached."""
    process = world.process()
    steps = cut.plan(world, process)
    before = steps.calls[cut.operation]
    acknowledged = story.tell(world, process)
    happened = steps.calls[cut.operation] >= before + cut.n
    recorded = len(of_type(log_of(world.process()), "agent_turn_completed"))
    asked = len(world.model.model.requests)
    if cut.how == "arrives late" and happened:
        steps.deliver()
    if again or not acknowledged:
        receive(world.process(), *story.items(world))
    settled = world.settle()
    if cut.how == "arrives last" and happened:
        steps.deliver()
        settled = world.settle()

    check_answered_once(world, settled)
    turns = of_type(log_of(settled), "agent_turn_completed")
    assert len(world.model.model.requests) - asked <= max(1, len(turns)) * (not recorded)
    return happened

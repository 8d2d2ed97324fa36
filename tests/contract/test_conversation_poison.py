"""An item that fails for a reason nobody foresaw: tried five times, then kept raw and taken."""

import pytest

from handlers.conversations.poison import MAX_TRIES
from tests.support.talks import ORGANIZATION, World, receive

pytestmark = pytest.mark.beyond_moto


@pytest.fixture
def world(backend, tmp_path):
    return World(backend, tmp_path)


def bug(_):
    message = "a bug"
    raise ZeroDivisionError(message)


def fails(process):
    process.steps.instead("snapshot", bug)


def kept(process):
    return process.app.quarantine.list(ORGANIZATION, now=process.app.now()).items


def test_an_item_that_always_fails_is_asked_for_again_until_it_is_poison(world):
    process, item = world.process(), world.says("oi")
    answers = []
    for _ in range(MAX_TRIES):
        fails(process)
        answers += receive(process, item)

    assert answers == ["retry"] * (MAX_TRIES - 1) + ["quarantined"]
    assert len(kept(process)) == 1


def test_another_process_counts_on(world):
    item = world.says("oi")
    answers = []
    for _ in range(MAX_TRIES):
        process = world.process()
        fails(process)
        answers += receive(process, item)

    assert answers[-1] == "quarantined"


def test_beside_it_others_are_recorded_and_it_may_come_right_in_time(world):
    process, item = world.process(), world.says("oi")
    fails(process)

    assert receive(process, item, world.says("tudo bem?")) == ["retry", "queued"]
    assert receive(process, item) == ["queued"]
    assert kept(process) == []


def test_two_that_fail_at_once_are_two_tries(world):
    process, other, item = world.process(), world.process(), world.says("oi")
    fails(process)
    receive(process, item)
    fails(process)
    fails(other)
    process.steps.before("put", lambda: receive(other, item))
    answers = receive(process, item)
    for _ in range(MAX_TRIES - 3):
        fails(process)
        answers += receive(process, item)

    assert answers == ["retry"] * (MAX_TRIES - 3) + ["quarantined"]

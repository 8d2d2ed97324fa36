import math
import threading

import pytest

from handlers.simulators.whatsapp.agenda import Agenda

PATIENCE_S = 20


@pytest.fixture
def agenda():
    own = Agenda(speed=math.inf, threads=1)
    own.start()
    yield own
    own.stop()


def test_what_is_asked_for_together_is_done_in_the_order_of_its_time(agenda):
    done = []
    agenda.later(*((after, lambda after=after: done.append(after)) for after in (60, 0, 3600, 1)))

    assert agenda.settle(PATIENCE_S)
    assert done == [0, 1, 60, 3600]
    assert agenda.seconds == 3600


def test_nothing_begins_while_it_pauses(agenda):
    done = []
    with agenda.paused():
        agenda.later((5, lambda: done.append("later")))
        agenda.later((0, lambda: done.append("now")))
        assert not agenda.settle(0.05)
        assert done == []

    assert agenda.settle(PATIENCE_S)
    assert done == ["now", "later"]


def test_what_an_act_asks_for_belongs_to_what_is_waited_for(agenda):
    done = []

    def act(left):
        done.append(left)
        if left:
            agenda.later((1, lambda: act(left - 1)))

    agenda.later((0, lambda: act(5)))

    assert agenda.settle(PATIENCE_S)
    assert done == [5, 4, 3, 2, 1, 0]


def test_what_is_begun_elsewhere_is_waited_for(agenda):
    place = agenda.begin()
    assert not agenda.settle(0.05)
    agenda.end(place)

    assert agenda.settle(PATIENCE_S)


def test_a_place_that_was_kept_comes_before_what_was_asked_for_later(agenda):
    done = []
    with agenda.paused():
        place = agenda.begin()
        agenda.later((0, lambda: done.append("second")))
        late = threading.Timer(
            0.05, agenda.end, [place, (0, lambda: done.append("first")), (0, lambda: None)]
        )
        late.start()

    assert agenda.settle(PATIENCE_S)
    assert done == ["first", "second"]


def test_seconds_of_a_finite_speed_are_waited_for():
    done = threading.Event()
    agenda = Agenda(speed=1000, threads=2)
    agenda.start()
    agenda.later((200, done.set), (10**9, done.clear))

    assert done.wait(PATIENCE_S)
    assert agenda.seconds >= 200
    agenda.stop()
    # What was not due yet is dropped with it.
    assert done.is_set()
    assert agenda.settle(0)

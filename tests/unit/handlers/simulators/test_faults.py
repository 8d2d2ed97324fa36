from collections import Counter
from random import Random

import pytest

from handlers.simulators.dice import Dice
from handlers.simulators.whatsapp import PRESETS, Break, Faults, LoseReply, Refuse
from handlers.simulators.whatsapp.faults import Script

MANY = PRESETS["many"]


def drawn(draw, times=2000):
    return [draw(Random(f"draw:{number}")) for number in range(times)]


def test_nothing_goes_wrong_unless_it_is_asked_for():
    none = PRESETS["none"]

    assert {
        (each.delay_s, each.copies, each.layout, each.lost) for each in drawn(none.webhook)
    } == {(0.0, 1, None, False)}
    assert set(drawn(none.send)) == {None}
    (plan,) = set(drawn(none.statuses))
    assert [step.status for step in plan.steps] == ["sent", "delivered", "read"]
    assert plan.tracked
    assert not plan.before_answer


def test_what_goes_wrong_does_so_as_often_as_it_is_said():
    webhooks = drawn(MANY.webhook)
    kinds = Counter(type(each) for each in drawn(MANY.send))

    def share(count):
        return pytest.approx(count / 2000, abs=0.03)

    assert share(sum(each.copies == 2 for each in webhooks)) == MANY.webhook_duplicated
    assert share(sum(each.delay_s > 0 for each in webhooks)) == MANY.webhook_delayed
    assert share(sum(each.layout is not None for each in webhooks)) == MANY.webhook_batched
    assert max(each.delay_s for each in webhooks) <= MANY.longest_delay_s
    assert share(kinds[LoseReply]) == MANY.reply_lost
    assert share(kinds[Refuse]) == MANY.send_refused
    assert share(kinds[Break]) == MANY.send_broken


def test_statuses_are_lost_doubled_shuffled_early_and_without_our_id():
    plans = drawn(MANY.statuses)
    orders = [
        tuple(step.status for step in sorted(plan.steps, key=lambda step: step.after_s))
        for plan in plans
    ]

    assert {("sent", "delivered", "read"), ("read", "delivered", "sent"), ()} < set(orders)
    assert any(len(order) > len(set(order)) for order in orders)
    assert {plan.tracked for plan in plans} == {True, False}
    assert {plan.before_answer for plan in plans} == {True, False}
    failed = [plan for plan in plans if any(step.error_code for step in plan.steps)]
    assert failed
    assert {step.status for plan in failed for step in plan.steps} == {"failed"}


def test_statuses_that_are_only_shuffled_are_all_there():
    for plan in drawn(Faults(status_shuffled=1.0).statuses, times=50):
        assert {step.status for step in plan.steps} == {"sent", "delivered", "read"}
        assert {step.after_s for step in plan.steps} == {0.0, 1.0, 2.0}


def test_the_dice_of_one_question_do_not_depend_on_the_others():
    alone, beside = Dice(Random(7)), Dice(Random(7))
    first = [alone.roll("send:ana").random() for _ in range(3)]
    second = []
    for _ in range(3):
        beside.roll("send:bruno")
        second.append(beside.roll("send:ana").random())

    assert first == second
    assert len(set(first)) == 3
    assert Dice(Random(8)).roll("send:ana").random() != first[0]


def test_a_script_is_played_once_and_in_order():
    script = Script[str]()
    script.add("for anybody", times=2)
    script.add("for Ana", to="ana")
    script.add("for anybody else")

    assert [script.take("bruno"), script.take("ana", None)] == ["for anybody", "for anybody"]
    assert [script.take("bruno"), script.take("bruno")] == ["for anybody else", None]
    assert [script.take(None, "ana"), script.take("ana")] == ["for Ana", None]

"""What is derived in memory: memories from events, a context, a feature vector."""

import time
from collections.abc import Callable, Iterator

from handlers import demo_data
from projections.features import features
from projections.folding import Fold, current
from projections.memories import MEMORIES, states_by_name
from projections.memories.context import context
from projections.memories.render import render_all
from tests.bench.measuring import Result, at_most
from tests.bench.stories import an_app, facts


def run() -> Iterator[Result]:
    with an_app() as app:
        events = [fact.numbered("lead", number) for number, fact in enumerate(facts(app, leads=40))]
    events = [current(each) for each in events]

    def fold() -> Fold:
        made = Fold([MEMORIES], "lead")
        for each in events:
            made.evolve(each)
        return made

    yield at_most("derive memories", "us an event", _best(fold) / len(events) * 1e6, 40)
    states = states_by_name(fold().states(MEMORIES).standing())
    fourteen = render_all(states, demo_data.NOW)[:14]
    yield at_most(
        "context of 14 memories",
        "ms",
        _best(lambda: context(fourteen, now=demo_data.NOW, budget=400)) * 1000,
        1.0,
    )
    yield at_most("features", "ms", _best(lambda: features(states, demo_data.NOW)) * 1000, 1.0)


def _best(work: Callable[[], object], rounds: int = 25) -> float:
    times = []
    for _ in range(rounds):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)

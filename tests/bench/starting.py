"""What starting costs: the command line above a bare interpreter, and what each path loads."""

import statistics
import subprocess
import sys
import time
from collections.abc import Iterator

from tests.bench.measuring import Result, at_most

ROUNDS = 9


def run() -> Iterator[Result]:
    bare, ours = [], []
    for _ in range(ROUNDS):
        bare.append(_seconds("pass"))
        ours.append(
            _seconds(
                "import sys; sys.argv = ['leads', '--help']\n"
                "from handlers.entrypoints.cli import main\nmain()"
            )
        )
    above = statistics.median(ours) - statistics.median(bare)
    yield at_most(
        "leads --help above a bare interpreter",
        "s",
        above,
        0.35,
        bare_s=round(statistics.median(bare), 3),
    )


def _seconds(code: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start

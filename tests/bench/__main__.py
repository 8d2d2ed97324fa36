"""Runs the benchmarks: `make bench`, or `python -m tests.bench [NAME …] [--json]`.

The results go to stdout as JSON, one line of words each to stderr. Exit code 1 if a budget does
not hold.
"""

import argparse
import json
import sys
from collections.abc import Callable, Iterator
from importlib import import_module

from tests.bench.measuring import Result

NAMES = (
    "appending",
    "replaying",
    "deriving",
    "starting",
    "serving",
    "importing",
    "parsing",
    "talking",
    "receiving",
    "mirroring",
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[[], *NAMES], help="all unless named")
    chosen = parser.parse_args().names or NAMES
    results = []
    for name in chosen:
        run: Callable[[], Iterator[Result]] = import_module(f"tests.bench.{name}").run
        for result in run():
            results.append(result)
            _say(result)
    print(json.dumps([each.as_json() for each in results], indent=2))  # noqa: T201 - the output
    return 1 if any(each.holds is False for each in results) else 0


def _say(result: Result) -> None:
    verdict = {True: "ok", False: "MISSED", None: ""}[result.holds]
    line = f"{result.name}: {result.value:g} {result.unit} {result.budget} {verdict}\n"
    sys.stderr.write(line)


if __name__ == "__main__":
    sys.exit(main())

"""Importing a long file: the rate, and that memory stays flat while it streams."""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from handlers import demo_data
from tests.bench.measuring import Result, at_most

LEADS = int(os.environ.get("LEADS_TEST_IMPORT_LEADS", "4000"))
"""About 26 events each. 40,000 make the million of the budget, and take some minutes."""


def run() -> Iterator[Result]:
    with TemporaryDirectory() as folder:
        file = Path(folder) / "events.jsonl"
        with file.open("w", encoding="utf-8") as stream:
            lines = demo_data.write_ndjson(stream, demo_data.generate(leads=LEADS))
        command = [
            str(Path(sys.executable).with_name("leads")),
            "--db",
            str(Path(folder) / "leads.db"),
            "import",
            str(file),
        ]
        start = time.perf_counter()
        process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        seen = []
        while process.poll() is None:
            seen.append(_resident_kib(process.pid))
            time.sleep(0.25)
        seconds = time.perf_counter() - start
    steady = [each for each in seen if each][len(seen) // 4 :]
    yield at_most(
        "memory while importing",
        "x its size after a quarter",
        steady[-2] / steady[0],
        1.25,
        lines=lines,
        events_per_s=round(lines / seconds),
        resident_mib=round(max(seen) / 1024),
    )


def _resident_kib(pid: int) -> int:
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return 0
    found = re.search(r"VmRSS:\s+(\d+)", status)
    return int(found[1]) if found else 0

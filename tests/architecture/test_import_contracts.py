"""Every import contract of pyproject.toml fires: a rule that cannot break protects nothing.

Each case plants one forbidden import in a copy of the packages and expects that contract to break,
and no other.
"""

import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("domain", "projections", "adapters", "handlers")
CONFIG = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
CONTRACTS = {
    contract["id"]: contract["name"] for contract in CONFIG["tool"]["importlinter"]["contracts"]
}

# Contract -> the files that break it. A file that exists gets the import at its end.
VIOLATIONS = {
    "rings": {"domain/stray.py": "import handlers"},
    "nobody-imports-an-entry-point": {"handlers/stray.py": "import handlers.entrypoints"},
    "only-entry-points-build": {
        "handlers/bootstrap.py": "",
        "handlers/stray.py": "import handlers.bootstrap",
    },
    "only-bootstrap-knows-adapters": {"handlers/stray.py": "import adapters"},
    "adapters-do-not-know-each-other": {
        "adapters/clock.py": "import adapters.console",
        "adapters/console.py": "",
    },
    "one-home-for-aws": {"handlers/stray.py": "import botocore.exceptions"},
    "one-home-for-sqlite": {"handlers/stray.py": "import sqlite3"},
    "one-home-for-httpx2": {"handlers/stray.py": "import httpx2"},
    "one-home-for-http": {"handlers/stray.py": "import fastapi"},
    "one-home-for-openai": {"handlers/stray.py": "import openai"},
    "one-home-for-powertools": {"handlers/stray.py": "import aws_lambda_powertools"},
    "pure-domain": {"domain/stray.py": "import time"},
    "pure-projections": {"projections/stray.py": "import random"},
    "replay-is-safe": {"projections/stray.py": "import domain.ports.effects"},
    "no-cycles": {
        "domain/stray.py": "import domain.astray",
        "domain/astray.py": "import domain.stray",
    },
    "private": {"domain/ports/_stray.py": "", "domain/stray.py": "import domain.ports._stray"},
}


def broken_contracts(folder):
    """Run lint-imports on the packages in the folder and name the contracts that broke."""
    done = subprocess.run(
        [
            Path(sys.executable).with_name("lint-imports"),
            "--no-cache",
            "--config",
            "pyproject.toml",
        ],
        cwd=folder,
        env={**os.environ, "NO_COLOR": "1", "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    verdicts = dict(re.findall(r"^(.+) (KEPT|BROKEN)\b", done.stdout, re.MULTILINE))
    assert set(verdicts) == set(CONTRACTS.values()), done.stdout + done.stderr
    broken = {id_ for id_, name in CONTRACTS.items() if verdicts[name] == "BROKEN"}
    assert done.returncode == (1 if broken else 0)
    return broken


def copy_house(folder):
    for package in PACKAGES:
        shutil.copytree(
            ROOT / package, folder / package, ignore=shutil.ignore_patterns("__pycache__")
        )
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


@pytest.fixture(scope="module")
def broken_before(tmp_path_factory):
    """What is broken without our help: one real breach must not turn every case below red."""
    return broken_contracts(copy_house(tmp_path_factory.mktemp("untouched")))


def test_every_contract_has_a_violation_that_shows_it_fires():
    assert set(VIOLATIONS) == set(CONTRACTS)


def test_the_house_as_it_stands_keeps_every_contract(broken_before):
    assert broken_before == set()


@pytest.mark.parametrize("contract", VIOLATIONS)
def test_one_forbidden_import_breaks_its_contract_and_no_other(contract, tmp_path, broken_before):
    house = copy_house(tmp_path)
    for path, code in VIOLATIONS[contract].items():
        with (house / path).open("a", encoding="utf-8") as module:
            module.write(f"\n{code}\n")

    broken = broken_contracts(house)

    assert contract in broken
    assert broken - broken_before <= {contract}

"""Rules of the house that no linter knows."""

import ast
import io
import os
import re
import tokenize
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("domain", "projections", "adapters", "handlers")
MODULES = sorted(path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))

LINES_AT_MOST = 300

# A name that says nothing about what is inside collects everything.
JUNK_DRAWERS = {"utils", "helpers", "common", "misc", "base", "types", "manager"}

# Hidden folders that are part of the project; the others belong to git, to tools and to editors.
OUR_HIDDEN_FOLDERS = {".ci", ".github"}
NOT_OURS = {"__pycache__", "build", "dist"}

# What ties a file to one machine or to one package registry. Spelled in parts, so that this file passes too.
TIES = re.compile(
    "|".join(
        [
            r"(?<![\w.])/(?:work|home|root|Users)/[\w.-]+",
            r"index" + "-url",
            r"files\.python" + "hosted",
            r"https?://[^\s\"']+\.(?:whl|tgz|tar\.gz)\b",
        ]
    )
)


def relative(path):
    return path.relative_to(ROOT).as_posix()


def comments(path):
    source = io.StringIO(path.read_text(encoding="utf-8"))
    return [
        token.string
        for token in tokenize.generate_tokens(source.readline)
        if token.type == tokenize.COMMENT
    ]


def imported_names(path):
    """Name all that a module imports: `from a import b` gives a and a.b."""
    names = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def our_files():
    """Find the files that are ours without asking git, which a source archive does not have."""
    for folder, folders, files in os.walk(ROOT):
        folders[:] = [name for name in folders if is_ours(name)]
        yield from (Path(folder) / name for name in files if name != ".env")


def is_ours(folder):
    hidden = folder.startswith(".")
    return folder in OUR_HIDDEN_FOLDERS if hidden else folder not in NOT_OURS


def text_of(path):
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return ""


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_a_module_can_be_read_in_one_sitting(path):
    lines = path.read_text(encoding="utf-8").count("\n")
    assert lines <= LINES_AT_MOST


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_no_module_silences_the_type_checker(path):
    assert not [comment for comment in comments(path) if re.search(r"type:\s*ignore", comment)]


def test_no_module_is_a_junk_drawer():
    named = {
        path: {part.removesuffix(".py").lstrip("_") for part in path.relative_to(ROOT).parts}
        for path in MODULES
    }
    assert [relative(path) for path, parts in named.items() if parts & JUNK_DRAWERS] == []


def test_nothing_is_mocked():
    mocking = {"unittest.mock", "mock", "pytest_mock"}
    assert [relative(path) for path in [*MODULES, *TESTS] if imported_names(path) & mocking] == []


def test_no_file_is_tied_to_one_machine_or_registry():
    tied = {relative(path): TIES.findall(text_of(path)) for path in our_files()}
    assert {path: found for path, found in tied.items() if found} == {}


@pytest.mark.parametrize(
    "tie",
    [
        "see /work" + "/main/x.py",
        "--extra-index" + "-url",
        "https:" + "//example.com/a-1.0.whl",
        "files.python" + "hosted.org",
    ],
)
def test_a_tie_would_be_seen(tie):
    assert TIES.search(tie)

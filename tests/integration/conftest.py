"""What the tests of entry points may ask for."""

import pytest

from tests.support.cli import CommandLine


@pytest.fixture
def leads(tmp_path, monkeypatch):
    """The command line, in an empty folder, with a database that does not exist yet."""
    monkeypatch.chdir(tmp_path)
    return CommandLine(tmp_path)

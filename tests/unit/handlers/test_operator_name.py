import getpass
import pwd

import pytest

from domain.errors import Rejected
from handlers.entrypoints.cli.people import operator_name


def test_a_login_without_a_name_is_asked_for_one(monkeypatch):
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)

    def nobody(uid):
        raise KeyError(uid)  # What Python says of a container's user that /etc/passwd lacks.

    monkeypatch.setattr(pwd, "getpwuid", nobody)

    with pytest.raises(Rejected, match="Who acts is not known") as refused:
        operator_name(None)
    assert "--operator" in (refused.value.hint or "")
    assert operator_name("bia") == "bia"


def test_the_login_acts_unless_somebody_is_named(monkeypatch):
    monkeypatch.setenv("LOGNAME", "rui")

    assert operator_name(None) == getpass.getuser() == "rui"

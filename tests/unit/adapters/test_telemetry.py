"""Logs hold no personal data: what is not listed is not written, whatever went wrong."""

import io
import json
import logging
import subprocess
import sys

import pytest
import structlog

from adapters import telemetry
from domain.errors import FieldError, InvalidEvent
from tests.support.log_lines import logging_of_its_own

CANARY = "maria-529982247@exemplo.com"
OURS = "01957c4e-0000-7000-8000-000000000001"


@pytest.fixture
def lines():
    stream = io.StringIO()
    with logging_of_its_own():
        telemetry.configure(key=b"k" * 32, stream=stream)
        yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]


def test_what_is_listed_is_written_and_what_is_not_is_named(lines):
    structlog.get_logger().info("event_recorded", sequence=4, email=CANARY, **{CANARY: 1})
    (line,) = lines()

    assert line.pop("timestamp").endswith("Z")
    assert line == {
        "event": "event_recorded",
        "level": "info",
        "sequence": 4,
        "withheld": ["*", "email"],
    }


@pytest.mark.parametrize(
    "fields",
    [
        {"source": CANARY},
        {"source": "Maria Silva"},
        {"code": CANARY * 20},
        {"count": [CANARY]},
        {"status": {"a": CANARY}},
        {"exception": CANARY},
        {"payload": CANARY},
        {"lead": CANARY},
        {"lead": f"{CANARY} and more"},
    ],
)
def test_a_listed_name_is_no_way_around_for_text(lines, fields):
    structlog.get_logger().info("event_recorded", **fields)

    (line,) = lines()
    assert CANARY not in json.dumps(line)
    assert "Maria" not in json.dumps(line)


def test_the_name_of_an_event_is_a_word(lines):
    structlog.get_logger().info(f"recorded for {CANARY}")
    (line,) = lines()

    assert "event" not in line
    assert line["withheld"] == ["event"]


def test_leads_that_callers_named_are_hashes_and_ours_are_told(lines):
    log = structlog.get_logger()
    for lead in (OURS, "ana", "ana", "bia"):
        log.info("event_recorded", lead=lead)
    ours, ana, again, bia = (line["lead"] for line in lines())

    assert ours == OURS
    assert ana == again != bia
    assert "ana" not in ana.removeprefix("lead:")


def test_only_who_has_the_key_can_compute_a_reference():
    one, same, other = (telemetry.LeadReference(key) for key in (b"one", b"one", b"other"))

    assert one("ana") == same("ana") != other("ana")
    assert telemetry.LeadReference()("ana") != telemetry.LeadReference()("ana")
    assert telemetry.LeadReference(b"x" * 500)("\ud800")


def test_an_exception_is_told_by_class_and_place(lines):
    def inner():
        return dict[str, int]()[CANARY]

    def outer():
        try:
            inner()
        except KeyError as error:
            raise ValueError(CANARY) from error

    try:
        outer()
    except ValueError:
        structlog.get_logger().exception("crashed")
    (line,) = lines()

    assert CANARY not in json.dumps(line)
    assert line["exception"]["type"] == "ValueError"
    assert line["exception"]["at"][-1].startswith("test_telemetry.py:")
    assert line["exception"]["cause"]["at"][-1].endswith(" inner")


def test_our_own_errors_may_say_what_they_say():
    told = telemetry.describe(InvalidEvent("Not valid.", fields=[FieldError("/a", "is required")]))

    assert (told["detail"], told["fields"]) == ("Not valid.", ["/a"])


def test_nothing_is_told_where_nothing_happened():
    assert telemetry.describe() == {}


def test_libraries_complain_without_their_words(lines):
    library = logging.root.getChild("uvicorn.error")
    library.info("started %s", CANARY)
    try:
        int(CANARY)
    except ValueError:
        library.exception("failed for %s", CANARY)
    (line,) = lines()

    assert CANARY not in json.dumps(line)
    assert (line["event"], line["logger"]) == ("library_complained", "uvicorn.error")
    assert line["exception"]["type"] == "ValueError"


def test_lines_below_the_level_are_not_written(lines):
    structlog.get_logger().debug("event_recorded")

    assert lines() == []


def test_structlog_is_loaded_only_where_something_is_logged():
    code = "import sys, adapters.telemetry; sys.exit(int('structlog' in sys.modules))"

    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0

"""Times as people type them: an instant, a day, or how long ago."""

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final

from domain import instants
from domain.errors import FieldError, Rejected

if TYPE_CHECKING:
    from handlers.entrypoints.cli.session import Session

HELP: Final = "ISO 8601 with an offset, a day (midnight in LEADS_TIMEZONE), or 30d, 12h, 15m ago"

_SPAN: Final = re.compile(r"([0-9]{1,6})([smhdw])", re.ASCII)
_DAY: Final = re.compile(r"[0-9]{4}-[0-9]{2}-[0-9]{2}", re.ASCII)
_UNITS: Final = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def moment(session: "Session", text: str | None, option: str, *, ahead: bool = False) -> str | None:
    """Return the fixed-width instant that an option names, None if it was not given.

    Args:
        session: knows the time, and the time zone of days.
        text: as it was typed.
        option: what errors call it.
        ahead: a span such as 30d lies in the future, not in the past.

    Raises:
        Rejected: it is no time; the error names the option.
    """
    if text is None:
        return None
    try:
        return _instant(session, text.strip(), 1 if ahead else -1)
    except (OverflowError, ValueError) as error:
        detail = str(error) if isinstance(error, ValueError) else "too far away"
        raise Rejected(
            "A time cannot be read.",
            hint=f"Give {HELP}.",
            fields=[FieldError(option, detail)],
        ) from None


def _instant(session: "Session", text: str, direction: int) -> str:
    if span := _SPAN.fullmatch(text):
        delta = timedelta(**{_UNITS[span[2]]: int(span[1]) * direction})
        return instants.parse_instant(instants.shift(session.now(), delta))
    if _DAY.fullmatch(text):
        from zoneinfo import ZoneInfo

        midnight = datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(session.settings.timezone))
        return instants.parse_instant(midnight.isoformat())
    return instants.parse_instant(text)

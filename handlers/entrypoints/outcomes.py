"""One table from kinds of error to what each transport says: HTTP statuses and exit codes."""

from typing import Final, NamedTuple

from domain.errors import (
    Conflict,
    CorruptEvent,
    Forbidden,
    LeadError,
    LimitExceeded,
    MalformedBody,
    NotFound,
    Rejected,
    Unauthenticated,
    Unavailable,
    Uncertain,
    UnsupportedMediaType,
)

EXIT_OK: Final = 0
EXIT_FAILURE: Final = 1
EXIT_USAGE: Final = 2
EXIT_NOT_FOUND: Final = 3
EXIT_CONFLICT: Final = 4
EXIT_UNAVAILABLE: Final = 5
EXIT_PARTIAL: Final = 6
EXIT_AUTH: Final = 7
EXIT_INTERRUPTED: Final = 130


class Said(NamedTuple):
    """What a kind of error is called by each transport."""

    status: int
    exit_code: int


# Asked in this order: a subclass stands before its kind.
_TABLE: Final[tuple[tuple[type[LeadError], Said], ...]] = (
    (Unauthenticated, Said(401, EXIT_AUTH)),
    (Forbidden, Said(403, EXIT_AUTH)),
    (NotFound, Said(404, EXIT_NOT_FOUND)),
    (MalformedBody, Said(400, EXIT_USAGE)),
    (UnsupportedMediaType, Said(415, EXIT_USAGE)),
    (LimitExceeded, Said(413, EXIT_USAGE)),
    (Rejected, Said(422, EXIT_USAGE)),
    (CorruptEvent, Said(500, EXIT_CONFLICT)),
    (Conflict, Said(409, EXIT_CONFLICT)),
    (Unavailable, Said(503, EXIT_UNAVAILABLE)),
    (Uncertain, Said(503, EXIT_UNAVAILABLE)),
)


def said(error: LeadError) -> Said:
    """Return what the transports say for an error."""
    return next(
        (answer for kind, answer in _TABLE if isinstance(error, kind)), Said(500, EXIT_FAILURE)
    )

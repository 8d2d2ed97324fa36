"""Deals as HubSpot's API lists them, a JSON object a line: what a file of them says, without asking.

A line is a deal of `GET /crm/objects/{version}/deals`, best with `associations=contacts`, our unique
property among its `properties` and a `propertiesWithHistory`; of what is missing nothing is said. A
line `{"takenAt": …}` tells when the file was made.
"""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

from adapters.hubspot import properties, records
from adapters.hubspot.wire import Answer, decode, rows
from domain.crm.drift import Seen, Snapshot
from domain.crm.replies import Remote
from domain.errors import MalformedBody
from domain.instants import parse_instant

TAKEN_AT: Final = "takenAt"

_MERGED: Final = "hs_merged_object_ids"
_MADE_BY: Final = "hs_object_source"
_PROGRAM: Final = "INTEGRATION"


def read(lines: Iterable[bytes]) -> Snapshot:
    """Return the deals of a file, and the instant at which it was taken where it tells.

    HubSpot leaves associations out of a deal that has none: where one deal has some, all were asked.

    Raises:
        MalformedBody: a line is neither; it is named by its number alone.
    """
    taken_at, deals = "", []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        body = decode(line)
        fields = body if isinstance(body, dict) else {}
        if TAKEN_AT in fields and "id" not in fields:
            taken_at = _instant(fields[TAKEN_AT], number)
            continue
        found = records.found(Answer(status=200, body={"results": [fields]}), "deal")
        if not found:
            raise _malformed(number)
        deals.append(_seen(found[0], fields))
    known = any(each.contacts_known for each in deals)
    return Snapshot(
        taken_at=taken_at, deals=tuple(replace(each, contacts_known=known) for each in deals)
    )


def _seen(deal: Remote, fields: Mapping[str, Any]) -> Seen:
    told = fields.get("properties")
    values = told if isinstance(told, dict) else {}
    histories = fields.get("propertiesWithHistory")
    versions = histories if isinstance(histories, dict) else {}
    newest = {name: rows(each)[0] for name, each in versions.items() if rows(each)}
    oldest = rows(versions.get("dealname"))[-1:]
    return Seen(
        deal=deal,
        contacts_known="associations" in fields,
        merged=tuple(str(values.get(_MERGED) or "").split(";")) if values.get(_MERGED) else (),
        sources=_named(newest, "sourceType"),
        apps=_named(newest, "sourceId"),
        by_app=values.get(_MADE_BY) == _PROGRAM
        or any(each.get("sourceType") == _PROGRAM for each in oldest),
    )


def _named(newest: Mapping[str, Mapping[str, Any]], member: str) -> dict[str, str]:
    return {
        ours: str(version.get(member, ""))
        for theirs, version in newest.items()
        for ours in properties.logical("deal", (theirs,))
    }


def _instant(value: Any, number: int) -> str:
    try:
        return parse_instant(str(value))
    except ValueError:
        raise _malformed(number) from None


def _malformed(number: int) -> MalformedBody:
    message = f"Line {number} of the snapshot is no deal."
    hint = "Write one JSON object a line, as HubSpot's API lists deals."
    return MalformedBody(message, hint=hint)

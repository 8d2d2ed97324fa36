"""The routes of single records, of their associations, and the search."""

from typing import Any, Final

from handlers.simulators.hubspot.account import Target
from handlers.simulators.hubspot.answers import error, malformed, target_not_found
from handlers.simulators.hubspot.calls import (
    ASSOCIATION_IDS,
    OTHER,
    Call,
    Result,
    rendered,
    texts,
)
from handlers.simulators.hubspot.moments import seconds, stamp
from handlers.simulators.hubspot.portal import DEALS, TYPE_IDS
from handlers.simulators.hubspot.records import Record
from handlers.simulators.hubspot.searching import find, read_query

_PAGE: Final = 10
_LARGEST_PAGE: Final = 100


def create(call: Call) -> Result:
    """POST /{kind}."""
    document = call.document
    targets = _targets(call.kind, document.get("associations") or [])
    values = texts(document.get("properties"))
    made = call.account.create(call.kind, values, targets, call.how)
    return 201, rendered(call.account, made, properties=made.values)


def read(call: Call) -> Result:
    """GET /{kind}/{id}."""
    return 200, rendered(call.account, _found(call, archived=call.archived), **_asked(call))


def update(call: Call) -> Result:
    """PATCH /{kind}/{id}."""
    values = texts(call.document.get("properties"))
    changed = call.account.update(_found(call), values, call.how)
    return 200, rendered(call.account, changed, properties=values)


def archive(call: Call) -> Result:
    """DELETE /{kind}/{id}. What is archived already stays so."""
    kind, key = call.kind, call.path["id"]
    if call.account.look(kind, key, archived=True) is None:
        call.account.archive(_found(call), call.how.at)
    return 204, None


def listing(call: Call) -> Result:
    """GET /{kind}: pages in the order of ids."""
    limit, after = (_whole(call, name, usual) for name, usual in (("limit", _PAGE), ("after", 0)))
    limit = min(max(limit, 1), _LARGEST_PAGE)
    found = [
        record
        for record in call.account.tables[call.kind]
        if (record.archived_at is not None) == call.archived and int(record.id) > after
    ]
    page = sorted(found, key=lambda record: int(record.id))[:limit]
    shown = [rendered(call.account, record, **_asked(call)) for record in page]
    more = {"paging": {"next": {"after": page[-1].id}}} if len(found) > limit else {}
    return 200, {"results": shown, **more}


def merge(call: Call) -> Result:
    """POST /{kind}/merge."""
    asked = call.document
    ids = [asked.get(name) for name in ("primaryObjectId", "objectIdToMerge")]
    if not all(isinstance(each, str) for each in ids):
        raise malformed("some of required attributes are not set [objectIdToMerge]")
    first, second = (call.account.find(call.kind, str(each)) for each in ids)
    return 200, rendered(call.account, call.account.merge(first, second, call.how))


def search(call: Call) -> Result:
    """POST /{kind}/search."""
    account = call.account
    known = account.properties[call.kind].known
    query = read_query(call.document, len(call.body), lambda name: known(name) is not None)
    seen = account.indexes[call.kind].visible(seconds(call.how.at))
    found = find(seen, query, account.associated)
    end = query.after + query.limit
    page = [
        rendered(account, record, properties=query.properties)
        for record in found[query.after : end]
    ]
    more = {"paging": {"next": {"after": str(end)}}} if page and end < len(found) else {}
    return 200, {"total": len(found), "results": page, **more}


def associate(call: Call) -> Result:
    """PUT /{kind}/{id}/associations/default/{to}/{to_id}."""
    record, other = _pair(call)
    call.account.associate(record, other)
    at = stamp(call.how.at)
    ends = ((record, other), (other, record))
    return 200, {
        "status": "COMPLETE",
        "results": [
            {
                "from": {"id": one.id},
                "to": {"id": two.id},
                "associationSpec": {
                    "associationCategory": "HUBSPOT_DEFINED",
                    "associationTypeId": ASSOCIATION_IDS[one.kind],
                },
            }
            for one, two in ends
        ],
        "startedAt": at,
        "completedAt": at,
    }


def associations(call: Call) -> Result:
    """GET /{kind}/{id}/associations/{to}."""
    record = _found(call)
    _other(call)
    types = [{"category": "HUBSPOT_DEFINED", "typeId": ASSOCIATION_IDS[call.kind]}]
    ids = call.account.associated(record)
    return 200, {"results": [{"toObjectId": each, "associationTypes": types} for each in ids]}


def dissociate(call: Call) -> Result:
    """DELETE /{kind}/{id}/associations/{to}/{to_id}."""
    record, other = _pair(call)
    deal, contact = (record, other) if record.kind == DEALS else (other, record)
    call.account.links.unlink(deal.id, contact.id)
    return 204, None


def _found(call: Call, *, archived: bool = False) -> Record:
    by = call.query.get("idProperty")
    return call.account.find(call.kind, call.path["id"], by=by, archived=archived)


def _asked(call: Call) -> dict[str, list[str]]:
    kinds = [TYPE_IDS.get(each, each) for each in call.listed("associations")]
    return {
        "properties": call.listed("properties"),
        "history": call.listed("propertiesWithHistory"),
        "associations": [each if each.endswith("s") else f"{each}s" for each in kinds],
    }


def _whole(call: Call, name: str, usual: int) -> int:
    text = call.query.get(name, str(usual))
    if not (text.isascii() and text.isdigit()):
        raise error(400, "VALIDATION_ERROR", f"{name} must be a number.")
    return int(text)


def _pair(call: Call) -> tuple[Record, Record]:
    record = _found(call)
    kind = _other(call)
    other = call.account.look(kind, call.path["to_id"])
    if other is None:
        raise target_not_found()
    return record, other


def _other(call: Call) -> str:
    kind = TYPE_IDS.get(call.path["to"], call.path["to"])
    if kind != OTHER[call.kind]:
        raise error(400, "VALIDATION_ERROR", f"{call.kind} cannot be associated with {kind}.")
    return kind


def _targets(kind: str, associations: Any) -> list[Target]:
    try:
        asked = [
            (str(each["to"]["id"]), [spec["associationTypeId"] for spec in each["types"]])
            for each in associations
        ]
    except (TypeError, KeyError):
        raise malformed("an association needs to.id and types") from None
    if any(types != [ASSOCIATION_IDS[kind]] for _, types in asked):
        raise error(400, "VALIDATION_ERROR", "One or more association types are not valid.")
    return [Target(OTHER[kind], target_id) for target_id, _ in asked]

"""The routes of many records at once: 100 at most, and not atomic, but for conflicts."""

from collections.abc import Callable
from typing import Any, Final

from handlers.simulators.hubspot.answers import JsonObject, Refused, error, malformed
from handlers.simulators.hubspot.calls import Call, Result, rendered, texts
from handlers.simulators.hubspot.moments import stamp
from handlers.simulators.hubspot.portal import CONTACTS
from handlers.simulators.hubspot.records import Record

MOST_INPUTS: Final = 100
"""Source: research/crm.md §1.2."""

_TRACE: Final = "objectWriteTraceId"

Step = Callable[[JsonObject], JsonObject]


def read(call: Call) -> Result:
    """POST /{kind}/batch/read: what is not there is told beside what is."""
    asked = call.document
    by = asked.get("idProperty")
    names, history = (_names(asked, each) for each in ("properties", "propertiesWithHistory"))
    found: dict[str, Record] = {}
    lost = []
    for each in _inputs(asked):
        record = call.account.look(call.kind, each["id"], by=by, archived=call.archived)
        if record is None:
            lost.append(each["id"])
        else:
            found[record.id] = record
    shown = [
        rendered(call.account, record, properties=names, history=history)
        for record in found.values()
    ]
    return _done(call, shown, [_absent(call.kind, lost)] if lost else [])


def update(call: Call) -> Result:
    """POST /{kind}/batch/update."""
    inputs = _inputs(call.document)
    _refuse_twins(inputs)

    def step(one: JsonObject) -> JsonObject:
        record = call.account.find(call.kind, one["id"], by=one.get("idProperty"))
        changed = call.account.update(record, texts(one.get("properties")), call.how)
        return rendered(call.account, changed, properties=changed.values)

    return _each(call, inputs, step)


def upsert(call: Call) -> Result:
    """POST /{kind}/batch/upsert: by a unique property; it overwrites and cannot associate."""
    inputs = _inputs(call.document)
    _refuse_twins(inputs)

    def step(one: JsonObject) -> JsonObject:
        by = one.get("idProperty")
        if not isinstance(by, str) or (call.kind == CONTACTS and by == "email"):
            raise error(400, "VALIDATION_ERROR", "idProperty must name a unique property.")
        record = call.account.look(call.kind, one["id"], by=by)
        values = {**texts(one.get("properties")), by: one["id"]}
        if record is None:
            written = call.account.create(call.kind, values, (), call.how)
        else:
            written = call.account.update(record, values, call.how)
        shown = rendered(call.account, written, properties=written.values)
        return {**shown, "new": record is None}

    return _each(call, inputs, step)


def _each(call: Call, inputs: list[JsonObject], step: Step) -> Result:
    """Take the inputs one by one.

    What is not there, and what is wrong with an input that has a trace id, is told beside the rest;
    a conflict, or what is wrong with one that cannot be told apart, refuses all of them.
    """
    done, errors = [], []
    with call.account.undone_if_refused(call.kind):
        for one in inputs:
            trace = one.get(_TRACE)
            try:
                shown = step(one)
            except Refused as refused:
                told = _told(call.kind, one, refused)
                if told is None:
                    raise
                errors.append(told)
            else:
                done.append(shown if trace is None else {**shown, _TRACE: trace})
    return _done(call, done, errors)


def _told(kind: str, one: JsonObject, refused: Refused) -> JsonObject | None:
    """Return a refusal as one of a batch's errors; None if it refuses the batch."""
    if refused.status == 404:
        return _absent(kind, [one["id"]])
    if refused.status == 409 or _TRACE not in one:
        return None
    context = {_TRACE: [str(one[_TRACE])]}
    return {"errors": [], "links": {}, **refused.document, "context": context}


def _absent(kind: str, ids: list[str]) -> JsonObject:
    return {
        "status": "error",
        "category": "OBJECT_NOT_FOUND",
        "message": f"Could not get some {kind} objects, they may be deleted or not exist.",
        "context": {"ids": ids},
        "errors": [],
        "links": {},
    }


def _done(call: Call, results: list[JsonObject], errors: list[JsonObject]) -> Result:
    at = stamp(call.how.at)
    document: JsonObject = {
        "status": "COMPLETE",
        "results": results,
        "startedAt": at,
        "completedAt": at,
    }
    if not errors:
        return 200, document
    return 207, {**document, "numErrors": len(errors), "errors": errors}


def _inputs(document: JsonObject) -> list[JsonObject]:
    # Without the wrapper real batches answer 200 and do nothing (research/crm.md §1.4).
    inputs = document.get("inputs", [])
    if not isinstance(inputs, list) or not all(map(_has_id, inputs)):
        raise malformed("inputs need ids")
    if len(inputs) > MOST_INPUTS:
        raise error(400, "VALIDATION_ERROR", f"A batch has at most {MOST_INPUTS} inputs.")
    return inputs


def _has_id(one: Any) -> bool:
    return isinstance(one, dict) and isinstance(one.get("id"), str)


def _refuse_twins(inputs: list[JsonObject]) -> None:
    ids = [one["id"] for one in inputs]
    twins = sorted({each for each in ids if ids.count(each) > 1})
    if twins:
        message = f"Duplicate IDs found in batch input: [{', '.join(twins)}]. IDs must be unique"
        raise error(400, "VALIDATION_ERROR", message)


def _names(asked: JsonObject, field: str) -> list[str]:
    names = asked.get(field) or []
    return [str(each) for each in names] if isinstance(names, list) else []

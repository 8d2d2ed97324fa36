"""Records as HubSpot's successes hold them, and what a success means that holds none."""

from collections.abc import Mapping
from typing import Any

from adapters.hubspot import properties
from adapters.hubspot.classification import unreadable
from adapters.hubspot.paths import is_id
from adapters.hubspot.told import correlation, is_missing, told
from adapters.hubspot.wire import Answer, ObjectKind, Verb, rows
from domain.crm.replies import Kind, Pipeline, Remote, Reply


def one(answer: Answer, verb: Verb, kind: ObjectKind) -> Reply:
    """Return the record of an answer. It may have another id than was asked for: it was merged."""
    record = _remote(kind, answer.body)
    return unreadable(answer, verb, "no_record") if record is None else done(answer, record)


def done(answer: Answer, record: Remote | None = None, records: tuple[Remote, ...] = ()) -> Reply:
    """Return that it was done."""
    return Reply(
        kind=Kind.DONE,
        record=record,
        records=records,
        status=answer.status,
        correlation=correlation(answer),
    )


def found(answer: Answer, kind: ObjectKind) -> tuple[Remote, ...] | None:
    """Return the records of a list; None if it is none, or has one that is no record."""
    listed = answer.fields.get("results")
    if not isinstance(listed, list):
        return None
    remotes = [_remote(kind, each) for each in listed]
    return None if None in remotes else tuple(each for each in remotes if each is not None)


def read_many(answer: Answer, kind: ObjectKind) -> Reply:
    """Return the records that were read by key; those that are not there are missing.

    A request HubSpot does not understand is a success without results and without errors: that
    says nothing about what is there.
    """
    records = found(answer, kind)
    if records is None:
        return unreadable(answer, Verb.READ, "no_records")
    errors = rows(answer.fields.get("errors"))
    for error in errors:
        one_error = Answer(status=answer.status, body=dict(error))
        if not is_missing(one_error):
            return _partly(answer, one_error, Verb.READ)
    if not records and not errors:
        return unreadable(answer, Verb.READ, "silent_no_op")
    return done(answer, records=records)


def associated(answer: Answer, deal_id: str, contact_id: str) -> Reply:
    """Return whether an association was made; a success that lists none made none."""
    errors = rows(answer.fields.get("errors"))
    if errors:
        first = Answer(status=answer.status, body=dict(errors[0]))
        return _partly(answer, first, Verb.WRITE)
    if not rows(answer.fields.get("results")):
        return unreadable(answer, Verb.WRITE, "silent_no_op")
    return done(answer, Remote(id=deal_id, contact_ids=(contact_id,)))


def stages(answer: Answer, pipeline: str) -> Pipeline:
    """Return the stages of one pipeline, in the order people see them."""
    listed = answer.fields.get("results")
    if not isinstance(listed, list):
        return Pipeline(reply=unreadable(answer, Verb.READ, "no_pipelines"))
    named = [each for each in rows(listed) if each.get("id") == pipeline and _stands(each)]
    if not named:
        return Pipeline(
            reply=Reply(
                kind=Kind.REFUSED,
                reason="pipeline_missing",
                status=answer.status,
                correlation=correlation(answer),
            )
        )
    standing = [each for each in rows(named[0].get("stages")) if _stands(each)]
    standing.sort(key=_order)
    return Pipeline(stage_ids=tuple(str(each["id"]) for each in standing))


def is_unique(answer: Answer, kind: ObjectKind) -> bool | Reply:
    """Tell whether a property is declared as ours must be."""
    fields = answer.fields
    if fields.get("name") != properties.UNIQUE[kind]:
        return unreadable(answer, Verb.READ, "no_property")
    return fields.get("hasUniqueValue") is True and fields.get("archived") is not True


def _remote(kind: ObjectKind, body: Any) -> Remote | None:
    fields = body if isinstance(body, dict) else {}
    record_id = _id(fields)
    if record_id is None:
        return None
    return Remote(
        id=record_id,
        properties=properties.read(kind, fields.get("properties")),
        archived=fields.get("archived") is True,
        contact_ids=_contacts(fields.get("associations")),
    )


def _contacts(associations: Any) -> tuple[str, ...]:
    listed = associations.get("contacts") if isinstance(associations, dict) else None
    members = rows(listed.get("results")) if isinstance(listed, dict) else []
    # One contact is named once for each label it has.
    return tuple(dict.fromkeys(each for member in members if (each := _id(member))))


def _id(fields: Mapping[str, Any]) -> str | None:
    value = fields.get("id")
    stated = isinstance(value, int | str) and not isinstance(value, bool)
    return str(value) if stated and is_id(str(value)) else None


def _partly(answer: Answer, error: Answer, verb: Verb) -> Reply:
    """Return what one error in a success means: it is about one of those that were asked for."""
    if is_missing(error):
        kind, reason = Kind.ABSENT, "not_found"
    else:
        kind, reason = (Kind.TRANSIENT if verb is Verb.READ else Kind.AMBIGUOUS), "partly_done"
    said = told(error)
    return Reply(
        kind=kind,
        reason=reason,
        status=answer.status,
        category=said.category,
        correlation=correlation(answer),
        detail=said.detail,
    )


def _stands(fields: Mapping[str, Any]) -> bool:
    return isinstance(fields.get("id"), str) and fields.get("archived") is not True


def _order(stage: Mapping[str, Any]) -> float:
    order = stage.get("displayOrder")
    return order if isinstance(order, int | float) else float("inf")

"""What is found small without being measured would pass every exact measure."""

import itertools
from dataclasses import replace
from typing import Any

import pytest

from adapters.actions import actions_of
from adapters.sqlite.preparing import measured
from domain.errors import LimitExceeded
from domain.keys import Key
from domain.records import Absent, Check, Commit, Identity, PutHead, Row, Write
from tests.support import make

LENGTHS = (0, 1, 200, 201, 225, 228, 255, 256, 257, 512, 513, 1024, 1025, 2048, 2049)
SIZES = (0, 100_000, 204_000, 205_000, 300_000, 408_000, 409_000, 409_600, 410_000)
NUMBERS = (0, -1, 2**63 - 1, 10**37, 10**38 - 1, 10**38, 1 - 10**38, -(10**38))
STRANGE: tuple[Any, ...] = (True, 0.5, None, [], {}, object())


def usual(**envelope):
    """A commit of every kind of action, far from every limit."""
    records = [make.record(1, **envelope), make.record(2)]
    commit = make.commit(
        records,
        identities=(Identity("IDENTITY#a", make.LEAD), Identity("IDENTITY#b", make.LEAD)),
        puts=(make.row(count=1), Row(Key("P", "S"), {"a": "b"}, gsi1=("G", "1"), ttl=7)),
        deletes=(Key("P", "gone"), Key("P", "gone too")),
        checks=(Check(Key("LOCK", "META"), Absent()), Check(Key("LOCK", "OTHER"), Absent())),
    )
    return Write(records, commit)


def with_parts(**parts):
    write = usual()
    return Write(write.events, replace(write.commit, **parts))


ROW = Key("P", "S")


def with_row(key=ROW, **fields):
    return with_parts(puts=(replace(Row(key, {"a": "b"}), **fields),))


def with_head(**fields):
    return with_parts(head=PutHead(make.head(**fields), 0))


def long_texts():
    commit = usual().commit
    for kind, length in itertools.product("xé\U0001f642", LENGTHS):
        text = kind * length
        record = make.record(1, lead=text)
        yield Write([record], make.commit([record]))
        record = make.record(1, event_type=text)
        yield Write([record], make.commit([record]))
        for field in ("event_id", "organization_id", "occurred_at", "source", "external_event_id"):
            yield usual(**{field: text})
        yield usual(object_id=text)
        for key in (Key(text, "S"), Key("P", text)):
            yield with_row(key)
            yield with_parts(deletes=(key,))
            yield with_parts(checks=(Check(key, Absent()),))
        yield with_row(gsi1=(text, "1"))
        yield with_row(gsi1=("G", text))
        yield with_parts(identities=(Identity(text, make.LEAD),))
        yield with_parts(receipts=(commit.receipts[0]._replace(key=text),))
        yield with_head(lead=text)
        yield with_head(organization_id=text)


def large_bodies():
    for size in SIZES:
        for record in (
            make.record(1, payload={"text": "x" * size}),
            make.record(1, raw_payload=bytes(size)),
        ):
            yield Write([record], make.commit([record]))
        for value in ("x" * size, "é" * (size // 2), bytes(size)):
            yield with_row(attributes={"a": value})
            yield with_row(attributes={"a": value, "b": value})
            yield with_head(unknown={"a": value})
        yield with_row(attributes={"n" * size: 1})
        yield with_parts(puts=tuple(Row(Key("P", str(n)), {"a": "x" * size}) for n in range(12)))


def strange_values():
    for value in (*NUMBERS, *STRANGE):
        yield with_row(attributes={"a": value})
        yield with_head(unknown={"a": value})
    for ttl in (0, 0.5, True):
        yield with_row(ttl=ttl)


def things_named_twice():
    records, commit = usual()
    yield Write(records, commit)
    yield Write([*records, records[0]], commit)
    for part in ("receipts", "identities", "puts", "deletes", "checks"):
        yield with_parts(**{part: getattr(commit, part) * 2})
    for key in (commit.deletes[0], commit.checks[0].key):
        yield with_row(key)
    yield with_parts(deletes=(commit.checks[0].key,))


def many_actions():
    for count in (80, 99, 100, 101):
        keys = [Key("P", f"k{number}") for number in range(count)]
        head = PutHead(make.head(), 0)
        yield Write([], Commit(head=head, deletes=tuple(keys)))
        yield Write([], Commit(head=head, puts=tuple(Row(key, {}) for key in keys)))
        yield Write([], Commit(head=head, checks=tuple(Check(key, Absent()) for key in keys)))
        yield Write([], Commit(head=head, identities=tuple(Identity(k.sk, "x") for k in keys)))


@pytest.mark.parametrize(
    "writes", [long_texts, large_bodies, strange_values, things_named_twice, many_actions]
)
def test_a_commit_is_refused_exactly_when_it_would_be_on_dynamodb(writes):
    answers = [(is_refused(actions_of, each), is_refused(measured, each)) for each in writes()]

    assert (True, True) in answers
    assert (False, False) in answers
    assert [number for number, (theirs, ours) in enumerate(answers) if theirs != ours] == []


def is_refused(check, write):
    try:
        check(write.events, write.commit)
    except LimitExceeded:
        return True
    return False


def test_a_usual_commit_is_not_measured_to_the_byte(monkeypatch):
    monkeypatch.delattr("adapters.sqlite.preparing.actions_of")

    assert measured(*usual()).rows

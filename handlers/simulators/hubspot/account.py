"""One account: its records, and every rule about them. Whoever calls it holds its lock."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final, NamedTuple

from handlers.simulators.dice import Dice
from handlers.simulators.hubspot import answers
from handlers.simulators.hubspot.answers import Problem, error
from handlers.simulators.hubspot.moments import seconds
from handlers.simulators.hubspot.pipelines import Pipelines
from handlers.simulators.hubspot.portal import (
    CONTACTS,
    DEALS,
    KINDS,
    LIFECYCLE,
    PIPELINE,
    properties_of,
)
from handlers.simulators.hubspot.properties import Properties
from handlers.simulators.hubspot.records import CALCULATED, MERGED, Record, Write
from handlers.simulators.hubspot.searching import Index
from handlers.simulators.hubspot.setup import Setup
from handlers.simulators.hubspot.tables import Links, Table

_EMAIL: Final = "email"
_FIRST_IDS: Final = {CONTACTS: 100_000, DEALS: 9_000_000_000}
_SPREAD: Final = 90_000
_PHONES: Final = {
    "phone": "hs_searchable_calculated_phone_number",
    "mobilephone": "hs_searchable_calculated_mobile_number",
}
_NATIONAL_AT_LEAST: Final = 8
"""Digits of a phone without its area; more than a country code is left of any real one."""


class Target(NamedTuple):
    """What a record is to be associated with."""

    kind: str
    id: str


class Account:
    """Everything one account keeps. `lock` makes several steps one."""

    def __init__(self, setup: Setup, dice: Dice, at: str) -> None:
        self.lock = threading.RLock()
        self.setup = setup
        self.dice = dice
        self.properties: dict[str, Properties] = {
            kind: properties_of(kind, keyed_at=at if setup.keys else None) for kind in KINDS
        }
        self.pipelines = Pipelines(setup.stages, at)
        self.tables = {
            kind: Table(first + dice.roll(f"ids:{kind}").randrange(_SPREAD))
            for kind, first in _FIRST_IDS.items()
        }
        self.links = Links()
        self.indexes = {kind: Index() for kind in KINDS}

    def find(self, kind: str, key: str, *, by: str | None = None, archived: bool = False) -> Record:
        """Return a record by its id, or by a unique property.

        Raises:
            Refused: there is none, or that property is not unique.
        """
        found = self.look(kind, key, by=by, archived=archived)
        if found is None:
            raise answers.not_found()
        return found

    def look(
        self, kind: str, key: str, *, by: str | None = None, archived: bool = False
    ) -> Record | None:
        """Return a record as `find` does; None if there is none.

        Raises:
            Refused: that property is not unique.
        """
        table = self.tables[kind]
        if by is None:
            found = table.get(key)
        elif by in self._keys(kind):
            found = self._keyed(kind, by, key, archived=archived)
        else:
            raise error(400, "VALIDATION_ERROR", f"Property {by} is not a unique property.")
        fits = found is not None and (found.archived_at is not None) == archived
        return found if fits else None

    def create(
        self, kind: str, values: Mapping[str, str], targets: Sequence[Target], how: Write
    ) -> Record:
        """Make a record with its associations, all or nothing.

        Raises:
            Refused: a value does not fit, is missing or is taken, or a target is not there.
        """
        kept = self._fit(kind, values, {})
        self._require(kind, kept, how)
        if kind == DEALS:
            kept.setdefault("pipeline", PIPELINE)
        others = [self._target(target) for target in targets]
        self._free_email(kind, kept, "")
        made = self.tables[kind].next_id()
        self._free(kind, kept, made)
        record = Record(id=made, kind=kind, created_at=how.at, updated_at=how.at)
        record = self._put(self._written(record, kept, how), how.at)
        for other in [] if self.setup.drop_associations else others:
            self.associate(record, other)
        return record

    def update(self, record: Record, values: Mapping[str, str], how: Write) -> Record:
        """Change values of a record; "" clears one.

        Raises:
            Refused: a value does not fit, is required or is taken.
        """
        kind = record.kind
        kept = self._fit(kind, values, record.values)
        cleared = [name for name, value in kept.items() if not value]
        if how.strict and (wanted := set(self.setup.required.get(kind, ())) & set(cleared)):
            raise self._required(wanted)
        ignored = {name for name in kept if f"{kind}.{name}" in self.setup.ignored}
        written = {name: value for name, value in kept.items() if name not in ignored}
        self._free_email(kind, written, record.id)
        self._free(kind, written, record.id)
        return self._put(self._written(record, written, how), how.at)

    def archive(self, record: Record, at: str) -> Record:
        """Archive a record. It does not count as changed."""
        return self._put(replace(record, archived_at=at), at)

    def restore(self, record: Record, at: str) -> Record:
        """Bring an archived record back.

        Raises:
            Refused: another one took one of its unique values meanwhile.
        """
        self._free_email(record.kind, record.values, record.id)
        self._free(record.kind, record.values, record.id)
        return self._put(replace(record, archived_at=None), at)

    def merge(self, first: Record, second: Record, how: Write) -> Record:
        """Make one of two records. The first one's values win; both ids lead to what is left.

        Raises:
            Refused: they are one.
        """
        if first.id == second.id:
            raise error(400, "VALIDATION_ERROR", "An object cannot be merged with itself.")
        kind, table = first.kind, self.tables[first.kind]
        kept = first.id if self.setup.preserve_id else table.next_id()
        filled = {
            name: value for name, value in second.values.items() if not first.values.get(name)
        }
        merged = (*first.merged, first.id, *second.merged, second.id)
        survivor = first.written(filled, MERGED._replace(source_id=how.by.source_id), how.at)
        for old in {first.id, second.id} - {kept}:
            table.forward(old, kept)
            self.links.move(kind, old, kept)
            self._note(kind, old, None, how.at)
        return self._put(replace(survivor, id=kept, merged=merged, updated_at=how.at), how.at)

    def associate(self, record: Record, other: Record) -> None:
        """Associate a deal with a contact, in either order; again changes nothing."""
        deal, contact = (record, other) if record.kind == DEALS else (other, record)
        self.links.link(deal.id, contact.id)

    def associated(self, record: Record) -> list[str]:
        """Return the ids of the other type that it is associated with and that are not archived."""
        other = CONTACTS if record.kind == DEALS else DEALS
        ids = self.links.of(record.kind, record.id)
        return [each for each in ids if self.look(other, each) is not None]

    @contextmanager
    def undone_if_refused(self, kind: str) -> Iterator[None]:
        """Take back what was written to records of a type if it ends with a refusal."""
        table, index = self.tables[kind].saved(), self.indexes[kind].saved()
        try:
            yield
        except answers.Refused:
            self.tables[kind].restore(table)
            self.indexes[kind].restore(index)
            raise

    def _keys(self, kind: str) -> list[str]:
        """Return the properties whose values lead to one record."""
        unique = self.properties[kind].names(unique=True)
        return [_EMAIL, *unique] if kind == CONTACTS else unique

    def _keyed(self, kind: str, by: str, value: str, *, archived: bool) -> Record | None:
        table = self.tables[kind]
        value = value.lower() if by == _EMAIL else value
        if not archived:
            holder = table.holder(by, value)
            return None if holder is None else table.get(holder)
        if not self.setup.archived_by_key:
            return None
        those = [each for each in table if each.archived_at and each.values.get(by) == value]
        return max(those, key=lambda each: each.archived_at or "", default=None)

    def _fit(
        self, kind: str, values: Mapping[str, str], before: Mapping[str, str]
    ) -> dict[str, str]:
        kept, problems = self.properties[kind].fit(values)
        if kind == DEALS:
            problems += self._misplaced({**before, **kept} if kept else {}, kept)
        if problems:
            raise answers.not_valid(problems, self.setup.shapes)
        stage, now = kept.get("lifecyclestage"), before.get("lifecyclestage")
        if stage and now and LIFECYCLE.index(stage) < LIFECYCLE.index(now):
            del kept["lifecyclestage"]
        return kept

    def _misplaced(self, after: Mapping[str, str], kept: Mapping[str, str]) -> list[Problem]:
        """Return what is wrong with the pipeline and the stage a deal is to have."""
        if not kept.keys() & {"pipeline", "dealstage"}:
            return []
        pipeline, stage = after.get("pipeline") or PIPELINE, after.get("dealstage", "")
        stages = self.pipelines.stages_of(pipeline)
        name, value, options = "dealstage", stage, [each.id for each in stages or ()]
        if stages is None:
            name, value, options = "pipeline", pipeline, self.pipelines.ids()
        if value in {"", *options}:
            return []
        allowed = ", ".join(options)
        message = f"{value} was not one of the allowed options: [{allowed}]"
        return [Problem(name, "INVALID_OPTION", message)]

    def _require(self, kind: str, kept: Mapping[str, str], how: Write) -> None:
        needed = ["dealstage"] if kind == DEALS else []
        if how.strict and kind == DEALS:
            needed = ["dealname", "dealstage", "pipeline"]
        names = ("firstname", "lastname", _EMAIL)
        if how.strict and kind == CONTACTS and self.setup.named_contacts:
            needed = [] if any(kept.get(name) for name in names) else list(names)
        if lacking := [name for name in needed if not kept.get(name)]:
            raise answers.missing(kind, lacking)
        wanted = self.setup.required.get(kind, ()) if how.strict else ()
        if unset := {name for name in wanted if not kept.get(name)}:
            raise self._required(unset)

    def _required(self, names: set[str]) -> answers.Refused:
        problems = [
            Problem(name, "REQUIRED_FIELD", f'Property "{name}" is required.')
            for name in sorted(names)
        ]
        return answers.not_valid(problems, self.setup.shapes)

    def _target(self, target: Target) -> Record:
        found = self.look(target.kind, target.id)
        if found is None:
            raise answers.target_not_found()
        return found

    def _free_email(self, kind: str, values: Mapping[str, str], own_id: str) -> None:
        email = values.get(_EMAIL, "") if kind == CONTACTS else ""
        holder = self.tables[kind].holder(_EMAIL, email) if email else None
        if holder not in {None, own_id}:
            raise answers.email_taken(email, str(holder), self.setup.shapes)

    def _free(self, kind: str, values: Mapping[str, str], own_id: str) -> None:
        for name in self.properties[kind].names(unique=True):
            value = values.get(name, "")
            holder = self.tables[kind].holder(name, value) if value else None
            if holder is not None and holder != own_id:
                raise answers.value_taken(kind, (name, value), (own_id, holder), self.setup.shapes)

    def _written(self, record: Record, values: Mapping[str, str], how: Write) -> Record:
        written = record.written(values, how.by, how.at)
        calculated = {
            ours: _national(written.values.get(name, ""), self.setup.country)
            for name, ours in _PHONES.items()
            if name in values and record.kind == CONTACTS
        }
        return written.written(calculated, CALCULATED, how.at)

    def _put(self, record: Record, at: str) -> Record:
        keys = self._keys(record.kind)
        if record.archived_at is not None:
            # An archived contact's e-mail is free, whatever the rest does (HubSpot's knowledge base).
            keys = [name for name in keys if name != _EMAIL] if self.setup.reserved else []
        self.tables[record.kind].put(record, keys)
        self._note(record.kind, record.id, None if record.archived_at else record, at)
        return record

    def _note(self, kind: str, record_id: str, record: Record | None, at: str) -> None:
        lag_s = self.dice.roll(f"lag:{record_id}").uniform(*self.setup.lag_s)
        self.indexes[kind].note(record_id, record, seconds(at) + lag_s)


def _national(phone: str, country: str) -> str:
    digits = "".join(each for each in phone if each.isdigit())
    rest = digits.removeprefix(country)
    return rest if len(rest) > _NATIONAL_AT_LEAST + 1 else digits

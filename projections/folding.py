"""Folding one lead's events through several projections, and comparing what comes out."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from domain import canonical, catalog, keys, limits
from domain.crm.claims import claims_of
from domain.errors import ViewBroken
from domain.event import OUR_SOURCE, LeadEvent
from domain.items import row_item
from domain.keys import Key
from domain.records import Identity, Row
from projections.projection import NeedRow, Projection, Rows


class Difference(NamedTuple):
    """One field of one row that is not what the events say. None: the row or field is absent."""

    key: Key
    field: str
    stored: Any
    expected: Any


class Fold:
    """The rows of several projections for one lead while events are folded.

    `loaded` rows are the ground to start from; None starts from nothing, every row absent.
    """

    def __init__(
        self,
        projections: Sequence[Projection],
        lead: str,
        loaded: Mapping[Key, Row | None] | None = None,
    ) -> None:
        self._lead = lead
        self._rows = [(each, Rows(each, loaded)) for each in projections]
        self._by_type: dict[str, list[tuple[Projection, Rows]]] = {}

    def evolve(self, event: LeadEvent) -> None:
        """Apply one event. What a projection raises is the caller's to judge."""
        try:
            handlers = self._by_type[event.event_type]
        except KeyError:
            handlers = [pair for pair in self._rows if event.event_type in pair[0].handles]
            self._by_type[event.event_type] = handlers
        for projection, rows in handlers:
            projection.evolve(rows, event)

    def changes(self) -> dict[Key, Row | None]:
        """Return every row that was changed, as it now is; None where it is taken away."""
        out: dict[Key, Row | None] = {}
        for _, rows in self._rows:
            out.update(rows.encoded(self._lead))
        return out

    def rows(self) -> dict[Key, Row]:
        """Return the rows that stand, of a fold that started from nothing."""
        return {key: row for key, row in self.changes().items() if row is not None}

    def states(self, projection: Projection) -> Rows:
        """Return the working set of one projection."""
        return next(rows for each, rows in self._rows if each is projection)


def current(event: LeadEvent) -> LeadEvent:
    """Return an event with its payload at the newest version of its type, as reading gives it.

    What is appended keeps the version it was sent in; folding it as it was sent would make other
    rows than a rebuild.
    """
    declared = catalog.TYPES.get(event.event_type)
    if declared is None or event.schema_version >= declared.version:
        return event
    return event._replace(payload=declared.upcast(event.schema_version, event.payload))


def evolve_all(fold: Fold, events: Iterable[LeadEvent]) -> None:
    """Apply events to a fold.

    Raises:
        NeedRow: a row that was not loaded is needed.
        ViewBroken: a projection cannot read one of the events.
    """
    for event in events:
        try:
            fold.evolve(event)
        except NeedRow:
            raise
        except Exception as error:
            raise ViewBroken(event.lead, event.sequence, type(error).__name__) from error


def touched(projections: Sequence[Projection], events: Iterable[LeadEvent]) -> list[Key]:
    """Return the rows these events touch, each once, as far as the events alone tell.

    A projection that fails here fails in `evolve` too, or asks there for the rows it needs.

    Raises:
        LimitExceeded: a key is one that no store takes.
    """
    found: dict[Key, None] = {}
    for event in events:
        for projection in projections:
            if event.event_type not in projection.handles:
                continue
            try:
                found.update(dict.fromkeys(projection.keys(event)))
            except Exception:  # noqa: BLE001, S112 - a projection's bug must never lose an event
                continue
    for key in found:
        limits.check_key(*key)
    return list(found)


def foreign(projections: Sequence[Projection], events: Iterable[LeadEvent]) -> list[Key]:
    """Return every row outside the lead's partitions that any edition derived from the events.

    Raises:
        ViewBroken: a projection cannot read one of the events.
    """
    found: dict[Key, None] = {}
    for event in events:
        for projection in projections:
            try:
                found.update(dict.fromkeys(projection.foreign_keys(event)))
            except Exception as error:
                raise ViewBroken(event.lead, event.sequence, type(error).__name__) from error
    return list(found)


def digest(rows: Mapping[Key, Row]) -> str:
    """Return the SHA-256 of rows: equal rows, equal digest, in whatever order they came."""
    return canonical.digest(*(canonical.dumps(_plain(rows[key])) for key in sorted(rows)))


def compare(stored: Mapping[Key, Row], expected: Mapping[Key, Row]) -> list[Difference]:
    """Return the field-level differences, by key and field; attributes of JSON text by member."""
    out: list[Difference] = []
    for key in sorted(stored.keys() | expected.keys()):
        old, new = stored.get(key), expected.get(key)
        if old == new:
            continue
        if old is None or new is None:
            out.append(Difference(key, "", old and _plain(old), new and _plain(new)))
            continue
        out.extend(_fields(key, _plain(old), _plain(new)))
    return out


def identities_of(event: LeadEvent) -> list[Identity]:
    """Return what an event of our own claims: addresses for a lead, a deal for a session.

    Other sources may report what they like under that type; it claims nothing.
    """
    if event.event_type.startswith("crm_"):
        return claims_of(event.organization_id, event.event_type, event.payload)
    if event.event_type != "identity_linked" or event.source != OUR_SOURCE:
        return []
    channel = event.payload["channel"]
    names = (event.payload["identifier"], *event.payload.get("aliases", ()))
    return [
        Identity(keys.identity(event.organization_id, channel, name), event.lead) for name in names
    ]


def _fields(key: Key, old: dict[str, Any], new: dict[str, Any]) -> Iterable[Difference]:
    for name in sorted(old.keys() | new.keys()):
        before, after = old.get(name), new.get(name)
        if before == after:
            continue
        inner_before, inner_after = _object(before), _object(after)
        if inner_before is None or inner_after is None:
            yield Difference(key, name, before, after)
            continue
        for member in sorted(inner_before.keys() | inner_after.keys()):
            one, other = inner_before.get(member), inner_after.get(member)
            if one != other:
                yield Difference(key, f"{name}.{member}", one, other)


def _object(value: Any) -> dict[str, Any] | None:
    if not isinstance(value, str) or not value.startswith("{"):
        return None
    try:
        parsed = canonical.loads(value)
    except ValueError:
        return None
    return parsed if isinstance(parsed, dict) else None


def _plain(row: Row) -> dict[str, Any]:
    return {
        name: value.hex() if isinstance(value, bytes) else value
        for name, value in row_item(row).items()
    }

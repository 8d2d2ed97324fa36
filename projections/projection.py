"""The contract of a projection: which events it reads, which rows they touch, how a row evolves."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Protocol

from domain.event import LeadEvent
from domain.keys import Key
from domain.records import Row


class NeedRow(Exception):
    """A fold asked for a row that was not loaded. Load it with a new snapshot and fold again."""

    def __init__(self, key: Key) -> None:
        super().__init__("a row that was not loaded is needed")
        self.key = key


class Projection(Protocol):
    """A recipe for view rows. Pure: every clock comes from events, nothing is drawn or asked.

    The state of a row is the projection's own mutable object; `decode` and `encode` are inverse,
    and equal states encode to equal bytes.
    """

    name: str
    handles: frozenset[str]
    """Event types it reads; no other is given to it."""

    def partitions(self, lead: str) -> tuple[str, ...]:
        """Return the PKs of the lead's own partitions that hold its rows."""
        ...

    def owns(self, key: Key) -> bool:
        """Tell whether a row of any partition is its own: a repair deletes only such rows."""
        ...

    def keys(self, event: LeadEvent) -> Iterable[Key]:
        """Return the rows the event touches, as far as the event alone tells."""
        ...

    def foreign_keys(self, event: LeadEvent) -> Iterable[Key]:
        """Return every row outside `partitions` that any edition ever derived from the event."""
        ...

    def evolve(self, rows: "Rows", event: LeadEvent) -> None:
        """Apply one event to the rows. Raising leaves the view behind, never the event."""
        ...

    def decode(self, row: Row) -> Any:
        """Return the state a stored row holds, as an object of its own."""
        ...

    def encode(self, lead: str, key: Key, state: Any) -> Row:
        """Return the row of a state. It carries `leadOrganizationId`."""
        ...


class Rows:
    """The rows of one projection for one lead while events are folded.

    Given `loaded` rows it knows those and asks for others (`NeedRow`); given None it starts from
    nothing, where an absent row is known to be absent.
    """

    __slots__ = ("_complete", "_loaded", "_projection", "_states", "changed")

    def __init__(self, projection: Projection, loaded: Mapping[Key, Row | None] | None) -> None:
        self._projection = projection
        self._complete = loaded is None
        self._loaded = dict(loaded or {})
        self._states: dict[Key, Any] = {}
        self.changed: set[Key] = set()

    def get(self, key: Key) -> Any:
        """Return the state of a row, None if there is none. Put it back after changing it."""
        if key in self._states:
            return self._states[key]
        if key in self._loaded:
            row = self._loaded[key]
            state = None if row is None else self._projection.decode(row)
            self._states[key] = state
            return state
        if self._complete:
            return None
        raise NeedRow(key)

    def changing(self, key: Key, new: Callable[[], Any]) -> Any:
        """Return the state of a row to change in place, a new one if there is none."""
        self.changed.add(key)
        state = self._states.get(key)
        if state is None:
            state = self.get(key)
            if state is None:
                state = self._states[key] = new()
        return state

    def put(self, key: Key, state: Any) -> None:
        """Set the state of a row."""
        self._states[key] = state
        self.changed.add(key)

    def delete(self, key: Key) -> None:
        """Take a row away."""
        self._states[key] = None
        self.changed.add(key)

    def standing(self) -> dict[Key, Any]:
        """Return the states of the rows that are there, as far as they were read or put."""
        return {key: state for key, state in self._states.items() if state is not None}

    def encoded(self, lead: str) -> dict[Key, Row | None]:
        """Return what each changed row has become; None where it is taken away."""
        out: dict[Key, Row | None] = {}
        for key in self.changed:
            state = self._states[key]
            out[key] = None if state is None else self._projection.encode(lead, key, state)
        return out

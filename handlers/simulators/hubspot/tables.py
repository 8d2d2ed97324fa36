"""Where records are kept: by id and by unique value, and what is associated with what."""

from collections.abc import Iterable, Iterator

from handlers.simulators.hubspot.portal import CONTACTS
from handlers.simulators.hubspot.records import Record


class Table:
    """The records of one type. Not safe between threads."""

    def __init__(self, first_id: int) -> None:
        self._records: dict[str, Record] = {}
        self._holders: dict[tuple[str, str], str] = {}
        self._forwards: dict[str, str] = {}
        self._next = first_id

    def __iter__(self) -> Iterator[Record]:
        """Yield all, archived ones too, in the order they were made."""
        return iter(self._records.values())

    def __len__(self) -> int:
        """Return how many there are, archived ones too."""
        return len(self._records)

    def next_id(self) -> str:
        """Return an id nobody had; it is used up, whatever becomes of it."""
        self._next += 1
        return str(self._next)

    def get(self, record_id: str) -> Record | None:
        """Return a record, or the one it was merged into."""
        while record_id in self._forwards:
            record_id = self._forwards[record_id]
        return self._records.get(record_id)

    def holder(self, name: str, value: str) -> str | None:
        """Return the id of who has a unique value."""
        return self._holders.get((name, value))

    def put(self, record: Record, names: Iterable[str]) -> None:
        """Keep a record; it holds its values of these properties, and no others."""
        self.drop(record.id, keep=True)
        self._records[record.id] = record
        for name in names:
            value = record.values.get(name)
            if value:
                self._holders[name, value] = record.id

    def drop(self, record_id: str, *, keep: bool = False) -> None:
        """Let go of the values a record holds; unless it is kept, of the record too."""
        before = self._records.get(record_id)
        for taken in () if before is None else before.values.items():
            if self._holders.get(taken) == record_id:
                del self._holders[taken]
        if not keep:
            self._records.pop(record_id, None)

    def forward(self, record_id: str, to: str) -> None:
        """Let an id stand for another one from now on."""
        self.drop(record_id)
        self._forwards[record_id] = to

    def saved(self) -> tuple[dict[str, Record], dict[tuple[str, str], str]]:
        """Return what `restore` puts back."""
        return dict(self._records), dict(self._holders)

    def restore(self, saved: tuple[dict[str, Record], dict[tuple[str, str], str]]) -> None:
        """Put back what there was; ids that were used since stay used."""
        self._records, self._holders = saved


class Links:
    """Which deals belong to which contacts, in the order they were associated."""

    def __init__(self) -> None:
        self._contacts: dict[str, dict[str, None]] = {}
        self._deals: dict[str, dict[str, None]] = {}

    def of(self, kind: str, record_id: str) -> list[str]:
        """Return the ids of the other type that a record is associated with."""
        side = self._deals if kind == CONTACTS else self._contacts
        return list(side.get(record_id, ()))

    def link(self, deal_id: str, contact_id: str) -> None:
        """Associate a deal with a contact; again changes nothing."""
        self._contacts.setdefault(deal_id, {})[contact_id] = None
        self._deals.setdefault(contact_id, {})[deal_id] = None

    def unlink(self, deal_id: str, contact_id: str) -> None:
        """Undo it; what is not associated stays so."""
        self._contacts.get(deal_id, {}).pop(contact_id, None)
        self._deals.get(contact_id, {}).pop(deal_id, None)

    def move(self, kind: str, old: str, new: str) -> None:
        """Let a record take over what another one was associated with."""
        for other in self.of(kind, old):
            pair, after = (
                ((other, old), (other, new)) if kind == CONTACTS else ((old, other), (new, other))
            )
            self.unlink(*pair)
            self.link(*after)

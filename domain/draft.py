"""The draft: what a source says of one event, under our names and before any rule."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from domain.errors import FieldError


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """What a source says, under our names and unchecked; None is what it does not say.

    `address` is (channel, channelIdentifier) where the sender described the lead. `pointers` maps
    places of the native form to where they stood in this one; the longest match counts.
    `occurred_at_stated` is False if the time belongs to the message rather than to the fact: a
    second message about one fact has another. `problems` point into the sender's own form.
    """

    lead: Any = None
    address: tuple[Any, Any] | None = None
    source_type: Any = None
    source: Any = None
    event_type: Any = None
    schema_version: Any = None
    external_event_id: Any = None
    object_id: Any = None
    object_id_ref: Any = None
    occurred_at: Any = None
    occurred_at_stated: bool = True
    correlation_id: Any = None
    causation_id: Any = None
    payload: Any = None
    raw_payload: Any = None
    pointers: Mapping[str, str] = field(default_factory=dict)
    problems: tuple[FieldError, ...] = ()
    warnings: tuple[str, ...] = ()

    def placed(self, problem: FieldError) -> FieldError:
        """Point to where the field stood in the sender's own form."""
        place, rest = problem.pointer, ""
        while place:
            if place in self.pointers:
                return FieldError(self.pointers[place] + rest, problem.detail)
            place, _, last = place.rpartition("/")
            rest = f"/{last}{rest}"
        return problem


class Translator(Protocol):
    """A form in which events are sent. Pure; both methods are total over JSON objects."""

    name: str
    keeps_raw: bool
    """Whether what it cannot translate is quarantined: its senders only pass on others' words."""

    def recognises(self, document: Mapping[str, Any]) -> bool:
        """Tell whether the document is of this form, right or wrong."""
        ...

    def translate(self, document: Mapping[str, Any]) -> Draft:
        """Return what the document says."""
        ...

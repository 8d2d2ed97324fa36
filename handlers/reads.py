"""Reading leads: events, memories, features. Every read names its organization and checks it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from domain import keys
from domain.errors import FieldError, InvalidEvent, NotFound
from domain.event import LeadEvent
from domain.instants import parse_instant
from domain.ports.effects import Clock
from domain.records import Page
from projections.features import FeatureVector, features
from projections.lead_log import LeadLog
from projections.memories import MEMORIES, states_by_name
from projections.memories.context import Context, context
from projections.memories.explain import Explanation, explain
from projections.memories.render import Memory, render_all

MAX_PAGE = 200
DEFAULT_PAGE = 50


@dataclass(frozen=True, slots=True, kw_only=True)
class Moment:
    """Which events count: those that had occurred, and those that had been received, by then.

    None on an axis means all. Instants are fixed-width UTC.
    """

    as_of: str | None = None
    known_at: str | None = None

    @property
    def past(self) -> bool:
        """Whether any event may be left out."""
        return self.as_of is not None or self.known_at is not None

    def counts(self, event: LeadEvent) -> bool:
        """Tell whether an event counts."""
        return (self.as_of is None or event.occurred_at <= self.as_of) and (
            self.known_at is None or event.received_at <= self.known_at
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class EventQuery:
    """Which events of a lead to list: `since` inclusive, `until` not, ordered by occurredAt."""

    event_type: str | None = None
    since: str | None = None
    until: str | None = None
    desc: bool = False
    limit: int = DEFAULT_PAGE
    cursor: str | None = None


@dataclass(frozen=True, slots=True)
class Reads:
    """Questions about leads of one deployment.

    Every method takes the organization first and raises `NotFound` for a lead that is missing or
    another organization's, and `Unavailable` when the store cannot answer.
    """

    log: LeadLog
    now: Clock
    timezone: str

    def events(self, organization_id: str, lead: str, query: EventQuery) -> Page[LeadEvent]:
        """List events by (occurredAt, eventId); the index may lag behind the log."""
        self.log.reader.head(lead, organization_id)
        page = self.log.store.select_by_time(
            lead,
            event_type=query.event_type,
            since=query.since,
            until=query.until,
            desc=query.desc,
            limit=max(1, min(query.limit, MAX_PAGE)),
            cursor=query.cursor,
        )
        return Page([self.log.reader.decode(each) for each in page.items], page.cursor)

    def event(self, organization_id: str, lead: str, sequence: int) -> LeadEvent:
        """Return one event with the sender's own bytes, decompressed by whoever shows them."""
        head = self.log.reader.head(lead, organization_id)
        if not 1 <= sequence <= head.version:
            message = "There is no such event."
            raise NotFound(message, hint="Sequences of a lead run from 1 to its version.")
        event = self.log.reader.events(lead, gt=sequence - 1, lte=sequence)[0]
        return event._replace(raw_payload=self.log.store.raw_payload(lead, sequence))

    def event_by_key(self, organization_id: str, source: str, external_event_id: str) -> LeadEvent:
        """Return the event that a (source, externalEventId) names, through its receipt."""
        receipt = self.log.store.receipt(keys.receipt(organization_id, source, external_event_id))
        if receipt is None:
            message = "No event has this source and externalEventId."
            raise NotFound(message, hint="Check both; externalEventId is compared exactly.")
        return self.event(organization_id, receipt.lead, receipt.sequence)

    def memories(
        self,
        organization_id: str,
        lead: str,
        *,
        moment: Moment = Moment(),
        memory_type: str | None = None,
        include_expired: bool = False,
    ) -> list[Memory]:
        """Return memories by type and key, as of a moment; expired ones only on request."""
        now = moment.as_of or moment.known_at or self.now()
        states = self._states(organization_id, lead, moment)
        found = render_all(states, now, include_expired=include_expired)
        return [each for each in found if memory_type in {None, each.memory_type}]

    def memory(
        self, organization_id: str, lead: str, memory_type: str, key: str, *, moment: Moment
    ) -> Memory:
        """Return one memory, also an expired one."""
        for each in self.memories(
            organization_id, lead, moment=moment, memory_type=memory_type, include_expired=True
        ):
            if each.key == key:
                return each
        message = "The lead has no such memory."
        raise NotFound(message, hint="List the lead's memories for their types and keys.")

    def explain(self, organization_id: str, lead: str, memory_type: str, key: str) -> Explanation:
        """Return the events a memory stands on, from the log itself."""
        events = self._events(organization_id, lead)
        return explain(events, memory_type, key, self.now())

    def context(
        self,
        organization_id: str,
        lead: str,
        *,
        budget: int,
        locale: str = "pt-BR",
        form: str = "xml",
        moment: Moment = Moment(),
    ) -> Context:
        """Return what an agent may read of the memories within a budget of tokens."""
        now = moment.as_of or moment.known_at or self.now()
        found = self.memories(organization_id, lead, moment=moment)
        return context(
            found, now=now, budget=budget, locale=locale, format=form, timezone=self.timezone
        )

    def features(
        self, organization_id: str, lead: str, *, as_of: str | None = None
    ) -> FeatureVector:
        """Return the feature vector at `as_of`; in the past, of the events that had occurred."""
        states = self._states(organization_id, lead, Moment(as_of=as_of))
        return features(states, as_of or self.now(), timezone=self.timezone)

    def _states(
        self, organization_id: str, lead: str, moment: Moment
    ) -> Mapping[tuple[str, str], Any]:
        if not moment.past:
            view = self.log.reader.view(lead, MEMORIES, organization_id=organization_id)
            return states_by_name(view.states)
        events = (each for each in self._events(organization_id, lead) if moment.counts(each))
        fold = self.log.reader.fold(lead, [MEMORIES], events)
        return states_by_name(fold.states(MEMORIES).standing())

    def _events(self, organization_id: str, lead: str) -> list[LeadEvent]:
        head = self.log.reader.head(lead, organization_id)
        return self.log.reader.events(lead, lte=head.version)


def instant(text: str | None, name: str) -> str | None:
    """Return the instant of a parameter, None if it was not given.

    Raises:
        InvalidEvent: it is no time with an offset; the error names the parameter.
    """
    if text is None:
        return None
    try:
        return parse_instant(text)
    except ValueError as error:
        problem = FieldError(f"/query/{name}", str(error))
        hint = "Give it as ISO 8601, for example 2026-03-15T14:00:00Z."
        raise InvalidEvent("A time is not valid.", hint=hint, fields=[problem]) from None

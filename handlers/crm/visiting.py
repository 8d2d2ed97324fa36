"""Working on one row of the mirror: take its lease, plan, ask, record, until nothing is left to do."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from domain import keys
from domain.conversation.facts import CRM as SOURCE
from domain.conversation.facts import Facts
from domain.crm.claims import claims_of
from domain.crm.content import Owner, marks
from domain.crm.outcomes import learn
from domain.crm.planning import next_step
from domain.crm.recording import blocked
from domain.crm.replies import Reply
from domain.crm.sync import CrmSync
from domain.crm.visit import Answer, Configuration, Ending, Note, Request, Visit
from domain.errors import Outage, Unavailable, ViewBroken
from domain.event import NewEvent
from domain.ports.effects import Clock, Crm, IdFactory
from handlers.crm import leases
from handlers.crm.claims import claimed
from handlers.crm.leases import Lease
from handlers.crm.made import MadeContacts
from projections.crm import CRM
from projections.deciding import CheckFailed, ClaimTaken, Decision, Recorded
from projections.lead_log import LeadLog
from projections.reading import Ground

_MOST_STEPS: Final = 40
"""Of one visit; the longest way there is takes half of them."""


class LeaseLost(Exception):
    """Another worker has the row by now, or may have it before a request would be over."""


class _Overtaken(Exception):
    """Somebody set the row right in the meantime; what was planned is no longer true."""


class ConcurrentUpdate(Unavailable):
    """Other writers of the lead were faster, eight times."""

    code = "crm_sync_concurrent_update"
    title = "Others changed the lead at the same time"


@dataclass(frozen=True, slots=True, kw_only=True)
class Visited:
    """What became of a row. `reply` is why the account rests, if it does.

    `answers` counts requests by what their answers meant (`Kind`). `resolved` counts what became of
    creations in doubt: found, archived, reposted; and adopted, where the CRM refused a second deal.
    """

    ending: Ending
    requests: int = 0
    answers: Counter[str] = field(default_factory=Counter)
    events: Counter[str] = field(default_factory=Counter)
    resolved: Counter[str] = field(default_factory=Counter)
    kept: int = 0
    quarantined: int = 0
    waited_since: str = ""
    reply: Reply | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Visits:
    """Works on rows, one at a time."""

    log: LeadLog
    crm: Crm
    now: Clock
    new_id: IdFactory
    made: MadeContacts = field(default_factory=MadeContacts)

    def load(self, organization_id: str, lead: str, session_id: str) -> CrmSync | None:
        """Return a row as of one moment, read consistently; None if there is none.

        Raises:
            ViewBroken, Unavailable: see `Reader.ground`.
        """
        key = keys.crm_sync(session_id)
        ground = self.log.reader.ground(lead, [CRM], [key])
        if ground.head is None or ground.head.organization_id != organization_id:
            return None
        return _row(ground, session_id)

    def visit(self, lead: str, sync: CrmSync, lease: Lease, config: Configuration) -> Visited:
        """Bring a row forward until it is confirmed, or cannot go on for now.

        Raises:
            LeaseLost: nothing of what was learned last was recorded.
            ConcurrentUpdate, Unavailable, Uncertain: see `Recording.run`; lease and marker stand.
        """
        return _OneVisit(self, lead, sync, lease, config).run()


class _OneVisit:
    """One visit under way."""

    def __init__(
        self, visits: Visits, lead: str, sync: CrmSync, lease: Lease, config: Configuration
    ) -> None:
        self._visits = visits
        self._lead = lead
        self._sync = sync
        self._lease = lease
        self._config = config
        self._visit = Visit.of(sync, visits.now(), lease.sent)
        self._phone = self._visit.desired["contact"].get("phone", "")
        self._visit.contact_made = visits.made.of(self._phone)
        self._answers: Counter[str] = Counter()
        self._events: Counter[str] = Counter()
        self._resolved: Counter[str] = Counter()

    def run(self) -> Visited:
        """Take step after step until one ends the visit."""
        waited_since = self._sync.pending_since
        try:
            note = self._last_step()
        except _Overtaken:
            note = Note(ending="overtaken")
        return self._over(note, waited_since)

    def _last_step(self) -> Note:
        for _ in range(_MOST_STEPS):
            step = next_step(self._sync, self._visit, self._config)
            note = self._ask(step) if isinstance(step, Request) else step
            if note is not None:
                note = self._record(note)
                if note.ending is not None:
                    return note
        message = "A visit to a row of the mirror does not come to an end."
        raise RuntimeError(message)

    def _over(self, note: Note, waited_since: str) -> Visited:
        ending: Ending = note.ending or "nothing"
        settled = ending == "synced" and not self._sync.verify_after
        # What was learned stands; if somebody took the lease since, it is theirs to give back.
        leases.give_back(self._visits.log.table, self._lease, settled=settled)
        return Visited(
            ending=ending,
            requests=self._answers.total(),
            answers=self._answers,
            events=self._events,
            resolved=self._resolved,
            kept=len(self._visit.kept),
            quarantined=len(self._visit.quarantined),
            waited_since=waited_since,
            reply=note.reply,
        )

    def _ask(self, request: Request) -> Note | None:
        self._remember(request)
        if not self._lease.permits(self._visits.now()):
            raise LeaseLost
        reply: Reply = getattr(self._visits.crm, request.verb)(**request.arguments)
        self._answers[str(reply.kind)] += 1
        self._visit.now = self._visits.now()
        return learn(
            Answer(
                sync=self._sync,
                visit=self._visit,
                config=self._config,
                request=request,
                reply=reply,
            )
        )

    def _remember(self, request: Request) -> None:
        """Note what goes out before it does: it may arrive without anybody hearing of it."""
        owner: Owner = "contact" if "contact" in request.verb else "deal"
        sends = marks(owner, request.restates) | marks(owner, request.sends)
        noted = leases.remember(self._visits.log.table, self._lease, sends)
        if noted is None:
            raise LeaseLost
        self._lease = noted
        self._visit.ours.update(sends)

    def _record(self, note: Note) -> Note:
        """Record what there is to record; return what ended up being recorded."""
        if not note.facts:
            return note
        try:
            recorded = self._commit(note)
        except ClaimTaken:
            note = blocked(self._visit, "deal_shared")
            recorded = self._commit(note)
        if not recorded.events:
            raise _Overtaken
        self._events.update(event.event_type for event in recorded.events)
        self._resolved.update(_resolved(recorded, reposts=self._visit.reposts))
        self._sync = self._standing(recorded)
        for event in recorded.events:
            if event.event_type == "crm_contact_linked" and event.payload["how"] == "created":
                self._visits.made.remember(self._phone, event.payload["contactId"])
        return note

    def _commit(self, note: Note) -> Recorded:
        sync, visits = self._sync, self._visits
        events = self._named(note)
        claims = [
            each
            for event in events
            for each in claims_of(sync.organization_id, event.event_type, event.payload)
        ]
        expected = _links(sync)

        def decide(ground: Ground) -> Sequence[NewEvent]:
            row = _row(ground, sync.session_id)
            return events if row is not None and _links(row) == expected else []

        try:
            return visits.log.record(
                Decision(
                    organization_id=sync.organization_id,
                    lead=self._lead,
                    decide=decide,
                    stands_on=[CRM],
                    keys=[keys.crm_sync(sync.session_id)],
                    checks=[self._lease.held],
                    claims=claims,
                )
            )
        except CheckFailed:
            raise LeaseLost from None
        except (Outage, ViewBroken):
            raise
        except Unavailable as error:
            raise ConcurrentUpdate(error.detail, hint=error.hint) from error

    def _named(self, note: Note) -> list[NewEvent]:
        """Return the events of a note; each has a name of its own, the same at every try."""
        visits, session_id = self._visits, self._sync.session_id
        facts = Facts(
            organization_id=self._sync.organization_id, now=visits.now(), new_id=visits.new_id
        )
        events = []
        for fact in note.facts:
            token = visits.new_id()
            said = dict(fact.payload)
            if fact.event_type == "crm_deal_creation_started":
                said["token"] = token
            if fact.event_type == "crm_deal_linked":
                said["claim"] = self._claim_of(fact.payload["deal_id"])
            name = f"{session_id}:{fact.payload.get('revision') or fact.event_type}:{token}"
            events.append(facts.fact(fact.event_type, SOURCE, name, session_id=session_id, **said))
        return events

    def _claim_of(self, deal_id: str) -> int | None:
        """Return which claim of a deal a link makes, or has already."""
        recorder = self._visits.log.reader.recorder
        return claimed(recorder, self._sync.organization_id, deal_id).said

    def _standing(self, recorded: Recorded) -> CrmSync:
        """Return the row as a commit left it."""
        key = keys.crm_sync(self._sync.session_id)
        for row in recorded.rows:
            if row.key == key:
                sync: CrmSync = CRM.decode(row)
                return sync
        now = self._sync
        loaded = self._visits.load(now.organization_id, self._lead, now.session_id)
        if loaded is None:
            raise _Overtaken
        return loaded


def _row(ground: Ground, session_id: str) -> CrmSync | None:
    sync: CrmSync | None = ground.fold.states(CRM).get(keys.crm_sync(session_id))
    return sync


def _resolved(recorded: Recorded, *, reposts: bool) -> Iterator[str]:
    for event in recorded.events:
        how = str(event.payload.get("how", ""))
        if event.event_type == "crm_sync_reconciled":
            yield how
        elif event.event_type == "crm_deal_linked" and how == "created" and reposts:
            yield "reposted"
        elif event.event_type == "crm_deal_linked" and how == "adopted":
            yield how


def _links(sync: CrmSync) -> tuple[str, str, int]:
    """Return what people set right: what it links to, and which creation it waits for."""
    return sync.deal_id, sync.creation_token, sync.key_suffix

"""A HubSpot on this machine: real HTTP on loopback, its rules, and everything that goes wrong with it."""

import heapq
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from itertools import count
from random import Random
from typing import Any, Self
from urllib.parse import urlsplit

from domain.ports.effects import Clock
from handlers.simulators.control import ROOT
from handlers.simulators.dice import Dice
from handlers.simulators.hubspot.account import Account
from handlers.simulators.hubspot.api import Api
from handlers.simulators.hubspot.desk import PAGE, Desk
from handlers.simulators.hubspot.faults import Drop, Fault, Script, meet
from handlers.simulators.hubspot.journal import Journal, is_write
from handlers.simulators.hubspot.limits import Limits
from handlers.simulators.hubspot.moments import after
from handlers.simulators.hubspot.people import People
from handlers.simulators.hubspot.portal import CONTACTS, DEALS
from handlers.simulators.hubspot.records import Record
from handlers.simulators.hubspot.setup import Setup
from handlers.simulators.server import Reply, Request, Server

_Due = tuple[str, int, Request, int]
"""When, in which order, what, and its number in the journal."""


class HubSpot:
    """Plays one account. A context: inside it listens on `url`. Safe between threads.

    Every id, lag and fault follows from the random numbers it was given and from what is asked of
    it, so one seed tells one story. What comes late is carried out, at its time, before anything
    that is done to the account at a later time.

    Args:
        setup: what the account is like.
        random: where every fault and every id comes from.
        now: the account's clock; a `VirtualClock` lets a test decide what time it is.

    Raises:
        OSError: the port cannot be listened on.
    """

    def __init__(self, setup: Setup, *, random: Random, now: Clock) -> None:
        self._now = now
        self._people = People(self._caught_up)
        self._decided = threading.local()
        self._script = Script()
        self.script = self._script.add
        """Lets something happen to requests from now on (`Script.add`)."""
        self._begin(setup, random)
        self._server = Server(setup.port, self._answer, self._glance)

    def __enter__(self) -> Self:
        """Begin to listen."""
        self._server.start()
        return self

    def __exit__(self, *_: object) -> None:
        """End; connections close, and what comes late never does."""
        self._server.stop()
        self._server.cut()

    @property
    def url(self) -> str:
        """What stands for https://api.hubapi.com."""
        return self._server.url

    @property
    def setup(self) -> Setup:
        """What the account is like."""
        return self._account.setup

    @property
    def token(self) -> str:
        """The first token it accepts."""
        return self.setup.access[0].token

    @property
    def journal(self) -> Journal:
        """Every request, in the order of arrival."""
        return self._journal

    @property
    def people(self) -> People:
        """Who works in the account by hand."""
        return self._people

    @property
    def late(self) -> int:
        """How many requests are still to be carried out."""
        self._caught_up()
        return len(self._due)

    def contacts(self, *, archived: bool = False) -> list[Record]:
        """Return the contacts that are archived, or those that are not."""
        return self._records(CONTACTS, archived=archived)

    def deals(self, *, archived: bool = False) -> list[Record]:
        """Return the deals that are archived, or those that are not."""
        return self._records(DEALS, archived=archived)

    def contacts_of(self, deal_id: str) -> list[str]:
        """Return the ids of the contacts of a deal.

        Raises:
            Refused: there is no such deal.
        """
        account, _ = self._caught_up()
        with account.lock:
            return account.associated(account.find(DEALS, deal_id))

    def configure(self, **changes: Any) -> None:
        """Change what the account is like: fields of `Setup`, but for those only a start reads.

        Those are `port`, `stages`, `keys` and `journal`.
        """
        with self._account.lock:
            self._account.setup = replace(self._account.setup, **changes)

    @contextmanager
    def refusing(self) -> Iterator[None]:
        """Refuse connections meanwhile: who asks knows that nothing was sent."""
        with self._server.refusing():
            yield

    def reset(self, random: Random, setup: Setup | None = None) -> None:
        """Begin with an empty account, at the same address: cheaper than another simulator.

        Nobody may be asking meanwhile.

        Args:
            random: as at the start.
            setup: what the account is like; as at the start unless given.
        """
        self._begin(setup or self._setup, random)

    def _begin(self, setup: Setup, random: Random) -> None:
        self._setup = setup
        self._dice = Dice(random)
        self._account = Account(setup, self._dice, self._now())
        self._api = Api(self._account, Limits())
        self._journal = Journal(setup.journal)
        self._script.clear()
        self._due: list[_Due] = []
        self._order = count()
        self._desk = Desk(
            account=self._account,
            journal=self._journal,
            script=self._script,
            people=self._people,
            late=lambda: len(self._due),
        )

    def _records(self, kind: str, *, archived: bool) -> list[Record]:
        account, _ = self._caught_up()
        with account.lock:
            return [
                record
                for record in account.tables[kind]
                if (record.archived_at is not None) == archived
            ]

    def _caught_up(self) -> tuple[Account, str]:
        """Carry out what is due by now; return the account and what time it is."""
        at = self._now()
        with self._account.lock:
            while self._due and self._due[0][0] <= at:
                due, _, request, number = heapq.heappop(self._due)
                self._api.answer(request, due)
                self._journal.executed(number)
        return self._account, at

    def _glance(self, request: Request) -> Reply | None:
        """Decide what happens to a request; what is not read is answered at once."""
        path = urlsplit(request.path).path
        if _is_own(path):
            return None
        fault = self._script.take(request.method, path) or self._drawn(request.method, path)
        self._decided.fault = fault
        if isinstance(fault, Drop) and fault.unread:
            self._journal.begin(request, self._now(), _name(fault))
            return Reply(drop=True, reset=fault.reset, hang_s=fault.hang_s)
        return None

    def _drawn(self, method: str, path: str) -> Fault | None:
        dice = self._dice.roll(f"fault:{method} {path}")
        return self._account.setup.faults.draw(dice, write=is_write(method, path))

    def _answer(self, request: Request) -> Reply:
        _, at = self._caught_up()
        if _is_own(urlsplit(request.path).path):
            return self._desk.answer(request, at)
        fault: Fault | None = self._decided.fault
        number = self._journal.begin(request, at, _name(fault))
        perform = partial(self._perform, request, number, at)
        reply = meet(fault, perform, partial(self._later, request, number, at))
        if not reply.drop and reply.raw is None:
            self._journal.answered(number, reply.status)
        return reply

    def _perform(self, request: Request, number: int, at: str) -> Reply:
        reply = self._api.answer(request, at)
        self._journal.executed(number)
        return reply

    def _later(self, request: Request, number: int, at: str, seconds: float) -> None:
        with self._account.lock:
            heapq.heappush(self._due, (after(at, seconds), next(self._order), request, number))


def _is_own(path: str) -> bool:
    return path in {PAGE, ROOT} or path.startswith(f"{ROOT}/")


def _name(fault: Fault | None) -> str:
    return "" if fault is None else type(fault).__name__

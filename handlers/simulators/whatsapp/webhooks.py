"""The way to the service: changes become signed webhooks, posted until they are answered with 2xx."""

import json
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final
from urllib.parse import urlencode

from domain.ports.effects import Clock
from handlers.simulators.whatsapp.agenda import Agenda, Place
from handlers.simulators.whatsapp.envelopes import Change, Layout, assemble, sign, to_bytes
from handlers.simulators.whatsapp.faults import WebhookFault
from handlers.simulators.whatsapp.posting import Answer, request

GIVE_UP_S: Final = 7 * 86_400.0
"""How long Meta tries. Source: research/whatsapp.md §1.5."""

HOLD_S: Final = 2.0
"""How long an item waits for another to share its POST with."""

# Meta says "with decreasing frequency" and no numbers; these are ours.
_FIRST_RETRY_S: Final = 1.0
_LONGEST_RETRY_S: Final = 3600.0
_DOUBLINGS: Final = 12
_EARLY_TIMEOUT_S: Final = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Posted:
    """One POST of a webhook, and what came back. `delivery` is the same for each try of one."""

    delivery: int
    attempt: int
    at: str
    body: bytes
    signature: str
    item_ids: tuple[str, ...]
    answer: Answer


@dataclass(frozen=True, slots=True, kw_only=True)
class _Delivery:
    number: int
    body: bytes
    item_ids: tuple[str, ...]
    began_s: float


class Webhooks:
    """Posts webhooks and keeps what was answered. Safe between threads.

    Args:
        url: where the service listens.
        secret: what they are signed with; empty leaves them unsigned.
        timeout_s: how long an answer is waited for, in real seconds.
    """

    def __init__(
        self, url: str, *, secret: str, agenda: Agenda, now: Clock, timeout_s: float
    ) -> None:
        self.url = url
        self.given_up = 0
        """How many webhooks were never answered with 2xx in all the time Meta tries."""
        self._secret = secret
        self._agenda = agenda
        self._now = now
        self._timeout_s = timeout_s
        self._lock = threading.Lock()
        self._posted: list[Posted] = []
        self._held: list[Change] = []
        self._layout: Layout = "messages"
        self._deliveries = 0
        self._own = threading.local()

    @property
    def posted(self) -> list[Posted]:
        """Every POST so far, in the order of their answers."""
        with self._lock:
            return list(self._posted)

    def bring(self, *items: tuple[Change, WebhookFault], place: Place | None = None) -> None:
        """Let items go on their way; those brought together leave in the order of their delays.

        Args:
            items: each with what happens to it.
            place: what the agenda keeps for them; none if they come as they are.
        """
        leaving = [
            (fault.delay_s, partial(self._leave, change, fault))
            for change, fault in items
            if not fault.lost
        ]
        together: list[Change] | None = getattr(self._own, "together", None)
        if place is not None:
            self._agenda.end(place, *leaving)
        elif together is not None:
            together += [change for change, _ in items]
        else:
            self._agenda.later(*leaving)

    @contextmanager
    def together(self, layout: Layout) -> Iterator[None]:
        """Let what this thread brings meanwhile leave in one POST, laid out so."""
        collected: list[Change] = []
        self._own.together = collected
        try:
            yield
        finally:
            self._own.together = None
        if collected:
            self._agenda.later((0.0, partial(self._leave_together, collected, layout)))

    def post_now(self, change: Change) -> None:
        """Post in this thread and come back with the first answer; retries follow as ever."""
        self._begin([change], "messages", timeout_s=min(self._timeout_s, _EARLY_TIMEOUT_S))

    def handshake(self, token: str, challenge: str) -> Answer:
        """Ask the service for the challenge, as Meta does when a webhook is set up."""
        query = urlencode(
            {"hub.mode": "subscribe", "hub.verify_token": token, "hub.challenge": challenge}
        )
        join = "&" if "?" in self.url else "?"
        return request(
            "GET", f"{self.url}{join}{query}", body=None, headers={}, timeout_s=self._timeout_s
        )

    def _leave_together(self, changes: Sequence[Change], layout: Layout) -> None:
        self._begin(changes, layout)

    def _leave(self, change: Change, fault: WebhookFault) -> None:
        if fault.layout is not None:
            with self._lock:
                self._held.append(change)
                self._layout = fault.layout
            self._agenda.later((HOLD_S, self._flush))
            return
        body, item_ids = self._begin([*self._take_held(), change], self._layout)
        for number in range(1, fault.copies):
            again = partial(self._post_again, body, item_ids)
            self._agenda.later((number * fault.copy_after_s, again))

    def _post_again(self, body: bytes, item_ids: tuple[str, ...]) -> None:
        # Another delivery, its keys in another order: whoever knows bodies again knows none here.
        self._post(self._delivery(to_bytes(json.loads(body), sort_keys=True), item_ids), 1)

    def _flush(self) -> None:
        held = self._take_held()
        if held:
            self._begin(held, self._layout)

    def _take_held(self) -> list[Change]:
        with self._lock:
            held, self._held = self._held, []
            return held

    def _begin(
        self, changes: Sequence[Change], layout: Layout, timeout_s: float | None = None
    ) -> tuple[bytes, tuple[str, ...]]:
        item_ids = tuple(change.item_id for change in changes)
        delivery = self._delivery(to_bytes(assemble(changes, layout)), item_ids)
        self._post(delivery, 1, timeout_s)
        return delivery.body, item_ids

    def _delivery(self, body: bytes, item_ids: tuple[str, ...]) -> _Delivery:
        with self._lock:
            self._deliveries += 1
            return _Delivery(
                number=self._deliveries,
                body=body,
                item_ids=item_ids,
                began_s=self._agenda.seconds,
            )

    def _post(self, delivery: _Delivery, attempt: int, timeout_s: float | None = None) -> None:
        signature = sign(self._secret, delivery.body) if self._secret else ""
        signed = {"X-Hub-Signature-256": signature} if signature else {}
        answer = request(
            "POST",
            self.url,
            body=delivery.body,
            headers={"Content-Type": "application/json", **signed},
            timeout_s=timeout_s or self._timeout_s,
        )
        posted = Posted(
            delivery=delivery.number,
            attempt=attempt,
            at=self._now(),
            body=delivery.body,
            signature=signature,
            item_ids=delivery.item_ids,
            answer=answer,
        )
        with self._lock:
            self._posted.append(posted)
        if not answer.good:
            self._retry(delivery, attempt)

    def _retry(self, delivery: _Delivery, attempt: int) -> None:
        wait_s = min(_FIRST_RETRY_S * 2.0 ** min(attempt - 1, _DOUBLINGS), _LONGEST_RETRY_S)
        if self._agenda.seconds + wait_s - delivery.began_s > GIVE_UP_S:
            with self._lock:
                self.given_up += 1
            return
        self._agenda.later((wait_s, partial(self._post, delivery, attempt + 1)))

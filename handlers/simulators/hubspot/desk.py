"""The simulator's own routes, for who runs it as another process: see what there is, do what people do."""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final
from urllib.parse import urlsplit

from handlers.simulators.control import ROOT, as_json, document_of, no_route, refusal
from handlers.simulators.hubspot.account import Account
from handlers.simulators.hubspot.answers import JsonObject, Refused
from handlers.simulators.hubspot.faults import NAMED, Script
from handlers.simulators.hubspot.journal import Entry, Journal
from handlers.simulators.hubspot.page import page
from handlers.simulators.hubspot.people import People
from handlers.simulators.hubspot.portal import CONTACTS, DEALS, KINDS
from handlers.simulators.hubspot.records import Record
from handlers.simulators.server import Reply, Request

PAGE: Final = "/"

_LAST: Final = 50
"""Records and requests that one answer shows."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Desk:
    """Answers what stands at `/` and under `/_simulator`.

    Args:
        account: what is shown.
        journal: what was asked of it.
        script: what is to go wrong.
        people: what people can do.
        late: tells how many requests are still to be carried out.
    """

    account: Account
    journal: Journal
    script: Script
    people: People
    late: Callable[[], int]

    def answer(self, request: Request, at: str) -> Reply:
        """Answer one request; a page of a foreign site gets nothing done."""
        path = urlsplit(request.path).path
        refused = refusal(request)
        if refused is not None:
            return refused
        if request.method == "POST":
            return self._do(path.removeprefix(f"{ROOT}/"), document_of(request))
        with self.account.lock:
            return page(self.account, at) if path == PAGE else self._show(path, at)

    def _show(self, path: str, at: str) -> Reply:
        name = path.removeprefix(ROOT).strip("/")
        if not name:
            return as_json(self._overview(at))
        if name in KINDS:
            records = list(self.account.tables[name])[-_LAST:]
            return as_json({"results": [self._record(record) for record in records]})
        if name == "journal":
            entries = list(self.journal)[-_LAST:]
            return as_json({"results": [_entry(entry) for entry in entries]})
        return no_route()

    def _do(self, name: str, asked: JsonObject) -> Reply:
        acts: dict[str, Callable[[JsonObject], None]] = {
            "faults": self._fault,
            "move": lambda told: self.people.move(_text(told, "deal"), _text(told, "stage")),
            "archive": lambda told: self.people.archive(_text(told, "kind"), _text(told, "id")),
            "restore": lambda told: self.people.restore(_text(told, "kind"), _text(told, "id")),
        }
        if name not in acts:
            return no_route()
        try:
            acts[name](asked)
        except KeyError as missing:
            problem = {"error": f"Missing or unknown: {missing.args[0]}."}
            return as_json(problem, HTTPStatus.UNPROCESSABLE_ENTITY)
        except Refused as refused:
            return as_json({"error": refused.document["message"]}, HTTPStatus.UNPROCESSABLE_ENTITY)
        return as_json({"done": name}, HTTPStatus.ACCEPTED)

    def _fault(self, asked: JsonObject) -> None:
        method = asked.get("method")
        self.script.add(
            NAMED[_text(asked, "fault")],
            method=method if isinstance(method, str) else None,
            path=str(asked.get("path", "*")),
            nth=_count(asked.get("nth")),
            times=_count(asked.get("times")),
        )

    def _overview(self, at: str) -> JsonObject:
        living = {
            kind: [each for each in self.account.tables[kind] if each.archived_at is None]
            for kind in KINDS
        }
        stages = Counter(deal.values.get("dealstage", "") for deal in living[DEALS])
        return {
            "now": at,
            "contacts": len(living[CONTACTS]),
            "deals": len(living[DEALS]),
            "dealsByStage": dict(stages),
            "requests": len(self.journal),
            "late": self.late(),
            "faults": sorted(NAMED),
        }

    def _record(self, record: Record) -> JsonObject:
        return {
            "id": record.id,
            "properties": record.shown,
            "archived": record.archived_at is not None,
            "associated": self.account.associated(record),
        }


def _entry(entry: Entry) -> JsonObject:
    return {
        "number": entry.number,
        "at": entry.at,
        "method": entry.method,
        "path": entry.path,
        "fault": entry.fault,
        "status": entry.status,
        "executed": entry.executed,
    }


def _text(asked: JsonObject, name: str) -> str:
    value = asked.get(name)
    if not isinstance(value, str) or (name == "kind" and value not in KINDS):
        raise KeyError(name)
    return value


def _count(value: Any) -> int:
    return value if isinstance(value, int) and value > 0 else 1

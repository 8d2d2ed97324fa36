"""What an account needs once: the two properties whose values only one record may have."""

from typing import Final, Literal, NamedTuple

from adapters.hubspot import properties, records
from adapters.hubspot.client import HubSpotClient
from adapters.hubspot.paths import VERSION, Paths
from adapters.hubspot.requests import Requests
from adapters.hubspot.wire import ObjectKind
from domain.crm.replies import Kind, Reply

State = Literal["stands", "missing", "created", "unfit", "unknown"]

_KINDS: Final[tuple[ObjectKind, ...]] = ("contact", "deal")


class Step(NamedTuple):
    """One property. `unfit`: it is there and not unique, which HubSpot lets nobody change."""

    kind: ObjectKind
    name: str
    state: State
    reply: Reply | None = None
    """Why it is unknown."""


def bootstrap(
    client: HubSpotClient, *, version: str = VERSION, apply: bool = False
) -> tuple[Step, ...]:
    """Return what stands and what is missing, or with `apply` create what is missing.

    Its token needs `crm.schemas.contacts.write` and `crm.schemas.deals.write`, which no other part
    of the mirror needs. Doing it twice changes nothing.
    """
    requests = Requests(Paths(version))
    return tuple(_step(client, requests, kind, apply=apply) for kind in _KINDS)


def _step(client: HubSpotClient, requests: Requests, kind: ObjectKind, *, apply: bool) -> Step:
    before = _look(client, requests, kind)
    if before.state != "missing" or not apply:
        return before
    answer = client.ask(requests.create_unique_property(kind))
    if isinstance(answer, Reply) and answer.kind not in {Kind.CONFLICT, Kind.AMBIGUOUS}:
        return before._replace(state="unknown", reply=answer)
    # Whoever made it, and whatever was answered: it counts as it stands.
    after = _look(client, requests, kind)
    return after._replace(state="created") if after.state == "stands" else after


def _look(client: HubSpotClient, requests: Requests, kind: ObjectKind) -> Step:
    name = properties.UNIQUE[kind]
    answer = client.ask(requests.unique_property(kind))
    if isinstance(answer, Reply):
        if answer.kind is Kind.ABSENT:
            return Step(kind, name, "missing")
        return Step(kind, name, "unknown", answer)
    unique = records.is_unique(answer, kind)
    if isinstance(unique, Reply):
        return Step(kind, name, "unknown", unique)
    return Step(kind, name, "stands" if unique else "unfit")

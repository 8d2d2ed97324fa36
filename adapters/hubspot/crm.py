"""HubSpot as the CRM of the mirror: the port `Crm`, each method one request."""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Final, Literal

from adapters.hubspot import description, phones, properties, records
from adapters.hubspot.classification import not_made, unreadable
from adapters.hubspot.client import HubSpotClient
from adapters.hubspot.paths import VERSION, Paths
from adapters.hubspot.requests import BATCH, PAGE, Requests
from adapters.hubspot.wire import Answer, ObjectKind, Request, Verb, rows
from domain.crm.replies import Kind, Pipeline, Remote, Reply
from domain.ports.effects import ContactKey, DealKey

_ENOUGH: Final = 20
"""Contacts of one phone: who has so many cannot be told apart by reading more."""

_MOST_PAGES: Final = 10_000 // PAGE
"""HubSpot's search ends after 10,000. Source: research/crm.md §1.2."""


class HubSpotCrm:
    """See `domain.ports.effects.Crm`. Threads may share one.

    Args:
        client: makes the requests; one that only reads refuses the methods that change something.
        version: of the API, a date.
        pipeline: the id of the pipeline deals are created in.
    """

    def __init__(
        self, client: HubSpotClient, *, version: str = VERSION, pipeline: str = "default"
    ) -> None:
        self._client = client
        self._requests = Requests(Paths(version))
        self._pipeline = pipeline
        self._descriptions = description.Descriptions()

    @property
    def allowed(self) -> tuple[int, float]:
        """How many requests go out in how many seconds, by what the account has told so far."""
        return self._client.allowed

    @property
    def day_left(self) -> float | None:
        """The share of a day's requests that is left, 0 to 1, as an answer told last; None before."""
        return self._client.day_left

    def close(self) -> None:
        """Close what connections are open."""
        self._client.close()

    def find_contact(self, *, by: ContactKey, value: str) -> Reply:
        """See `Crm.find_contact`."""
        return self._one("contact", self._requests.find("contact", by, value))

    def search_contacts(self, phones: Sequence[str]) -> Reply:
        """See `Crm.search_contacts`. What is found really has one of these phones."""
        return self._search(phones)

    def create_contact(self, properties: Mapping[str, str]) -> Reply:
        """See `Crm.create_contact`."""
        values = self._values("contact", properties)
        if values is None:
            return not_made()
        return self._one("contact", self._requests.create("contact", values))

    def update_contact(self, contact_id: str, properties: Mapping[str, str]) -> Reply:
        """See `Crm.update_contact`."""
        values = self._values("contact", properties)
        if values is None:
            return not_made()
        return self._one("contact", self._requests.update("contact", contact_id, values))

    def find_deal(self, *, by: DealKey, value: str, archived: bool = False) -> Reply:
        """See `Crm.find_deal`."""
        reply = self._one("deal", self._requests.find("deal", by, value, archived=archived))
        if reply.record is not None:
            self._descriptions.remember(reply.record.id, reply.record.properties)
        return reply

    def find_deals(self, keys: Sequence[str], *, archived: bool = False) -> Reply:
        """See `Crm.find_deals`. Contacts are not told, and no record is if one request failed."""
        wanted = list(dict.fromkeys(keys))
        found: list[Remote] = []
        reply = Reply(kind=Kind.DONE)
        for first in range(0, len(wanted), BATCH):
            reply = self._read_many(wanted[first : first + BATCH], archived=archived)
            if reply.kind is not Kind.DONE:
                return reply
            found += reply.records
        return dataclasses.replace(reply, records=tuple(found))

    def search_deals(self, contact_id: str) -> Reply:
        """See `Crm.search_deals`. Of one page; whoever has more is looked at by hand."""
        answer = self._client.ask(self._requests.search_deals(contact_id))
        if isinstance(answer, Reply):
            return dataclasses.replace(answer, invalid=properties.logical("deal", answer.invalid))
        found = records.found(answer, "deal")
        if found is None:
            return unreadable(answer, Verb.READ, "no_records")
        return records.done(answer, records=found)

    def create_deal(self, properties: Mapping[str, str], contact_id: str) -> Reply:
        """See `Crm.create_deal`."""
        values = self._values("deal", properties)
        if values is None:
            return not_made()
        return self._one("deal", self._requests.create("deal", values, contact_id))

    def update_deal(self, deal_id: str, properties: Mapping[str, str]) -> Reply:
        """See `Crm.update_deal`.

        Segment, intent and notes share one property there. Those of them that are not named stay as
        they were read last, which costs one request more if that was not by `find_deal` just now.
        """
        whole = self._with_its_description(deal_id, properties)
        if isinstance(whole, Reply):
            return whole
        values = self._values("deal", whole)
        if values is None:
            return not_made()
        return self._one("deal", self._requests.update("deal", deal_id, values))

    def associate(self, deal_id: str, contact_id: str) -> Reply:
        """See `Crm.associate`."""
        answer = self._client.ask(self._requests.associate(deal_id, contact_id))
        if isinstance(answer, Reply):
            return answer
        return records.associated(answer, deal_id, contact_id)

    def pipeline(self) -> Pipeline:
        """See `Crm.pipeline`. An account without that pipeline is REFUSED, `pipeline_missing`."""
        answer = self._client.ask(self._requests.pipelines())
        if isinstance(answer, Reply):
            return Pipeline(reply=answer)
        return records.stages(answer, self._pipeline)

    def has_unique_key(self, of: Literal["deal", "contact"]) -> bool | Reply:
        """See `Crm.has_unique_key`."""
        answer = self._client.ask(self._requests.unique_property(of))
        if isinstance(answer, Reply):
            return False if answer.kind is Kind.ABSENT else answer
        return records.is_unique(answer, of)

    def _with_its_description(
        self, deal_id: str, named: Mapping[str, str]
    ) -> Mapping[str, str] | Reply:
        parts = [name for name in description.PARTS if name in named]
        kept = self._descriptions.take(deal_id) if parts else {}
        if len(parts) in {0, len(description.PARTS)}:
            return named
        if kept is None:
            read = self.find_deal(by="id", value=deal_id)
            if read.record is None:
                return read
            kept = self._descriptions.take(read.record.id) or {}
        return {**kept, **named}

    def _values(self, kind: ObjectKind, named: Mapping[str, str]) -> dict[str, str] | None:
        if not properties.are_known(kind, named):
            return None
        return properties.written(kind, named, self._pipeline)

    def _one(self, kind: ObjectKind, request: Request) -> Reply:
        answer = self._client.ask(request)
        if isinstance(answer, Answer):
            return records.one(answer, request.verb, kind)
        return dataclasses.replace(answer, invalid=properties.logical(kind, answer.invalid))

    def _search(self, numbers: Sequence[str]) -> Reply:
        of = phones.sought(numbers)
        found: dict[str, Remote] = {}
        after = "0"
        reply = not_made()
        for _ in range(_MOST_PAGES):
            answer = self._client.ask(self._requests.search_contacts(of, after))
            if isinstance(answer, Reply):
                return answer
            page = records.found(answer, "contact")
            if page is None:
                return unreadable(answer, Verb.READ, "no_records")
            listed = rows(answer.fields.get("results"))
            for remote, row in zip(page, listed, strict=True):
                told = row.get("properties")
                if isinstance(told, dict) and phones.is_one(of, told):
                    found[remote.id] = remote
            reply = records.done(answer, records=tuple(found.values()))
            before, after = after, _after(answer)
            if after in {"", before} or len(found) >= _ENOUGH:
                break
        return reply

    def _read_many(self, keys: Sequence[str], *, archived: bool) -> Reply:
        answer = self._client.ask(self._requests.find_deals(keys, archived=archived))
        if isinstance(answer, Reply):
            return dataclasses.replace(answer, invalid=properties.logical("deal", answer.invalid))
        if not answer.too_large or len(keys) == 1:
            return records.read_many(answer, "deal")
        # People may write much into a deal; fewer of them fit.
        half = len(keys) // 2
        first = self._read_many(keys[:half], archived=archived)
        if first.kind is not Kind.DONE:
            return first
        second = self._read_many(keys[half:], archived=archived)
        return dataclasses.replace(second, records=(*first.records, *second.records))


def _after(answer: Answer) -> str:
    paging = answer.fields.get("paging")
    following = paging.get("next") if isinstance(paging, dict) else None
    after = following.get("after") if isinstance(following, dict) else None
    return str(after) if isinstance(after, int | str) and len(str(after)) <= 100 else ""

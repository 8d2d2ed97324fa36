"""The requests there are: each method makes one, as HubSpot's own interface files have them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from adapters.hubspot import phones, properties
from adapters.hubspot.paths import Paths, is_id
from adapters.hubspot.wire import ObjectKind, Request, Verb

BATCH: Final = 100
"""Records one request reads by key. Source: research/crm.md §1.2."""

PAGE: Final = 200
"""Records one page of a search has. Source: as above."""

_DEAL_TO_CONTACT: Final = {"associationCategory": "HUBSPOT_DEFINED", "associationTypeId": 3}
"""Source: research/crm.md §1.4."""

_GROUPS: Final[dict[ObjectKind, str]] = {
    "contact": "contactinformation",
    "deal": "dealinformation",
}
_LABELS: Final[dict[ObjectKind, str]] = {
    "contact": "Telefone do lead (chave)",
    "deal": "Sessão do lead (chave)",
}


@dataclass(frozen=True, slots=True)
class Requests:
    """Makes the requests of one version of the API. Values are HubSpot's, and text."""

    paths: Paths

    def find(self, kind: ObjectKind, by: str, value: str, *, archived: bool = False) -> Request:
        """Read one record by its id or by a property that is unique."""
        params = {"properties": ",".join(properties.asked(kind))}
        if by == "id":
            path = self.paths.record(kind, value)
        else:
            path = self.paths.keyed(kind, value)
            params["idProperty"] = properties.ID_PROPERTIES[by]
        if kind == "deal":
            params["associations"] = "contacts"
        if archived:
            params["archived"] = "true"
        return Request(verb=Verb.READ, method="GET", path=path, params=params)

    def search_contacts(self, of: phones.Sought, after: str) -> Request:
        """Search contacts by phone, from a place in what is found on."""
        groups = phones.filter_groups(of)
        return Request(
            verb=Verb.READ,
            method="POST",
            # A search for nothing finds everybody.
            path=self.paths.search("contact") if groups else None,
            searches=True,
            body={
                "filterGroups": groups,
                "properties": list(dict.fromkeys((*properties.asked("contact"), *phones.RAW))),
                "sorts": [],
                "limit": PAGE,
                "after": after,
            },
        )

    def find_deals(self, keys: Sequence[str], *, archived: bool) -> Request:
        """Read at most `BATCH` deals by key."""
        return Request(
            verb=Verb.READ,
            method="POST",
            path=self.paths.batch_read("deal"),
            params={"archived": "true"} if archived else {},
            body={
                "idProperty": properties.UNIQUE["deal"],
                "inputs": [{"id": key} for key in keys],
                "properties": list(properties.asked("deal")),
                "propertiesWithHistory": [],
            },
        )

    def search_deals(self, contact_id: str) -> Request:
        """Search the deals of a contact, one page."""
        of = {"propertyName": "associations.contact", "operator": "EQ", "value": contact_id}
        return Request(
            verb=Verb.READ,
            method="POST",
            path=self.paths.search("deal") if is_id(contact_id) else None,
            searches=True,
            body={
                "filterGroups": [{"filters": [of]}],
                "properties": list(properties.asked("deal")),
                "sorts": [],
                "limit": PAGE,
                "after": "0",
            },
        )

    def create(self, kind: ObjectKind, values: Mapping[str, str], contact_id: str = "") -> Request:
        """Create a record; a deal with its contact."""
        complete = kind == "contact" or is_id(contact_id)
        linked = [{"to": {"id": contact_id}, "types": [_DEAL_TO_CONTACT]}] if contact_id else []
        return Request(
            verb=Verb.CREATE,
            method="POST",
            path=self.paths.records(kind) if complete else None,
            # An empty text clears, and here is nothing to clear.
            body={
                "properties": {name: value for name, value in values.items() if value},
                "associations": linked,
            },
        )

    def update(self, kind: ObjectKind, record_id: str, values: Mapping[str, str]) -> Request:
        """Change properties of a record."""
        return Request(
            verb=Verb.WRITE,
            method="PATCH",
            path=self.paths.record(kind, record_id),
            body={"properties": dict(values)},
        )

    def associate(self, deal_id: str, contact_id: str) -> Request:
        """Associate a deal with a contact."""
        path = self.paths.association(deal_id, contact_id)
        return Request(verb=Verb.WRITE, method="PUT", path=path)

    def pipelines(self) -> Request:
        """Read the pipelines of deals, with their stages."""
        return Request(verb=Verb.READ, method="GET", path=self.paths.pipelines())

    def unique_property(self, kind: ObjectKind) -> Request:
        """Read how our unique property is declared."""
        path = self.paths.property(kind, properties.UNIQUE[kind])
        return Request(verb=Verb.READ, method="GET", path=path)

    def create_unique_property(self, kind: ObjectKind) -> Request:
        """Declare our unique property."""
        body: dict[str, Any] = {
            "name": properties.UNIQUE[kind],
            "label": _LABELS[kind],
            "groupName": _GROUPS[kind],
            "type": "string",
            "fieldType": "text",
            "hasUniqueValue": True,
        }
        path = self.paths.properties(kind)
        return Request(verb=Verb.CREATE, method="POST", path=path, body=body)

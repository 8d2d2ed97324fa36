"""What a new account comes with: the properties, groups, pipeline and stages that tests stand on."""

from collections.abc import Mapping
from typing import Final

from handlers.simulators.hubspot.properties import Properties, Property

CONTACTS: Final = "contacts"
DEALS: Final = "deals"
KINDS: Final = (CONTACTS, DEALS)
TYPE_IDS: Final = {"0-1": CONTACTS, "0-3": DEALS}

PHONE_KEY: Final = "lead_phone_e164"
SESSION_KEY: Final = "lead_session_id"
KEYS: Final = {CONTACTS: PHONE_KEY, DEALS: SESSION_KEY}
"""Our unique property of each type of record. Source: research/crm.md §0."""

PIPELINE: Final = "default"
STAGES: Final[Mapping[str, str]] = {
    "novo_lead": "1000001",
    "em_triagem": "1000002",
    "atendimento_humano": "1000003",
    "proposta": "1000004",
    "finalizado": "closedwon",
    "perdido": "closedlost",
}
"""The ids of the stages a new account has, by the name of what they stand for; one of them is nobody's."""
STAGE_LABELS: Final = {
    "novo_lead": "Novo lead",
    "em_triagem": "Em triagem",
    "atendimento_humano": "Atendimento humano",
    "proposta": "Proposta enviada",
    "finalizado": "Finalizado",
    "perdido": "Perdido",
}
WON: Final = "finalizado"
LOST: Final = "perdido"

LIFECYCLE: Final = (
    *("subscriber", "lead", "marketingqualifiedlead", "salesqualifiedlead"),
    *("opportunity", "customer", "evangelist"),
)
"""Set backwards, it silently stays. Source: research/crm.md §1.4."""

_GROUPS: Final = {CONTACTS: "contactinformation", DEALS: "dealinformation"}
_CHANGED: Final = {CONTACTS: "lastmodifieddate", DEALS: "hs_lastmodifieddate"}
_TEXTS: Final = {
    CONTACTS: (
        *("firstname", "lastname", "phone", "mobilephone", "company", "city", "state"),
        *("address", "zip", "hubspot_owner_id"),
    ),
    DEALS: ("dealname", "hubspot_owner_id"),
}
_CALCULATED: Final = {
    CONTACTS: (
        "hs_searchable_calculated_phone_number",
        "hs_searchable_calculated_mobile_number",
    ),
    DEALS: (),
}


def properties_of(kind: str, *, keyed_at: str | None) -> Properties:
    """Return the properties a new account has for a type of record.

    Args:
        kind: contacts or deals.
        keyed_at: since when it has our unique property; None: not yet.
    """
    group = _GROUPS[kind]
    own = [] if keyed_at is None else [_unique(KEYS[kind], group, keyed_at)]
    read_only = [
        *(_read_only(name, "datetime", group) for name in ("createdate", _CHANGED[kind])),
        *(_read_only(name, "string", group) for name in _CALCULATED[kind]),
        _read_only("hs_object_id", "number", group),
        _read_only("hs_merged_object_ids", "string", group),
    ]
    texts = [Property(name=name, label=name, group=group) for name in _TEXTS[kind]]
    special = _contact_properties(group) if kind == CONTACTS else _deal_properties(group)
    return Properties({group: group}, [*texts, *special, *read_only, *own])


def changed_property(kind: str) -> str:
    """Return the name of the property that tells when a record was last changed."""
    return _CHANGED[kind]


def _contact_properties(group: str) -> list[Property]:
    stages = tuple((value, value.title()) for value in LIFECYCLE)
    return [
        Property(name="email", label="E-mail", group=group),
        Property(
            name="lifecyclestage",
            label="Lifecycle stage",
            group=group,
            type="enumeration",
            field_type="radio",
            options=stages,
        ),
        Property(name="birthday", label="Birthday", group=group, type="date", field_type="date"),
    ]


def _deal_properties(group: str) -> list[Property]:
    kinds = (("newbusiness", "New business"), ("existingbusiness", "Existing business"))
    return [
        # Their options are the stages of the pipelines, which change.
        Property(name="dealstage", label="Deal stage", group=group, field_type="radio"),
        Property(name="pipeline", label="Pipeline", group=group, field_type="select"),
        Property(name="description", label="Description", group=group, field_type="textarea"),
        Property(name="amount", label="Amount", group=group, type="number", field_type="number"),
        Property(
            name="closedate", label="Close date", group=group, type="datetime", field_type="date"
        ),
        Property(
            name="dealtype",
            label="Deal type",
            group=group,
            type="enumeration",
            field_type="radio",
            options=kinds,
        ),
    ]


def _read_only(name: str, type_: str, group: str) -> Property:
    return Property(name=name, label=name, group=group, type=type_, read_only=True)


def _unique(name: str, group: str, at: str) -> Property:
    return Property(name=name, label=name, group=group, unique=True, made_at=at)

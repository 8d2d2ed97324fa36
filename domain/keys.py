"""Every key of both tables, each beside the access pattern it serves.

Two tables. The log holds events, receipts, heads and identities; nothing in it is edited or
deleted. The state table holds view rows, records and locks by (PK, SK), with an optional GSI1
pair. What lists across leads names the organization first.
"""

import hashlib
from typing import Final, NamedTuple

LEAD_SHARDS: Final = 16
"""Partitions over which heads and lagging leads are spread, so that no list is a hot key."""


class Key(NamedTuple):
    """The primary key of a row of the state table."""

    pk: str
    sk: str


def receipt(organization_id: str, source: str, external_event_id: str) -> str:
    """The log's PK that makes (source, externalEventId) unique inside an organization."""
    name = f"{organization_id}\x1f{source}\x1f{external_event_id}"
    return f"KEY#{hashlib.sha256(name.encode()).hexdigest()}"


def head(lead: str) -> str:
    """The log's PK of the one item that says how far a lead's stream and rows have come."""
    return f"HEAD#{lead}"


def identity(organization_id: str, channel: str, identifier: str) -> str:
    """The log's PK that lets one address belong to one lead. Claimed once, never rewritten."""
    return f"IDENTITY#{organization_id}#{channel}#{identifier}"


def lead_shard(organization_id: str, lead: str) -> str:
    """PK of `lead-index`: lists an organization's leads without a Scan."""
    return f"{organization_id}#{shard(lead)}"


def lead_shards(organization_id: str) -> list[str]:
    """Every PK of `lead-index` that an organization's leads are spread over."""
    return [f"{organization_id}#{number}" for number in range(LEAD_SHARDS)]


def event_type_at(event_type: str, occurred_at_id: str) -> str:
    """SK of `event-type-index`: one type of one lead in the order it happened.

    It ends in the event's id: an index puts equal keys in no order that a page could go on from.
    """
    return f"{event_type}#{occurred_at_id}"


def source_of(organization_id: str, source: str) -> str:
    """PK of `idempotency-index`, which is for people; the receipt is the guarantee."""
    return f"{organization_id}#{source}"


def memory_partition(lead: str) -> str:
    """PK of all memories of a lead; begins_with `{type}#` lists one type."""
    return f"MEMORY#{lead}"


def memory(lead: str, memory_type: str, key: str) -> Key:
    """One LeadMemory."""
    return Key(memory_partition(lead), f"{memory_type}#{key}")


def session_partition(lead: str) -> str:
    """PK of a lead's sessions, messages and deliveries (seed 000; its phone is our lead)."""
    return f"SESSION#{lead}"


def session(lead: str, session_id: str) -> Key:
    """One session of a lead."""
    return Key(session_partition(lead), f"SESSION#{session_id}")


def active(lead: str) -> Key:
    """Names the lead's open session: `get_active`."""
    return Key(session_partition(lead), "ACTIVE")


MESSAGES: Final = "MSG#"
"""Prefix of a lead's messages of both directions, in the order they were said."""


def message(lead: str, occurred_at: str, sequence: int, message_id: str) -> Key:
    """One message. Providers' clocks tell whole seconds, so the sequence breaks ties."""
    sk = f"{MESSAGES}{occurred_at}#{sequence:012d}#{message_id}"
    return Key(session_partition(lead), sk)


def delivery(lead: str, provider_message_id: str) -> Key:
    """How far a message of ours came, found by the id the channel gave it."""
    return Key(session_partition(lead), f"WAMID#{provider_message_id}")


def thread_partition(lead: str) -> str:
    """PK of what waits to be done for a lead."""
    return f"DEBOUNCE#{lead}"


def latest_inbound(lead: str) -> Key:
    """The one row that says what waits for an answer and what waits to be sent."""
    return Key(thread_partition(lead), "LATEST_INBOUND")


def human_send_lock(lead: str, session_id: str) -> Key:
    """Held while an operator's message is being sent. Ephemeral."""
    return Key(thread_partition(lead), f"HUMAN_SEND#{session_id}")


def pending_turns(organization_id: str) -> str:
    """GSI1 PK of the leads for whom something waits; the sort key says since when, or until when."""
    return f"{organization_id}#PENDING_TURN"


def sessions_in(organization_id: str, state: str) -> str:
    """GSI1 PK that lists open sessions of one state, oldest first: `list_by_state`."""
    return f"{organization_id}#STATE#{state}"


CRM_SYNC: Final = "CRM_SYNC#"
"""Prefix of the partitions of the CRM mirror, one a session (seed 001)."""


def crm_sync(session_id: str) -> Key:
    """The mirror of one session in the CRM."""
    return Key(f"{CRM_SYNC}{session_id}", "META")


def crm_lease(session_id: str) -> Key:
    """Held by the worker that is at a session's mirror. Ephemeral."""
    return Key(f"{CRM_SYNC}{session_id}", "LEASE")


def crm_statuses(organization_id: str, status: str) -> str:
    """GSI1 PK that lists mirrors of one status by when they are due: `list_status`."""
    return f"{organization_id}#CRM_SYNC#{status}"


def crm_control(organization_id: str) -> Key:
    """Whether an organization's account of the CRM is paused, for every worker to see."""
    return Key(f"{organization_id}#CRM_CONTROL", "META")


def crm_deal(organization_id: str, deal_id: str, number: int = 1) -> str:
    """The log's PK that lets one deal be one session's: a claim, made once and never rewritten.

    There is a claim of the next `number` only where the one before it was released.
    """
    first = f"CRM_DEAL#{organization_id}#{deal_id}"
    return first if number == 1 else f"{first}#{number}"


def crm_deal_release(organization_id: str, deal_id: str, number: int) -> str:
    """The log's PK that releases a claim of a deal. Put once, never rewritten."""
    return f"CRM_DEAL_RELEASE#{organization_id}#{deal_id}#{number}"


def demands(organization_id: str) -> str:
    """PK of what was asked for and is not sold, in the order it was asked."""
    return f"{organization_id}#DEMAND#OOP"


def demand(organization_id: str, occurred_at: str, demand_id: str) -> Key:
    """One demand outside the portfolio."""
    return Key(demands(organization_id), f"DEMAND#{occurred_at}#{demand_id}")


MODEL_CALLS: Final = "LLM#"
"""Prefix of the partitions of model calls."""


def model_calls(organization_id: str, day: str) -> str:
    """PK of an organization's model calls of one UTC day: `list_recent_llm` without a scan."""
    return f"{MODEL_CALLS}{organization_id}#{day}"


def model_call(organization_id: str, occurred_at: str, event_id: str) -> Key:
    """One agent turn's calls of a model, with their cost."""
    return Key(model_calls(organization_id, occurred_at[:10]), f"{occurred_at}#{event_id}")


def failing_item(organization_id: str, digest: str) -> Key:
    """Counts the tries of an item of a channel that fails again and again. Ephemeral."""
    return Key(f"{organization_id}#FAILING", digest)


def lag(lead: str) -> Key:
    """Marks a lead whose rows lag behind its events, for the sweeper."""
    return Key(f"LAG#{shard(lead)}", lead)


def lag_partitions() -> list[str]:
    """Every PK that lists lagging leads."""
    return [f"LAG#{number}" for number in range(LEAD_SHARDS)]


def api_key(key_id: str) -> Key:
    """One API key, found by the id it carries."""
    return Key(f"APIKEY#{key_id}", "META")


def api_keys(organization_id: str) -> str:
    """GSI1 PK that lists an organization's API keys, oldest first."""
    return f"{organization_id}#ADMIN#APIKEY"


def resources(organization_id: str, resource_type: str) -> str:
    """PK of the current resources of one type: `list_current`."""
    return f"{organization_id}#ADMIN#RESOURCE#{resource_type}"


def resource(organization_id: str, resource_type: str, resource_id: str) -> Key:
    """One resource as it stands now."""
    return Key(resources(organization_id, resource_type), f"RESOURCE#{resource_id}")


def resource_versions(organization_id: str, resource_type: str, resource_id: str) -> str:
    """PK of all versions of one resource, in their order: `list_versions`."""
    return f"{organization_id}#ADMIN#RESOURCE#{resource_type}#{resource_id}"


def resource_version(
    organization_id: str, resource_type: str, resource_id: str, version: int
) -> Key:
    """One version of a resource, which is never written again."""
    partition = resource_versions(organization_id, resource_type, resource_id)
    return Key(partition, f"VERSION#{version:06d}")


def audits(organization_id: str) -> str:
    """PK of what operators did to an organization as a whole, in the order they did it."""
    return f"{organization_id}#ADMIN#AUDIT"


def audit(organization_id: str, at: str, act_id: str) -> Key:
    """One act of an operator, which is never written again."""
    return Key(audits(organization_id), f"AUDIT#{at}#{act_id}")


def configs(organization_id: str) -> str:
    """PK of what operators set while the service runs."""
    return f"{organization_id}#ADMIN#CONFIG"


def config(organization_id: str, name: str) -> Key:
    """One operational setting, for example `operator_availability`."""
    return Key(configs(organization_id), f"CONFIG#{name}")


def quarantines(organization_id: str) -> str:
    """PK of what could not be translated; its ids are UUIDv7, so it is listed by arrival."""
    return f"{organization_id}#QUARANTINE"


def quarantine(organization_id: str, quarantine_id: str) -> Key:
    """One thing that could not be translated, kept raw, found by its id alone."""
    return Key(quarantines(organization_id), quarantine_id)


def served(organization_id: str) -> Key:
    """Says that a process works on an organization's leads. Ephemeral."""
    return Key(f"{organization_id}#SERVED", "LOOP")


def diagnosis(number: str) -> Key:
    """A row that `leads doctor` writes and takes away again, to see that it can."""
    return Key("DIAGNOSIS", number)


def shard(lead: str) -> int:
    """A lead's shard, the same in every process."""
    return hashlib.sha256(lead.encode()).digest()[0] % LEAD_SHARDS

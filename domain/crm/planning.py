"""What to do next for a row of the mirror: something to record, or one request. Pure.

Source of the order: research/crm.md §4.2 and §4.3. Nothing is decided twice: what a visit has done or
learned stands in the row or in the `Visit`, so a plan can be made anew after every step.
"""

from typing import Any

from domain import canonical
from domain.crm import identity
from domain.crm.content import compare, moves, restated, shadow_of
from domain.crm.recording import UNKNOWN, blocked, uncertain
from domain.crm.sync import CrmSync
from domain.crm.visit import UNIQUE, Configuration, Fact, Note, Request, Visit, key_of


def next_step(sync: CrmSync, visit: Visit, config: Configuration) -> Note | Request:
    """Return the next step of a visit."""
    if visit.desired["terminal"] and not sync.deal_id and not sync.creation_started:
        return confirm(sync, visit)
    return (
        _unconfigured(visit, config)
        or _in_doubt(sync, visit, config)
        or identity.contact_step(sync, visit, config)
        or _creation(sync, visit, config)
        or _guard(sync, visit, config)
        or _update(sync, visit, config)
        or _association(sync, visit)
        or confirm(sync, visit)
    )


def confirm(sync: CrmSync, visit: Visit) -> Note:
    """Return what is recorded of content that was accepted, or that needs no deal."""
    said: dict[str, Any] = {"revision": visit.revision}
    if visit.deal is not None:
        said["written"] = _asserted(sync, visit)
        if visit.kept:
            said["kept_by_people"] = ",".join(sorted(visit.kept))[:100]
        if visit.quarantined:
            said["quarantined"] = canonical.dumps(visit.quarantined).decode()
    if sync.verify_after and not visit.settles:
        said["verify_after"] = sync.verify_after
    return Note(facts=(Fact("crm_revision_confirmed", said),), ending="synced")


def _unconfigured(visit: Visit, config: Configuration) -> Note | None:
    stage = visit.desired["stage"]
    if config.is_ambiguous(stage):
        return blocked(visit, "stage_configuration_invalid", detail=f"stage: {stage}")
    if config.stage_ids is not None and config.stages[stage] not in config.stage_ids:
        return blocked(visit, "stage_missing", detail=f"stage: {stage}")
    return None


def _in_doubt(sync: CrmSync, visit: Visit, config: Configuration) -> Note | Request | None:
    """Look for a deal that may have been created; a person must where it has no key."""
    if sync.deal_id or not (visit.reposts or visit.deal_taken):
        return None
    if not (sync.creation_mode == config.mode == UNIQUE):
        return _for_a_person(sync, visit)
    key, holder = key_of(sync, config), visit.deal_holder
    lookups: dict[str, dict[str, Any]] = {
        "deal_by_key": {"by": "key", "value": key},
        "deal_by_key_archived": {"by": "key", "value": key, "archived": True},
        **({"deal_holder": {"by": "id", "value": holder}} if holder else {}),
    }
    for step, arguments in lookups.items():
        if step not in visit.absent:
            return Request(step=step, verb="find_deal", arguments=arguments)
    # That it was not found is no proof; that its key is unique makes another creation safe.
    return uncertain(sync, visit, "key_taken") if visit.deal_taken else None


def _for_a_person(sync: CrmSync, visit: Visit) -> Note:
    if sync.status == "UNCERTAIN" and not sync.next_attempt_at:
        return Note(ending="nothing")
    return uncertain(sync, visit, UNKNOWN, by_itself=False)


def _creation(sync: CrmSync, visit: Visit, config: Configuration) -> Note | Request | None:
    if sync.deal_id:
        return None
    if not visit.marked:
        visit.marked = True
        said = {
            "revision": visit.revision,
            "create_key": key_of(sync, config),
            "mode": config.mode,
        }
        return Note(facts=(Fact("crm_deal_creation_started", said),))
    sends = {**visit.wanted_deal(sync, config), "stage": visit.stage_id(config)}
    return Request(
        step="deal_create",
        verb="create_deal",
        arguments={"properties": sends, "contact_id": sync.contact_id},
        sends=sends,
    )


def _guard(sync: CrmSync, visit: Visit, config: Configuration) -> Note | Request | None:
    """Read the deal before it is written; where it is gone, ask where it went."""
    if visit.deal is not None:
        return None
    value = sync.deal_id
    if "deal_read" not in visit.absent:
        return Request(step="deal_read", verb="find_deal", arguments={"by": "id", "value": value})
    if "deal_archived" not in visit.absent:
        arguments = {"by": "id", "value": value, "archived": True}
        return Request(step="deal_archived", verb="find_deal", arguments=arguments)
    if config.mode == UNIQUE and "deal_moved" not in visit.absent and not visit.deal_moved:
        arguments = {"by": "key", "value": key_of(sync, config)}
        return Request(step="deal_moved", verb="find_deal", arguments=arguments)
    return blocked(visit, "deal_missing")


def _update(sync: CrmSync, visit: Visit, config: Configuration) -> Request | None:
    if visit.deal_done or visit.deal is None:
        return None
    there = visit.deal.properties
    wanted = visit.wanted_deal(sync, config)
    sends, kept = compare("deal", wanted, there, sync.remote, visit.ours)
    visit.kept.update(kept)
    forward = moves(config.stages, visit.desired["stage"], there.get("stage", ""))
    if forward:
        sends["stage"] = visit.stage_id(config)
    elif forward is False:
        visit.kept.add("deal.stage")
    if not sends:
        visit.deal_done = True
        return None
    return Request(
        step="deal_update",
        verb="update_deal",
        arguments={"deal_id": sync.deal_id, "properties": sends},
        sends=sends,
        restates=restated("deal", wanted, there, sync.remote, visit.ours),
    )


def _association(sync: CrmSync, visit: Visit) -> Request | None:
    """Associate a deal with its contact once; a person who takes it away again has reasons."""
    known = sync.remote.get("deal.contact") == sync.contact_id
    there = visit.deal is not None and sync.contact_id in visit.deal.contact_ids
    if known or there or visit.associated or not sync.contact_id:
        return None
    arguments = {"deal_id": sync.deal_id, "contact_id": sync.contact_id}
    return Request(step="associate", verb="associate", arguments=arguments)


def _asserted(sync: CrmSync, visit: Visit) -> str:
    """Return the shadow: what was asserted, whether it was written, stood, or was left to people."""
    deal = {"name": visit.name(sync), **visit.desired["deal"]}
    shadow = {
        **shadow_of("contact", visit.desired["contact"]),
        **shadow_of("deal", deal),
        "deal.contact": sync.contact_id,
    }
    if visit.deal is not None and visit.deal.properties.get("stage"):
        shadow["deal.stage"] = visit.deal.properties["stage"]
    sound = {path: value for path, value in shadow.items() if path not in visit.quarantined}
    return canonical.dumps(sound).decode()

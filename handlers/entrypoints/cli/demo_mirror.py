"""The demo's CRM: the conversation arrives in a made-up HubSpot, over real HTTP on this machine."""

from dataclasses import dataclass
from datetime import timedelta
from random import Random
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from handlers.bootstrap import App
    from handlers.simulators.hubspot import HubSpot

_LATER: Final = timedelta(minutes=5)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mirrored:
    """What the CRM shows, what each run did, and how often it was asked."""

    deals: list[dict[str, Any]]
    first: dict[str, int]
    second: dict[str, int]
    requests: int
    posts: int


def mirror_conversation(app: "App", organization_id: str) -> Mirrored:
    """Mirror what is due. The first deal is created, and the answer is lost on its way.

    The second run comes five minutes later by the clock of the demo, which finds the deal by its
    key instead of creating it again.
    """
    from handlers.simulators.hubspot import REPLY_LOST, HubSpot, Setup

    with HubSpot(Setup(), random=Random(2026), now=app.now) as hubspot:  # noqa: S311 - no secret
        hubspot.script(REPLY_LOST, method="POST", path="*/deals")
        first = _run(app, organization_id, hubspot, timedelta(0))
        second = _run(app, organization_id, hubspot, _LATER)
        return Mirrored(
            deals=[_shown(hubspot, deal.id) for deal in hubspot.deals()],
            first=first,
            second=second,
            requests=len(hubspot.journal),
            posts=len(hubspot.journal.of("POST", "*/deals")),
        )


def _run(app: "App", organization_id: str, hubspot: "HubSpot", later: timedelta) -> dict[str, int]:
    from dataclasses import replace

    from pydantic import SecretStr

    from domain.instants import shift
    from handlers.bootstrap import build_crm
    from handlers.crm_settings import CrmSettings
    from handlers.simulators.hubspot import STAGES

    settings = CrmSettings(
        hubspot_token=SecretStr(hubspot.token),
        hubspot_url=hubspot.url,
        crm_organizations=organization_id,
        crm_environment="demo",
        hubspot_stage_novo_lead=STAGES["novo_lead"],
        hubspot_stage_em_triagem=STAGES["em_triagem"],
        hubspot_stage_atendimento_humano=STAGES["atendimento_humano"],
        hubspot_stage_finalizado=STAGES["finalizado"],
        hubspot_stage_perdido=STAGES["perdido"],
    )
    mirror = build_crm(replace(app, now=lambda: shift(app.now(), later)), settings)
    try:
        report = mirror.processor.run() if mirror.processor else None
        return dict(report.endings) if report else {}
    finally:
        mirror.close()


def _shown(hubspot: "HubSpot", deal_id: str) -> dict[str, Any]:
    deal = next(each for each in hubspot.deals() if each.id == deal_id)
    contacts = {each.id: each for each in hubspot.contacts()}
    of_it = [contacts[each] for each in hubspot.contacts_of(deal_id) if each in contacts]
    stages = {stage: name for name, stage in hubspot.setup.stages.items()}
    return {
        "deal": deal_id,
        "name": deal.values.get("dealname", ""),
        "stage": stages.get(deal.values.get("dealstage", ""), ""),
        "contact": ", ".join(each.values.get("firstname", "") for each in of_it),
    }

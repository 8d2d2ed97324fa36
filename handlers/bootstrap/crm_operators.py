"""What operators of the CRM's mirror need, over an application and its mirror."""

import time
from collections.abc import Iterable

from domain.crm.drift import Snapshot
from domain.ports.effects import Crm
from handlers.bootstrap.app import App
from handlers.bootstrap.crm import open_account
from handlers.crm.account import Account
from handlers.crm.acts import Acts
from handlers.crm.audit import Audit
from handlers.crm.diagnosing import Diagnosing
from handlers.crm.examining import Examining, Properties, UniqueProperty
from handlers.crm.inspecting import Inspecting
from handlers.crm.looking import Looking
from handlers.crm.operating import CrmOperators
from handlers.crm.showing import Showing
from handlers.crm_settings import CrmSettings
from handlers.mirror import Mirror


def build_operators(app: App, mirror: Mirror) -> CrmOperators:
    """Return what operators do."""
    showing = Showing(log=app.log, control=mirror.control)
    return CrmOperators(
        acts=Acts(log=app.log, showing=showing, now=app.now, new_id=app.new_id),
        showing=showing,
        looking=Looking(account=_account(mirror.settings, mirror.crm)),
        control=mirror.control,
        audit=Audit(table=app.table, now=app.now, new_id=app.new_id),
        processor=mirror.processor,
        now=app.now,
        sends=mirror.settings.hubspot_enabled,
    )


def build_examining(mirror: Mirror) -> Examining:
    """Return who looks at the settings and the account."""
    return Examining(
        settings=mirror.settings,
        control=mirror.control,
        crm=mirror.crm,
        properties=_properties(mirror.settings),
    )


def build_diagnosing(app: App, settings: CrmSettings, *, remote: bool = False) -> Diagnosing:
    """Return who compares; where `remote`, over a way out on which nothing can be changed.

    Raises:
        Rejected: no request could be made with the token, or to the address.
    """
    crm = open_account(settings, read_only=True) if remote else None
    return Diagnosing(
        inspecting=Inspecting(log=app.log, now=app.now),
        leads=app.maintenance.leads,
        account=_account(settings, crm),
        stages=settings.stages,
        environment=settings.crm_environment,
        now=app.now,
    )


def read_snapshot(lines: Iterable[bytes]) -> Snapshot:
    """Return the deals of a file that HubSpot's API made.

    Raises:
        MalformedBody: a line is no deal.
    """
    from adapters.hubspot import snapshot  # noqa: PLC0415 - for who has such a file

    return snapshot.read(lines)


def _account(settings: CrmSettings, crm: Crm | None) -> Account | None:
    if crm is None:
        return None
    return Account(
        crm=crm,
        stages=settings.stages,
        environment=settings.crm_environment,
        monotonic=time.monotonic,
    )


def _properties(settings: CrmSettings) -> Properties | None:
    token = settings.hubspot_token
    if token is None:
        return None

    def look(apply: bool) -> tuple[UniqueProperty, ...]:
        from adapters.hubspot.bootstrap import bootstrap  # noqa: PLC0415 - it loads httpx2
        from adapters.hubspot.client import HubSpotClient  # noqa: PLC0415

        client = HubSpotClient(
            token.get_secret_value(),
            base_url=settings.hubspot_url,
            read_s=settings.hubspot_timeout_seconds,
            read_only=not apply,
        )
        try:
            steps = bootstrap(client, version=settings.hubspot_version, apply=apply)
        finally:
            client.close()
        return tuple(
            UniqueProperty(
                each.kind, each.name, each.state, each.reply.reason if each.reply else ""
            )
            for each in steps
        )

    return look

"""The CRM's mirror over an application: HubSpot's settings and the store's, and nothing else."""

import time

from domain.ports.effects import Crm
from handlers.bootstrap.app import App
from handlers.conversation_settings import words_of
from handlers.crm.control import AccountControl
from handlers.crm.worker import CrmSyncProcessor
from handlers.crm_settings import CrmSettings
from handlers.mirror import Mirror


def build_crm(app: App, settings: CrmSettings, *, crm: Crm | None = None) -> Mirror:
    """Return the mirror of a deployment; `crm` stands in for the account the settings name.

    Raises:
        Rejected: no request could be made with the token, or to the address.
    """
    account = crm if crm is not None else open_account(settings)
    organizations = words_of(settings.crm_organizations)
    processor = None
    if account is not None:
        processor = CrmSyncProcessor(
            app.log,
            account,
            settings,
            organizations=organizations,
            now=app.now,
            new_id=app.new_id,
            monotonic=time.monotonic,
        )
    close = getattr(account, "close", None)
    return Mirror(
        settings=settings,
        organizations=organizations,
        control=processor.control if processor else AccountControl(table=app.table, now=app.now),
        crm=account,
        processor=processor,
        release=close if close is not None and crm is None else lambda: None,
    )


def open_account(settings: CrmSettings, *, read_only: bool = False) -> Crm | None:
    """Return the account the settings name; None without a token.

    Raises:
        Rejected: no request could be made with the token, or to the address.
    """
    if settings.hubspot_token is None:
        return None
    from adapters.hubspot.client import HubSpotClient  # noqa: PLC0415 - it loads httpx2
    from adapters.hubspot.crm import HubSpotCrm  # noqa: PLC0415

    client = HubSpotClient(
        settings.hubspot_token.get_secret_value(),
        base_url=settings.hubspot_url,
        read_s=settings.hubspot_timeout_seconds,
        read_only=read_only,
    )
    return HubSpotCrm(client, version=settings.hubspot_version, pipeline=settings.hubspot_pipeline)

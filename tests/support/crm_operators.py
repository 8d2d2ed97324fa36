"""Operators who act on the mirror of a `CrmWorld` from processes of their own."""

from domain.records import Identity
from handlers.crm.account import Account
from handlers.crm.acts import Acts, Ask
from handlers.crm.audit import Audit
from handlers.crm.control import AccountControl
from handlers.crm.looking import Looking
from handlers.crm.operating import CrmOperators
from handlers.crm.showing import Showing
from projections.folding import identities_of
from tests.support.crm_account import STAGES
from tests.support.crm_world import CrmWorld
from tests.support.stepping import Steps

ASK = Ask(operator="ana", reason="Conferido", apply=True)


def operators(world: CrmWorld) -> tuple[Steps, CrmOperators]:
    """Somebody at another process than the one that writes meanwhile, and where it can be stopped."""
    log = world.new_log()
    control = AccountControl(table=log.table, now=lambda: world.now)
    showing = Showing(log=log, control=control)
    account = Account(
        crm=world.account, stages=STAGES, environment="test", monotonic=lambda: world.seconds
    )
    made = CrmOperators(
        acts=Acts(log=log, showing=showing, now=lambda: world.now, new_id=world.new_id),
        showing=showing,
        looking=Looking(account=account),
        control=control,
        audit=Audit(table=log.table, now=lambda: world.now, new_id=world.new_id),
        processor=None,
        now=lambda: world.now,
    )
    return log.steps, made


def claims_told(world: CrmWorld, *sessions: str) -> dict[str, str]:
    """What the events of sessions claim and release, by key."""
    told: list[Identity] = []
    for session in sessions:
        for event in world.events(session):
            told += identities_of(event)
    assert len({each.key for each in told}) == len(set(told)), "two claim the same"
    return {each.key: each.lead for each in told}

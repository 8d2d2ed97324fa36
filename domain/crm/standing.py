"""How the mirror of one session stands: what of its row anybody may see."""

from dataclasses import dataclass
from typing import Literal

Status = Literal["", "PENDING", "SYNCED", "BLOCKED", "UNCERTAIN"]


@dataclass(slots=True, kw_only=True)
class Standing:
    """The part of a row that is shown as it is: ids, states and instants; no content.

    A field that is declared here is shown; what holds content is `domain.crm.sync.CrmSync`'s own.
    """

    session_id: str
    status: Status = ""
    blocked_reason: str = ""
    contact_id: str = ""
    deal_id: str = ""
    creation_started: str = ""
    creation_mode: str = ""
    create_key: str = ""
    attempts: int = 0
    next_attempt_at: str = ""
    pending_since: str = ""
    uncertain_since: str = ""
    verify_after: str = ""
    revision: str = ""
    confirmed_revision: str = ""

"""What became of a session in the CRM: everything a rebuild must know of it. Recorded by this service."""

from typing import Annotated, Final, Literal

from domain.catalog._declare import Payload, event
from domain.catalog._fields import LOGGABLE, Count, Id, Instant, Text, Word, describe
from domain.catalog.messaging import SessionId
from domain.catalog.turns import Json, Operator, Reason

_CATEGORY: Final = "CRM"
_LATER: Final = "2026-03-15T14:05:00.000000Z"

Revision = Annotated[Id, describe("Which desired content, by its digest.", "9f86d081884c7d65")]
RemoteId = Annotated[Id, describe("The CRM's own id.", "31415926535")]
How = Annotated[Word, describe("found, created, adopted, reconciled or merged.", "created")]
ErrorClass = Annotated[Word, describe("The class of what went wrong.", "TRANSIENT")]
HttpStatus = Annotated[Count, describe("The status of the answer.", 503)]
Category = Annotated[Word, describe("The CRM's own word for it.", "RATE_LIMITS")]
Correlation = Annotated[Id, describe("The CRM's id of the request.", "3d9f1c1e")]
Detail = Annotated[Text, describe("What it said, sanitised, in 200 characters.", "limit reached")]
VerifyAfter = Annotated[Instant, describe("When to look once more whether it stands.", _LATER)]
Marker = Annotated[
    Literal["kept", "cleared"],
    describe("Whether a creation may still have happened.", "kept"),
    LOGGABLE,
]

Claim = Annotated[
    Count, describe("The deal's claim by this session: the first, or one after a release.", 2)
]


@event("crm_contact_linked", category=_CATEGORY, ours=True)
class CrmContactLinked(Payload):
    """The lead is this contact of the CRM."""

    session_id: SessionId
    contact_id: RemoteId
    how: How


@event("crm_deal_creation_started", category=_CATEGORY, ours=True)
class CrmDealCreationStarted(Payload):
    """A deal is being created from now on: it may exist, whatever is heard of it."""

    session_id: SessionId
    revision: Revision
    token: Annotated[Id, describe("Names this attempt.", "019d0c4e-7a10-7c3f-9b1a-2f6f0f4f0c01")]
    create_key: Annotated[
        Id, describe("The unique value that keeps a second one away.", "prod:019d")
    ]
    mode: Annotated[
        Literal["unique_property", "conservative"],
        describe("What keeps a second one away.", "unique_property"),
        LOGGABLE,
    ]


@event("crm_deal_linked", category=_CATEGORY, ours=True)
class CrmDealLinked(Payload):
    """The session is this deal of the CRM, and no other session is. Without a claim it is the first."""

    session_id: SessionId
    deal_id: RemoteId
    how: How
    claim: Claim | None = None


@event("crm_revision_confirmed", category=_CATEGORY, ours=True)
class CrmRevisionConfirmed(Payload):
    """The CRM took this content."""

    session_id: SessionId
    revision: Revision
    written: Json | None = None
    kept_by_people: (
        Annotated[Word, describe("Properties people hold otherwise.", "name")] | None
    ) = None
    quarantined: Json | None = None
    verify_after: VerifyAfter | None = None


class CrmAnswered(Payload):
    """What every step that did not work says: of which content, and what the CRM answered."""

    session_id: SessionId
    revision: Revision
    http_status: HttpStatus | None = None
    category: Category | None = None
    correlation: Correlation | None = None
    detail: Detail | None = None


@event("crm_sync_deferred", category=_CATEGORY, ours=True)
class CrmSyncDeferred(CrmAnswered):
    """It did not work for now, and is tried again."""

    error_class: ErrorClass
    retry_at: Annotated[Instant, describe("When.", _LATER)]
    counted: Annotated[Literal["yes", "no"], describe("Whether it used up a try.", "yes"), LOGGABLE]
    marker: Marker
    verify_after: VerifyAfter | None = None


@event("crm_sync_blocked", category=_CATEGORY, ours=True)
class CrmSyncBlocked(CrmAnswered):
    """It cannot work until somebody changes something."""

    reason: Reason
    marker: Marker


@event("crm_sync_uncertain", category=_CATEGORY, ours=True)
class CrmSyncUncertain(CrmAnswered):
    """Nobody knows whether a deal was created. Without `retryAt` only a person resolves it."""

    reason: Reason
    retry_at: Annotated[Instant, describe("When it is looked for.", _LATER)] | None = None
    verify_after: VerifyAfter | None = None


@event("crm_sync_reconciled", category=_CATEGORY, ours=True)
class CrmSyncReconciled(Payload):
    """It is known again what became of a creation."""

    session_id: SessionId
    how: Annotated[
        Literal["found", "absent", "archived"], describe("What was found.", "found"), LOGGABLE
    ]


@event("crm_operator_action", category=_CATEGORY, ours=True)
class CrmOperatorAction(Payload):
    """A person set the mirror of a session right. `claim` is that of a deal that is adopted."""

    session_id: SessionId
    action: Annotated[
        Literal["retry", "release", "adopt", "recreate", "unlink", "reconcile"],
        describe("What was done.", "retry"),
        LOGGABLE,
    ]
    operator: Operator
    reason: Annotated[Text, describe("Why.", "Estágio corrigido")]
    deal_id: RemoteId | None = None
    contact_id: RemoteId | None = None
    create_key: (
        Annotated[Id, describe("The deal's unique value from now on.", "prod:019d#2")] | None
    ) = None
    claim: Claim | None = None
    released_deal_id: (
        Annotated[Id, describe("The deal it is no longer; others may be it now.", "31415926535")]
        | None
    ) = None
    released_claim: Annotated[Count, describe("Which claim of it ended.", 1)] | None = None
    evidence: Annotated[Text, describe("What was checked.", "Busca por telefone: nada")] | None = (
        None
    )

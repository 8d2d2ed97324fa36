"""What DynamoDB's answers mean: one place that turns them into our four kinds of error.

Source of the codes: Amazon DynamoDB developer guide, "Error handling with DynamoDB", and its API
reference, TransactWriteItems. Messages of DynamoDB are not passed on: some quote what was sent.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    CredentialRetrievalError,
    EndpointConnectionError,
    NoCredentialsError,
    ParamValidationError,
    PartialCredentialsError,
    ProxyConnectionError,
)

from adapters.actions import Action
from adapters.dynamodb import codec
from domain import items
from domain.errors import LeadError, LimitExceeded, Outage, Rejected, Unavailable, Uncertain
from domain.keys import Key
from domain.records import Check, CheckHead, Identity, PutHead, Receipt, Refused

CONDITION_FAILED: Final = "ConditionalCheckFailed"
_COLLECTION_FULL: Final = {
    "ItemCollectionSizeLimitExceeded",
    "ItemCollectionSizeLimitExceededException",
}
_INVALID: Final = {"ValidationError", "ValidationException"}
_NOT_SENT: Final = (
    ConnectTimeoutError,
    CredentialRetrievalError,
    EndpointConnectionError,
    NoCredentialsError,
    PartialCredentialsError,
    ProxyConnectionError,
)
_HINTS: Final = {
    "ResourceNotFoundException": "Create the tables (leads tables create) or correct their names.",
    "AccessDeniedException": "Grant the role what infra/template.yaml grants.",
    "UnrecognizedClientException": "Correct the AWS credentials.",
    "ExpiredTokenException": "Renew the AWS credentials.",
}


def failed(
    error: ClientError | BotoCoreError, *, actions: Sequence[Action] = (), in_doubt: bool = False
) -> Refused | LeadError:
    """Return what an error of the client means.

    A condition that failed comes first: it stands, whoever else was busy, and its reader takes a
    new snapshot anyway.

    Args:
        error: what was raised in the end.
        actions: of the transaction, in the order they were sent.
        in_doubt: a write may have arrived, by this try or by an earlier one of the same call.
    """
    reasons = _reasons(error)
    codes = [str(reason.get("Code", "None")) for reason in reasons]
    if CONDITION_FAILED in codes:
        return _refused(
            [
                (action, reason.get("Item"))
                for action, reason, code in zip(actions, reasons, codes, strict=False)
                if code == CONDITION_FAILED
            ]
        )
    if isinstance(error, ParamValidationError):
        return Rejected("A request to DynamoDB is malformed.", hint="This is a bug; report it.")
    if in_doubt:
        return unknown()
    if isinstance(error, ClientError):
        return _answered({code_of(error), *codes})
    return Outage("DynamoDB cannot be reached.")


def unknown() -> Uncertain:
    """Return the answer to a write that may have happened."""
    return Uncertain(
        "DynamoDB did not answer; the write may have happened.",
        hint="Send the same request again; its receipt tells.",
    )


def code_of(error: ClientError | BotoCoreError) -> str:
    """Return DynamoDB's code of an error, nothing for one of the client's own."""
    if not isinstance(error, ClientError):
        return ""
    return str(error.response.get("Error", {}).get("Code", ""))


def may_have_arrived(error: BaseException) -> bool:
    """Tell whether a request that ended in this error may have reached DynamoDB all the same."""
    return not isinstance(error, (*_NOT_SENT, ParamValidationError, ClientError))


def _reasons(error: ClientError | BotoCoreError) -> Sequence[Mapping[str, Any]]:
    if not isinstance(error, ClientError):
        return ()
    # Of TransactionCanceledException only, hence not in the type of every error's answer.
    response: Mapping[str, Any] = error.response
    return response.get("CancellationReasons") or ()


def _answered(codes: set[str]) -> LeadError:
    if "TransactionInProgressException" in codes:
        return unknown()
    if not _INVALID.isdisjoint(codes):
        return Rejected(
            "DynamoDB does not take this request.",
            hint="Compare the tables with infra/template.yaml (leads doctor).",
        )
    if not _COLLECTION_FULL.isdisjoint(codes):
        return LimitExceeded(
            "The items of one lead would be larger than 10 GB.", hint="Write to another lead."
        )
    for code, hint in _HINTS.items():
        if code in codes:
            return Outage(f"DynamoDB refuses: {code}.", hint=hint, retry_after_s=30)
    return Unavailable("DynamoDB is busy with this lead, or beyond its capacity.")


def _refused(conditions: Sequence[tuple[Action, Mapping[str, Any] | None]]) -> Refused:
    identities: list[Identity] = []
    receipts: list[Receipt] = []
    checks: list[Key] = []
    head = event = False
    for action, wire in conditions:
        match action.subject:
            case Receipt():
                receipts += [items.receipt_of(codec.decode(wire))] if wire else []
            case Identity(key=key):
                identities += [Identity(key, str(codec.decode(wire)["lead"]))] if wire else []
            case PutHead() | CheckHead():
                head = True
            case Check(key=key):
                checks.append(key)
            case _:
                event = True
    return Refused(identities=identities, receipts=receipts, head=head, checks=checks, event=event)

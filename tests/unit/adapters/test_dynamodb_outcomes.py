"""What each answer of DynamoDB means, code by code."""

from typing import Any

import pytest
from botocore import exceptions as boto
from eventsourcing.persistence import IntegrityError

from adapters.actions import actions_of
from adapters.dynamodb import codec, outcomes
from domain import items, keys
from domain.errors import LimitExceeded, Outage, Rejected, Unavailable, Uncertain
from domain.records import Check, Equal, Identity, Refused
from tests.support import make

RECORD = make.record(1)
CLAIM = Identity(keys.identity("org-one", "whatsapp", "5511900000000"), "lead-one")
LOCK = keys.Key("CRM_SYNC#session-one", "LEASE")
COMMIT = make.commit(
    [RECORD],
    identities=(CLAIM,),
    puts=(make.row(count=1),),
    deletes=(keys.lag("lead-one"),),
    checks=(Check(LOCK, Equal("token", "mine")),),
)
ACTIONS = actions_of([RECORD], COMMIT)
RECEIPT, IDENTITY, EVENT, HEAD, PUT, DELETE, CHECK = range(7)

TAKEN = make.receipt(make.record(7), nonce="another")._replace(key=COMMIT.receipts[0].key)
TAKEN_ITEM = codec.encode(items.receipt_item(TAKEN))
CLAIMED_ITEM = codec.encode(items.identity_item(Identity(CLAIM.key, "lead-two")))


def cancelled(codes, found=None):
    """TransactionCanceledException with a code at some of the actions, None at the others."""
    reasons: list[dict[str, Any]] = [{"Code": "None"} for _ in ACTIONS]
    for position, code in codes.items():
        reasons[position] = {"Code": code, "Message": "a message of DynamoDB"}
    for position, item in (found or {}).items():
        reasons[position]["Item"] = item
    error = {"Code": "TransactionCanceledException", "Message": "cancelled"}
    response: Any = {"Error": error, "CancellationReasons": reasons}
    return boto.ClientError(response, "TransactWriteItems")


def answered(code):
    return boto.ClientError({"Error": {"Code": code, "Message": "m"}}, "TransactWriteItems")


def meaning(error, *, in_doubt=False):
    return outcomes.failed(error, actions=ACTIONS, in_doubt=in_doubt)


@pytest.mark.parametrize(
    ("position", "item", "told"),
    [
        (RECEIPT, TAKEN_ITEM, {"receipts": (TAKEN,)}),
        (IDENTITY, CLAIMED_ITEM, {"identities": (Identity(CLAIM.key, "lead-two"),)}),
        (EVENT, {}, {"event": True}),
        (HEAD, {}, {"head": True}),
        (CHECK, {}, {"checks": (LOCK,)}),
    ],
)
def test_a_condition_that_failed_is_told_by_what_it_guards(position, item, told):
    refused = meaning(cancelled({position: "ConditionalCheckFailed"}, {position: item}))

    nothing = {"identities": (), "receipts": (), "head": False, "checks": (), "event": False}
    assert isinstance(refused, Refused)
    assert isinstance(refused, IntegrityError)
    assert vars(refused) == {**nothing, **told}


def test_every_condition_that_failed_is_told():
    failed = dict.fromkeys((RECEIPT, IDENTITY, EVENT, HEAD, CHECK), "ConditionalCheckFailed")

    refused = meaning(cancelled(failed, {RECEIPT: TAKEN_ITEM, IDENTITY: CLAIMED_ITEM}))

    assert vars(refused) == {
        "identities": (Identity(CLAIM.key, "lead-two"),),
        "receipts": (TAKEN,),
        "head": True,
        "checks": (LOCK,),
        "event": True,
    }


def test_a_condition_that_failed_without_its_item_tells_no_receipt():
    assert meaning(cancelled({RECEIPT: "ConditionalCheckFailed"})).receipts == ()


@pytest.mark.parametrize("beside", ["TransactionConflict", "ThrottlingError", "ValidationError"])
def test_a_condition_that_failed_counts_whatever_else_was_wrong(beside):
    assert meaning(cancelled({HEAD: "ConditionalCheckFailed", PUT: beside})).head


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("TransactionConflict", Unavailable),
        ("ThrottlingError", Unavailable),
        ("ProvisionedThroughputExceeded", Unavailable),
        ("ValidationError", Rejected),
        ("ItemCollectionSizeLimitExceeded", LimitExceeded),
        ("ACodeOfTomorrow", Unavailable),
        ("None", Unavailable),
    ],
)
@pytest.mark.parametrize("position", [RECEIPT, EVENT, HEAD, PUT, DELETE, CHECK])
def test_another_reason_to_cancel_has_one_meaning_wherever_it_stands(position, code, kind):
    assert type(meaning(cancelled({position: code}))) is kind


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        ("ProvisionedThroughputExceededException", Unavailable),
        ("RequestLimitExceeded", Unavailable),
        ("ThrottlingException", Unavailable),
        ("TransactionConflictException", Unavailable),
        ("TransactionInProgressException", Uncertain),
        ("ValidationException", Rejected),
        ("ItemCollectionSizeLimitExceededException", LimitExceeded),
        ("ResourceNotFoundException", Outage),
        ("AccessDeniedException", Outage),
        ("ExpiredTokenException", Outage),
        ("ACodeOfTomorrow", Unavailable),
    ],
)
def test_an_error_of_the_whole_request_has_one_meaning(code, kind):
    assert type(meaning(answered(code))) is kind


def test_a_store_that_is_not_reached_is_out_and_one_that_is_busy_is_not():
    assert type(meaning(boto.EndpointConnectionError(endpoint_url="u"))) is Outage
    assert type(meaning(cancelled({HEAD: "TransactionConflict"}))) is Unavailable


@pytest.mark.parametrize(
    "error",
    [
        answered("ThrottlingException"),
        answered("InternalServerError"),
        answered("ACodeOfTomorrow"),
        cancelled({HEAD: "TransactionConflict"}),
        boto.EndpointConnectionError(endpoint_url="u"),
        boto.ReadTimeoutError(endpoint_url="u"),
    ],
)
def test_a_write_that_may_have_arrived_before_is_never_called_undone(error):
    assert type(meaning(error, in_doubt=True)) is Uncertain


def test_a_condition_that_failed_stands_even_in_doubt():
    assert meaning(cancelled({HEAD: "ConditionalCheckFailed"}), in_doubt=True).head


@pytest.mark.parametrize(
    ("error", "arrived"),
    [
        (boto.ConnectTimeoutError(endpoint_url="u"), False),
        (boto.EndpointConnectionError(endpoint_url="u"), False),
        (boto.ProxyConnectionError(proxy_url="u"), False),
        (boto.NoCredentialsError(), False),
        (boto.ReadTimeoutError(endpoint_url="u"), True),
        (boto.ConnectionClosedError(endpoint_url="u"), True),
        (boto.HTTPClientError(error="e"), True),
        (boto.SSLError(endpoint_url="u", error=OSError()), True),
    ],
)
def test_only_what_was_never_sent_has_surely_not_arrived(error, arrived):
    assert outcomes.may_have_arrived(error) is arrived


@pytest.mark.parametrize("code", ["ResourceNotFoundException", "AccessDeniedException"])
def test_what_an_operator_must_mend_says_so_and_asks_for_patience(code):
    error = meaning(answered(code))

    assert code in error.detail
    assert error.retry_after_s == 30
    assert error.hint != Unavailable("x").hint


def test_no_message_of_the_client_or_of_dynamodb_is_passed_on():
    errors = [
        boto.ParamValidationError(report="value: 5511900000000"),
        boto.ClientError(
            {"Error": {"Code": "ValidationException", "Message": "5511900000000"}}, "o"
        ),
    ]

    assert [type(meaning(error)) for error in errors] == [Rejected, Rejected]
    assert not [error for error in errors if "5511900000000" in str(meaning(error))]

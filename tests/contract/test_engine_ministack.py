"""What the storage tests rely on in the engine under them; AWS documents each of these."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from botocore.exceptions import ClientError

from tests.support.aws import ministack_client

TABLE = "engine"


@pytest.fixture
def client(ministack, account):
    client = ministack_client(ministack, account)
    create_table(client)
    return client


def create_table(client):
    client.create_table(
        TableName=TABLE,
        AttributeDefinitions=[
            {"AttributeName": "pk", "AttributeType": "S"},
            {"AttributeName": "sk", "AttributeType": "S"},
        ],
        KeySchema=[
            {"AttributeName": "pk", "KeyType": "HASH"},
            {"AttributeName": "sk", "KeyType": "RANGE"},
        ],
        BillingMode="PAY_PER_REQUEST",
    )


def put(sk, writer="first", *, guarded=True):
    request = {
        "TableName": TABLE,
        "Item": {"pk": {"S": "lead"}, "sk": {"S": sk}, "writer": {"S": writer}},
    }
    if guarded:
        request["ConditionExpression"] = "attribute_not_exists(pk)"
        request["ReturnValuesOnConditionCheckFailure"] = "ALL_OLD"
    return {"Put": request}


def add_one(sk):
    return {
        "Update": {
            "TableName": TABLE,
            "Key": {"pk": {"S": "lead"}, "sk": {"S": sk}},
            "UpdateExpression": "ADD hits :one",
            "ExpressionAttributeValues": {":one": {"N": "1"}},
        }
    }


def rows(client):
    answer = client.query(
        TableName=TABLE,
        KeyConditionExpression="pk = :pk",
        ExpressionAttributeValues={":pk": {"S": "lead"}},
        ConsistentRead=True,
    )
    return {item["sk"]["S"]: item for item in answer["Items"]}


def test_a_failed_transaction_says_why_and_shows_what_stood_in_its_way(client):
    client.transact_write_items(TransactItems=[put("guard")])

    with pytest.raises(ClientError) as caught:
        client.transact_write_items(TransactItems=[put("other"), put("guard", "second")])

    assert caught.value.response["Error"]["Code"] == "TransactionCanceledException"
    first, second = caught.value.response["CancellationReasons"]
    assert first["Code"] == "None"
    assert second["Code"] == "ConditionalCheckFailed"
    assert second["Item"] == put("guard", "first")["Put"]["Item"]
    assert set(rows(client)) == {"guard"}


def test_of_sixteen_threads_on_one_guard_exactly_one_wins(client):
    start = threading.Barrier(16)

    def race(number):
        start.wait()
        try:
            client.transact_write_items(
                TransactItems=[put(f"trace-{number}"), put("guard", str(number))]
            )
        except ClientError as error:
            assert error.response["Error"]["Code"] == "TransactionCanceledException"  # noqa: PT017
            return None
        return number

    with ThreadPoolExecutor(16) as pool:
        winners = [number for number in pool.map(race, range(16)) if number is not None]

    assert len(winners) == 1
    assert set(rows(client)) == {"guard", f"trace-{winners[0]}"}
    assert rows(client)["guard"]["writer"] == {"S": str(winners[0])}


def test_a_request_that_is_sent_twice_under_one_token_counts_once(client):
    for _ in range(2):
        client.transact_write_items(
            TransactItems=[add_one("counter"), put("guard")], ClientRequestToken="same"
        )

    assert rows(client)["counter"]["hits"] == {"N": "1"}


def test_a_token_does_not_cover_another_request(client):
    client.transact_write_items(TransactItems=[add_one("counter")], ClientRequestToken="same")

    with pytest.raises(client.exceptions.IdempotentParameterMismatchException):
        client.transact_write_items(TransactItems=[add_one("another")], ClientRequestToken="same")


def test_an_account_sees_nothing_of_another(client, ministack):
    client.transact_write_items(TransactItems=[put("guard")])
    stranger = ministack_client(ministack, "999999999999")

    assert stranger.list_tables()["TableNames"] == []

"""The tables as declared, as created, as the template has them, and as the code uses them."""

import ast
from pathlib import Path

import boto3
import pytest

from adapters.dynamodb import tables
from adapters.dynamodb.tables import Names, create_tables
from adapters.tables import IDEMPOTENCY_INDEX, LOG, STATE
from domain import keys
from domain.errors import Unavailable
from domain.records import Absent, AbsentOrBelow, Check, Equal, Identity
from tests.support import make
from tests.support.aws import REGION, ministack_client, moto_client
from tests.support.dynamodb import on_ministack
from tests.support.faults import Faults, counted
from tests.support.ministack import new_account

ROOT = Path(__file__).parents[2]
TEMPLATE = ROOT / "infra/template.yaml"
NAMES = Names("lead-events-dev", "gogenetic-agent-dev")


@pytest.fixture
def client(ministack, account):
    return ministack_client(ministack, account)


def stack(ministack, account, **parameters):
    """Deploy the template as it is and return what deployed it."""
    session = boto3.session.Session(
        aws_access_key_id=account, aws_secret_access_key="unused", region_name=REGION
    )
    formation = session.client("cloudformation", endpoint_url=ministack)
    formation.create_stack(
        StackName="leads",
        TemplateBody=TEMPLATE.read_text(encoding="utf-8"),
        Parameters=[
            {"ParameterKey": key, "ParameterValue": value} for key, value in parameters.items()
        ],
        Capabilities=["CAPABILITY_IAM", "CAPABILITY_AUTO_EXPAND"],
    )
    formation.get_waiter("stack_create_complete").wait(
        StackName="leads", WaiterConfig={"Delay": 0.1, "MaxAttempts": 100}
    )
    return session


def described(client, name):
    """Say what a table is, in the order of names, without what differs from day to day."""
    table = client.describe_table(TableName=name)["Table"]
    backups = client.describe_continuous_backups(TableName=name)["ContinuousBackupsDescription"]
    ttl = client.describe_time_to_live(TableName=name)["TimeToLiveDescription"]
    return {
        "keys": table["KeySchema"],
        "attributes": sorted(
            (each["AttributeName"], each["AttributeType"]) for each in table["AttributeDefinitions"]
        ),
        "indexes": sorted(
            (kind, each["IndexName"], str(each["KeySchema"]), each["Projection"]["ProjectionType"])
            for kind in ("LocalSecondaryIndexes", "GlobalSecondaryIndexes")
            for each in table.get(kind, [])
        ),
        "billing": table["BillingModeSummary"]["BillingMode"],
        "protected": table["DeletionProtectionEnabled"],
        "recovery": backups["PointInTimeRecoveryDescription"]["PointInTimeRecoveryStatus"],
        "ttl": (ttl["TimeToLiveStatus"], ttl.get("AttributeName")),
    }


@pytest.mark.parametrize("wanted", [True, False])
def test_the_template_and_the_command_make_the_same_tables(ministack, account, client, wanted):
    stack(ministack, account, Environment="prod", IdempotencyIndex=str(wanted).lower())
    create_tables(client, NAMES, idempotency_index=wanted)

    for mine in NAMES:
        created, deployed = described(client, mine), described(client, mine.replace("dev", "prod"))
        # ministack does not read these properties of a template; the next test does.
        for name in ("recovery", "ttl"):
            del created[name], deployed[name]
        assert created == deployed


def test_the_template_protects_every_table_and_lets_nothing_of_the_log_expire():
    template = TEMPLATE.read_text(encoding="utf-8")
    log, state = template.split("  AgentState:", 1)
    assert "TimeToLive" not in log
    assert "TimeToLiveSpecification: { AttributeName: ttl, Enabled: true }" in state
    made = template.count("Type: AWS::DynamoDB::Table")

    for line in (
        "PointInTimeRecoveryEnabled: true",
        "DeletionPolicy: Retain",
        "UpdateReplacePolicy: Retain",
    ):
        assert template.count(line) == made == len(NAMES)


def test_the_tables_are_what_the_design_says(client):
    create_tables(client, NAMES)
    log, state = (described(client, name) for name in NAMES)

    assert log["protected"]
    assert log["ttl"] == ("DISABLED", None)
    assert state["ttl"] == ("ENABLED", "ttl")
    assert {log["recovery"], state["recovery"]} == {"ENABLED"}
    assert {log["billing"], state["billing"]} == {"PAY_PER_REQUEST"}
    assert [(kind, name, projection) for kind, name, _, projection in log["indexes"]] == [
        ("GlobalSecondaryIndexes", "event-type-index", "ALL"),
        ("GlobalSecondaryIndexes", "idempotency-index", "KEYS_ONLY"),
        ("GlobalSecondaryIndexes", "lead-index", "KEYS_ONLY"),
        ("LocalSecondaryIndexes", "sequence-index", "ALL"),
    ]
    assert [(name, projection) for _, name, _, projection in state["indexes"]] == [("GSI1", "ALL")]


def test_creating_what_exists_changes_nothing(client):
    assert create_tables(client, NAMES) == list(NAMES)
    before = [described(client, name) for name in NAMES]

    assert create_tables(client, NAMES) == []
    assert [described(client, name) for name in NAMES] == before


def test_creating_switches_on_what_was_switched_off(client):
    create_tables(client, NAMES)
    client.update_continuous_backups(
        TableName=NAMES.log,
        PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": False},
    )

    create_tables(client, NAMES)

    assert described(client, NAMES.log)["recovery"] == "ENABLED"


def test_recovery_is_switched_on_as_soon_as_dynamodb_lets_it(client, monkeypatch):
    monkeypatch.setattr(tables, "_RECOVERY_PAUSE_S", 0)
    faults = Faults(client)
    refusal = ("ContinuousBackupsUnavailableException", "UpdateContinuousBackups")
    faults.answer(*refusal, times=3)
    create_tables(client, NAMES)
    assert described(client, NAMES.log)["recovery"] == "ENABLED"

    client.update_continuous_backups(
        TableName=NAMES.log,
        PointInTimeRecoverySpecification={"PointInTimeRecoveryEnabled": False},
    )
    faults.answer(*refusal, times=1000)
    with pytest.raises(Unavailable, match=NAMES.log):
        create_tables(client, NAMES)


def test_a_factory_makes_the_tables_of_its_deployment(ministack, account):
    with on_ministack(ministack, account, DYNAMODB_TABLE="state-one") as factory:
        assert factory.create_tables() == []
        factory.client.delete_table(TableName="state-one")
        assert factory.create_tables() == ["state-one"]

        Faults(factory.client).answer("AccessDeniedException", "CreateTable")
        with pytest.raises(Unavailable, match="AccessDenied"):
            factory.create_tables()


def test_moto_takes_the_same_tables():
    with moto_client() as client:
        assert create_tables(client, NAMES) == list(NAMES)


def use_everything(factory):
    """Make every request that the adapter makes."""
    recorder, state = factory.recorder, factory.state_table()
    claim = Identity(keys.identity("org-one", "whatsapp", "5511900000000"), "lead-one")
    lock = make.row(keys.Key("CRM_SYNC#session-one", "LEASE"), token="mine", until="2026")
    indexed = make.row(keys.api_key("one"), name="a key")
    state.put(lock, Absent())
    state.put(lock, AbsentOrBelow("until", "2027"))
    state.put(indexed)
    record = make.record()
    recorder.insert_events(
        [record],
        commit=make.commit(
            [record],
            identities=(claim,),
            puts=(make.row(count=1),),
            deletes=(keys.lag("lead-one"),),
            checks=(Check(lock.key, Equal("token", "mine")),),
        ),
    )
    head = recorder.snapshot("lead-one", [lock.key], ["KEY#none"]).head
    recorder.insert_events([], commit=make.commit(head=make.checked(head), puts=(make.row(n=2),)))
    recorder.select_events("lead-one", gt=0, lte=5, desc=True, limit=1)
    recorder.raw_payload("lead-one", 1)
    recorder.resolve([claim.key])
    recorder.receipt("KEY#none")
    for event_type in (None, "purchase_completed"):
        recorder.select_by_time("lead-one", event_type=event_type, since=make.instant())
    recorder.leads("org-one", limit=10)
    state.get(lock.key)
    state.query("MEMORY#lead-one", prefix="purchase#")
    state.query_index(keys.api_keys("org-one"))
    state.delete(lock.key, Equal("token", "mine"))


@pytest.fixture(scope="module")
def requests(ministack):
    with on_ministack(ministack, new_account()) as factory, counted(factory.client) as calls:
        use_everything(factory)
    return calls


def test_every_query_names_a_declared_index_by_its_keys_and_filters_nothing(requests):
    queries = [call.request for call in requests if call.operation == "Query"]
    declared = dict(zip(NAMES, (LOG, STATE), strict=True))

    assert {call.operation for call in requests}.isdisjoint({"Scan", "ExecuteStatement"})
    assert {query.get("IndexName") for query in queries} == {
        *(index.name for table in declared.values() for index in table.indexes),
        None,
    } - {IDEMPOTENCY_INDEX.name}
    for query in queries:
        table = declared[query["TableName"]]
        by_name = {index.name: index for index in table.indexes}
        target = by_name[query["IndexName"]] if "IndexName" in query else table
        attributes = query["ExpressionAttributeNames"]
        assert attributes["#pk"] == target.pk.name
        assert attributes.get("#sk", target.sk.name) == target.sk.name
        assert query["KeyConditionExpression"].replace("BETWEEN :low AND :high", "") in {
            "#pk = :pk",
            "#pk = :pk AND #sk ",
        }
        assert "FilterExpression" not in query


def test_all_but_global_indexes_is_read_consistently(requests):
    reads = [
        call.request
        for call in requests
        if call.operation in {"Query", "GetItem"}
        and call.request.get("IndexName") in {None, "sequence-index"}
    ]
    batches = [call.request for call in requests if call.operation == "BatchGetItem"]

    assert len(reads) >= 6
    assert {read["ConsistentRead"] for read in reads} == {True}
    assert [batch["RequestItems"][NAMES.log]["ConsistentRead"] for batch in batches] == [True]


def test_no_module_of_the_adapter_can_scan_filter_update_or_batch_write():
    """But for the scan of a restore, in a module of its own that only `streams` calls."""
    modules = {
        path.name: path.read_text(encoding="utf-8")
        for path in (ROOT / "adapters/dynamodb").glob("*.py")
    }
    whole_log = modules.pop("whole_log.py")
    assert whole_log.count("scan,") == 1
    assert [name for name, text in modules.items() if "whole_log." in text] == ["recorder.py"]
    assert modules["recorder.py"].count("whole_log.") == 1
    sources = modules.values()
    used = {
        node.attr if isinstance(node, ast.Attribute) else node.value
        for source in sources
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.Attribute)
        or (isinstance(node, ast.Constant) and isinstance(node.value, str))
    }

    assert "query" in used
    assert not used & {
        "scan",
        "FilterExpression",
        "update_item",
        "Update",
        "UpdateExpression",
        "batch_write_item",
        "execute_statement",
        "get_paginator",
    }


def actions_on(requests, table_name):
    """Name the IAM actions that requests need on one table."""
    needed = set()
    for call in requests:
        entries = call.request.get("TransactItems", [{call.operation: call.request}])
        for kind, request in (pair for entry in entries for pair in entry.items()):
            action = {
                "Get": "GetItem",
                "Put": "PutItem",
                "Delete": "DeleteItem",
                "ConditionCheck": "ConditionCheckItem",
            }.get(kind, kind)
            if table_name in {request.get("TableName"), *request.get("RequestItems", {})}:
                needed.add(f"dynamodb:{action}")
    return needed


def test_the_policy_allows_what_the_code_does_and_nothing_else(ministack, account, requests):
    session = stack(ministack, "200000000001", Environment="dev")
    iam = session.client("iam", endpoint_url=ministack)
    (policy,) = iam.list_policies(Scope="Local")["Policies"]
    document = iam.get_policy_version(
        PolicyArn=policy["Arn"], VersionId=policy["DefaultVersionId"]
    )["PolicyVersion"]["Document"]
    allowed = {statement["Sid"]: set(statement["Action"]) for statement in document["Statement"]}

    assert allowed == {
        "Log": actions_on(requests, NAMES.log),
        "State": actions_on(requests, NAMES.state),
    }
    assert allowed["Log"].isdisjoint({"dynamodb:UpdateItem", "dynamodb:DeleteItem"})
    assert {resource for each in document["Statement"] for resource in each["Resource"]} == {
        f"arn:aws:dynamodb:{REGION}:200000000001:table/{name}{index}"
        for name in NAMES
        for index in ("", "/index/*")
    }


def test_every_write_of_the_log_is_a_put_with_a_condition(requests):
    writes = [
        action
        for call in requests
        for action in call.request.get("TransactItems", [])
        for request in action.values()
        if call.operation == "TransactWriteItems" and request["TableName"] == NAMES.log
    ]

    assert len(writes) == 5
    assert {verb for action in writes for verb in action} == {"Put", "ConditionCheck"}
    for action in writes:
        (request,) = action.values()
        assert request["ConditionExpression"]
        assert request["ReturnValuesOnConditionCheckFailure"] == "ALL_OLD"

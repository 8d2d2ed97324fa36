"""The queue and the functions of the template: as declared, as deployed, and as the code uses them."""

import json
import re
from importlib import import_module

import pytest

from adapters.clock import utc_now
from handlers.entrypoints.lambdas.container import container
from tests.support.aws import REGION
from tests.support.deliveries import ACCOUNT, delivery, stamp, text
from tests.support.lambdas import cold_containers, poll, signed_header, v2
from tests.support.template import TEMPLATE, actions, clients, deploy, part, variables
from tests.support.webhook import APP_SECRET, VERIFY_TOKEN

SECRETS = {
    "LEADS_WHATSAPP_APP_SECRET": APP_SECRET,
    "LEADS_WHATSAPP_VERIFY_TOKEN": VERIFY_TOKEN,
    "LEADS_WHATSAPP_TOKEN": "token-de-acesso",
    "LEADS_OPENAI_KEY": "chave",
}
TOPIC = "arn:aws:sns:us-east-1:000000000000:alerts"
FUNCTIONS = ("webhook", "queue", "schedule")


def alarms(client):
    """Return the alarms, by what they watch."""
    found = client("cloudwatch").describe_alarms()["MetricAlarms"]
    return {each["MetricName"]: each for each in found}


@pytest.fixture
def client(ministack, account):
    return clients(ministack, account)


@pytest.fixture
def deployed(client, account):
    """The stack with its functions, and its outputs."""
    return deploy(client, account, SECRETS, WhatsAppNumbers=ACCOUNT, Model="scripted")


def test_the_queue_is_the_one_the_code_wakes_through(deployed, client):
    sqs = client("sqs")
    found = sqs.get_queue_attributes(QueueUrl=deployed["WakeUpsUrl"], AttributeNames=["All"])
    queue = found["Attributes"]
    redrive = json.loads(queue["RedrivePolicy"])

    assert (queue["FifoQueue"], queue["ContentBasedDeduplication"]) == ("true", "false")
    assert (queue["DeduplicationScope"], queue["FifoThroughputLimit"]) == (
        "messageGroup",
        "perMessageGroupId",
    )
    assert redrive["maxReceiveCount"] == 5
    assert redrive["deadLetterTargetArn"].endswith(":leads-wake-ups-dead-dev.fifo")
    times = [int(each) for each in re.findall(r"Timeout: (\d+)", part("QueueFunction"))]
    assert int(queue["VisibilityTimeout"]) >= 6 * times[0]


def test_the_queue_calls_its_function_and_is_told_what_failed(deployed, client):
    [source] = client("lambda").list_event_source_mappings()["EventSourceMappings"]

    assert source["EventSourceArn"].endswith(":leads-wake-ups-dev.fifo")
    assert source["FunctionArn"].endswith(":leads-queue-dev")
    assert source["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


def test_somebody_is_told_of_the_first_wake_up_that_failed_five_times(client, account):
    deploy(client, account, SECRETS, AlertsSnsTopicArn=TOPIC)
    alarm = alarms(client)["ApproximateNumberOfMessagesVisible"]

    assert alarm["Dimensions"] == [{"Name": "QueueName", "Value": "leads-wake-ups-dead-dev.fifo"}]
    assert (alarm["ComparisonOperator"], alarm["Threshold"]) == ("GreaterThanOrEqualToThreshold", 1)
    assert alarm["AlarmActions"] == alarm["OKActions"] == [TOPIC]


def test_somebody_is_told_that_a_lead_waits_and_that_nobody_knows_whether_one_does(client, account):
    deploy(client, account, SECRETS, AlertsSnsTopicArn=TOPIC)
    alarm = alarms(client)["OldestWaitingSeconds"]

    assert alarm["Namespace"] == "GoGenetic/Leads"
    assert alarm["Dimensions"] == [{"Name": "FunctionName", "Value": "leads-schedule-dev"}]
    assert (alarm["ComparisonOperator"], alarm["Threshold"]) == ("GreaterThanThreshold", 300)
    assert (alarm["Statistic"], alarm["Period"], alarm["EvaluationPeriods"]) == ("Minimum", 300, 1)
    assert alarm["TreatMissingData"] == "breaching"
    assert alarm["AlarmActions"] == alarm["OKActions"] == [TOPIC]


def test_the_round_is_done_every_minute(deployed, client):
    [rule] = client("events").list_rules()["Rules"]
    [target] = client("events").list_targets_by_rule(Rule=rule["Name"])["Targets"]

    assert rule["ScheduleExpression"] == "rate(1 minute)"
    assert target["Arn"].endswith(":leads-schedule-dev")


def test_the_webhook_has_its_two_routes_and_no_other(deployed, client):
    [api] = client("apigatewayv2").get_apis()["Items"]
    routes = client("apigatewayv2").get_routes(ApiId=api["ApiId"])["Items"]

    assert {each["RouteKey"] for each in routes} == {
        "GET /v1/channels/whatsapp",
        "POST /v1/channels/whatsapp",
    }
    assert deployed["WebhookUrl"].endswith("/v1/channels/whatsapp")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_handler_of_the_template_is_a_function(name):
    handler = re.search(r"Handler: (\S+)", part(f"{name.title()}Function"))
    assert handler
    module, _, function = handler[1].rpartition(".")

    assert callable(getattr(import_module(module), function))


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("webhook", {"LEADS_WHATSAPP_APP_SECRET", "LEADS_WHATSAPP_VERIFY_TOKEN"}),
        ("queue", {"LEADS_WHATSAPP_TOKEN", "LEADS_OPENAI_KEY"}),
        ("schedule", set()),
    ],
)
def test_a_function_is_given_the_secrets_it_uses_and_no_other(deployed, client, name, wanted):
    given = variables(client, name)

    assert {key: value for key, value in given.items() if key in SECRETS} == {
        key: SECRETS[key] for key in wanted
    }
    assert given["LEADS_QUEUE_URL"].endswith("/leads-wake-ups-dev.fifo")


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("Webhook", {"sqs:SendMessage"}),
        (
            "Queue",
            {
                "sqs:ChangeMessageVisibility",
                "sqs:DeleteMessage",
                "sqs:GetQueueAttributes",
                "sqs:ReceiveMessage",
            },
        ),
        ("Schedule", {"sqs:SendMessage"}),
    ],
)
def test_a_role_may_do_what_its_function_does_and_no_more(name, wanted):
    assert actions(f"{name}Role") == wanted | {"logs:CreateLogStream", "logs:PutLogEvents"}
    assert 'Resource: "*"' not in part(f"{name}Role")
    assert "- !Ref StorePolicy" in part(f"{name}Role")


def test_nothing_edits_or_deletes_what_stands_in_the_log():
    log, state = part("StorePolicy").split("- Sid: State")

    assert "dynamodb:PutItem" in log
    assert not re.search(r"UpdateItem|DeleteItem|dynamodb:\*|BatchWriteItem", log)
    assert "AgentState" not in log
    assert "LeadEvents" not in state


def test_without_a_package_there_are_tables_and_the_queue_alone():
    resources = re.findall(r"^  (\w+):\n    Type: (AWS::\S+)", TEMPLATE, re.MULTILINE)
    conditional = re.compile("Condition: Has(Code|Crm)$", re.MULTILINE)
    always = {name for name, _ in resources if not conditional.search(part(name))}

    assert always == {
        *("LeadEvents", "AgentState", "StorePolicy"),
        *("WakeUps", "DeadWakeUps", "DeadWakeUpsAlarm"),
    }


@pytest.fixture
def cloud(ministack, account, tmp_path, monkeypatch):
    """Where AWS is here, for a container that works in an empty folder."""
    monkeypatch.chdir(tmp_path)
    return {
        "AWS_ENDPOINT_URL": ministack,
        "AWS_ACCESS_KEY_ID": account,
        "AWS_SECRET_ACCESS_KEY": "unused",
        "AWS_REGION": REGION,
        "LEADS_SETTLE_SECONDS": "0",
        "LEADS_WHATSAPP_URL": "http://127.0.0.1:1",
    }


def test_the_functions_work_with_what_the_template_gives_them_and_fill_the_alarm(
    deployed, client, cloud, monkeypatch, capsys
):
    """From a webhook through the deployed queue and tables to a human, for want of a channel."""

    def handler(name):
        """Become a cold container of a function, with its environment and no other."""
        for each in SECRETS:
            monkeypatch.delenv(each, raising=False)
        for key, value in {**variables(client, name), **cloud}.items():
            monkeypatch.setenv(key, value)
        monkeypatch.setenv("LEADS_QUEUE_URL", deployed["WakeUpsUrl"])
        return import_module(f"handlers.entrypoints.lambdas.{name}").lambda_handler

    # ministack would call the deployed function, which is empty.
    [source] = client("lambda").list_event_source_mappings()["EventSourceMappings"]
    client("lambda").delete_event_source_mapping(UUID=source["UUID"])
    body = delivery(text("wamid.A", timestamp=stamp(utc_now())))
    with cold_containers():
        post = handler("webhook")
        assert post(v2("POST", body, **signed_header(body)), None)["statusCode"] == 202
    with cold_containers():
        work = handler("queue")
        [woken] = poll(client("sqs"), deployed["WakeUpsUrl"], work)
        thread = container(sends=True).talks.conversations.look(woken["leadOrganizationId"]).thread
        assert thread is not None
        assert thread.pending == []
        assert len(list(thread.moving())) == 1
    with cold_containers():
        monkeypatch.setenv("AWS_LAMBDA_FUNCTION_NAME", "leads-schedule-dev")
        assert "failed" not in handler("schedule")({}, None)
    document = json.loads(capsys.readouterr().out.splitlines()[-1])
    [stated] = document["_aws"]["CloudWatchMetrics"]
    watched = alarms(client)["OldestWaitingSeconds"]

    assert stated["Namespace"] == watched["Namespace"]
    assert {name: document[name] for name in stated["Dimensions"][0]} == {
        each["Name"]: each["Value"] for each in watched["Dimensions"]
    }
    assert {"OldestWaitingSeconds", "HandoffQueue"} <= {each["Name"] for each in stated["Metrics"]}

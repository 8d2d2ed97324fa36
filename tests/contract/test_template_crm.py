"""The mirror's function of the template: as declared, as deployed, and as the code fills its alarms."""

import json
import re
from importlib import import_module
from pathlib import Path
from random import Random

import pytest

from adapters.clock import utc_now
from domain.crm.desired import STAGES as OUR_STAGES
from handlers.bootstrap import build
from handlers.crm.worker import BUDGET_S
from handlers.entrypoints.lambdas import crm
from handlers.settings import read_settings
from handlers.simulators.hubspot import STAGES, HubSpot, Setup
from tests.support.aws import REGION
from tests.support.cli import CommandLine
from tests.support.lambdas import cold_containers
from tests.support.mirrored import row, to_be_mirrored
from tests.support.template import TEMPLATE, actions, clients, deploy, part, variables

SECRETS = {
    "LEADS_WHATSAPP_APP_SECRET": "segredo",
    "LEADS_WHATSAPP_VERIFY_TOKEN": "verificacao",
    "LEADS_WHATSAPP_TOKEN": "token-de-acesso",
    "LEADS_OPENAI_KEY": "chave",
}
WITH_HUBSPOT = {**SECRETS, "HUBSPOT_TOKEN": "token-do-hubspot"}
TOPIC = "arn:aws:sns:us-east-1:000000000000:alerts"
STAGE_PARAMETERS = {
    f"HubSpotStage{name.title().replace('_', '')}": STAGES[name] for name in OUR_STAGES
}
ALARMS_TOLD = (Path(__file__).parents[2] / "infra/ALARMS.md").read_text(encoding="utf-8")
OURS = "GoGenetic/CRM"


class Context:
    function_name = "leads-crm-dev"


@pytest.fixture
def client(ministack, account):
    return clients(ministack, account)


@pytest.fixture
def deployed(client, account):
    """The stack with a CRM, and its outputs."""
    return deploy(
        client,
        account,
        WITH_HUBSPOT,
        HubSpot="running",
        HubSpotPipeline="vendas",
        AlertsSnsTopicArn=TOPIC,
        **STAGE_PARAMETERS,
    )


def alarms(client):
    """Return the alarms about the mirror, by what they watch."""
    found = client("cloudwatch").describe_alarms()["MetricAlarms"]
    return {each["MetricName"]: each for each in found if each["Namespace"] in {OURS, "AWS/Lambda"}}


def condition(alarm):
    """Return what an alarm goes off at: compared how with what, of what, over how many seconds."""
    return (
        alarm["ComparisonOperator"],
        alarm["Threshold"],
        alarm["Statistic"],
        alarm["Period"] * alarm["EvaluationPeriods"],
    )


def test_a_deployment_without_a_crm_has_no_function_for_it_and_needs_no_token(client, account):
    deploy(client, account, SECRETS)
    functions = client("lambda").list_functions()["Functions"]

    assert "leads-webhook-dev" in {each["FunctionName"] for each in functions}
    assert "leads-crm-dev" not in {each["FunctionName"] for each in functions}
    assert alarms(client) == {}


def test_the_function_runs_every_minute_one_at_a_time_and_may_take_two(deployed, client):
    found = client("lambda").get_function(FunctionName="leads-crm-dev")
    rules = client("events").list_rules()["Rules"]
    targets = {
        target["Arn"].rpartition(":")[2]: rule["ScheduleExpression"]
        for rule in rules
        for target in client("events").list_targets_by_rule(Rule=rule["Name"])["Targets"]
    }

    assert found["Configuration"]["Timeout"] == 120
    # ministack does not read this property of a template.
    assert "\n      ReservedConcurrentExecutions: 1\n" in part("CrmSyncFunction")
    assert targets["leads-crm-dev"] == "rate(1 minute)"
    assert "SourceArn: !GetAtt CrmEveryMinute.Arn" in part("CrmSyncPermission")
    assert found["Configuration"]["Timeout"] >= BUDGET_S + 50


def test_a_minute_that_failed_is_not_run_once_more(deployed, client):
    found = client("lambda").get_function_event_invoke_config(
        FunctionName="leads-crm-dev", Qualifier="$LATEST"
    )

    assert (found["MaximumRetryAttempts"], found["MaximumEventAgeInSeconds"]) == (0, 60)


def test_the_handler_of_the_template_is_the_function():
    handler = re.search(r"Handler: (\S+)", part("CrmSyncFunction"))
    assert handler
    module, _, function = handler[1].rpartition(".")

    assert getattr(import_module(module), function) is crm.lambda_handler


def test_the_function_is_given_hubspots_secret_and_no_other(deployed, client):
    given = variables(client, "crm")

    assert {name: value for name, value in given.items() if name in WITH_HUBSPOT} == {
        "HUBSPOT_TOKEN": "token-do-hubspot"
    }
    assert not set(given.values()) & set(SECRETS.values())
    assert not [name for name in given if name.startswith(("LEADS_WHATSAPP", "LEADS_OPENAI"))]
    for other in ("webhook", "queue", "schedule"):
        assert "token-do-hubspot" not in variables(client, other).values()


def test_the_function_is_given_every_stage_and_its_own_names(deployed, client):
    given = variables(client, "crm")

    for name in OUR_STAGES:
        assert given[f"HUBSPOT_STAGE_{name.upper()}"] == STAGES[name]
    assert (given["HUBSPOT_PIPELINE"], given["HUBSPOT_ENABLED"]) == ("vendas", "true")
    assert (given["LEADS_CRM_ENVIRONMENT"], given["LEADS_CRM_METRICS_NAMESPACE"]) == ("dev", OURS)


def test_a_mirror_that_is_paused_is_deployed_and_told_so(client, account):
    deploy(client, account, WITH_HUBSPOT, HubSpot="paused")

    assert variables(client, "crm")["HUBSPOT_ENABLED"] == "false"


def test_the_role_may_write_its_log_lines_and_use_the_tables_and_nothing_else():
    assert actions("CrmSyncRole") == {"logs:CreateLogStream", "logs:PutLogEvents"}
    assert part("CrmSyncRole").count("Resource:") == 1
    assert "Resource: !GetAtt CrmSyncLogs.Arn" in part("CrmSyncRole")
    assert re.findall(r"ManagedPolicyArns:\n((?: +- .*\n)+)", part("CrmSyncRole")) == [
        "        - !Ref StorePolicy\n"
    ]
    assert "Role: !GetAtt CrmSyncRole.Arn" in part("CrmSyncFunction")


def test_every_alarm_goes_off_at_what_it_is_for(deployed, client):
    at_least, more, less = (
        "GreaterThanOrEqualToThreshold",
        "GreaterThanThreshold",
        "LessThanThreshold",
    )

    assert {name: condition(alarm) for name, alarm in alarms(client).items()} == {
        "Blocked": (at_least, 1, "Maximum", 60),
        "Uncertain": (at_least, 1, "Minimum", 900),
        "UncertainForPeople": (at_least, 1, "Maximum", 60),
        "OldestRunnableSeconds": (more, 900, "Maximum", 60),
        "BreakerOpen": (at_least, 1, "Maximum", 60),
        "HumanOverride": (at_least, 25, "Sum", 900),
        "DailyRequestsLeftPercent": (less, 10, "Minimum", 60),
        "Runs": (less, 1, "Sum", 300),
        "Errors": (at_least, 1, "Sum", 60),
    }


def test_a_minute_without_numbers_is_news_only_to_the_alarm_that_watches_for_it(deployed, client):
    missing = {name: alarm["TreatMissingData"] for name, alarm in alarms(client).items()}

    assert missing.pop("Runs") == "breaching"
    # Lambda tells of errors only when there were some.
    assert missing.pop("Errors") == "notBreaching"
    assert set(missing.values()) == {"ignore"}


def test_every_alarm_tells_the_topic_and_watches_this_function(deployed, client):
    for alarm in alarms(client).values():
        assert alarm["AlarmActions"] == [TOPIC]
        assert alarm["Dimensions"] == [{"Name": "FunctionName", "Value": "leads-crm-dev"}]


def test_what_is_a_spike_is_a_deployments_own(client, account):
    deploy(client, account, WITH_HUBSPOT, HubSpot="paused", CrmHumanOverrideSpike="7")

    assert alarms(client)["HumanOverride"]["Threshold"] == 7


def test_without_a_topic_alarms_are_there_and_tell_nobody(client, account):
    deploy(client, account, WITH_HUBSPOT, HubSpot="paused")

    assert [each.get("AlarmActions", []) for each in alarms(client).values()] == [[]] * 9


def test_whoever_is_told_of_an_alarm_finds_what_to_do():
    named = re.findall(r"AlarmDescription: .* See ALARMS.md, (\w+)\.$", TEMPLATE, re.MULTILINE)
    headings = re.findall(r"^## (\w+)$", ALARMS_TOLD, re.MULTILINE)

    assert len(named) == TEMPLATE.count("Type: AWS::CloudWatch::Alarm\n")
    assert sorted(named) == sorted(headings)
    assert sorted(re.findall(r"^\| \[(\w+)\]\(#", ALARMS_TOLD, re.MULTILINE)) == sorted(headings)


@pytest.fixture
def cloud(ministack, account, tmp_path, monkeypatch):
    """Become a container of the function, with its environment and where AWS is here."""
    monkeypatch.chdir(tmp_path)
    here = {
        "AWS_ENDPOINT_URL": ministack,
        "AWS_ACCESS_KEY_ID": account,
        "AWS_SECRET_ACCESS_KEY": "unused",
        "AWS_REGION": REGION,
        "LEADS_SETTLE_SECONDS": "0",
    }

    def cloud(given):
        for name, value in {**given, **here}.items():
            monkeypatch.setenv(name, value)

    with cold_containers():
        yield cloud
        crm.close_all()


def test_the_function_works_with_what_the_template_gives_it_and_fills_every_alarm(
    deployed, client, cloud, capsys
):
    given = variables(client, "crm")
    with HubSpot(Setup(), random=Random(7), now=utc_now) as hubspot:
        account = {"HUBSPOT_URL": hubspot.url, "HUBSPOT_TOKEN": hubspot.token}
        cloud({**given, **account, "HUBSPOT_PIPELINE": "default"})
        app = build(read_settings())
        try:
            to_be_mirrored(app, "s-1")
            assert crm.lambda_handler({}, Context()) == {"synced": 1}
            assert row(app, "s-1").status == "SYNCED"
        finally:
            app.close()
        [deal] = hubspot.deals()
    document = json.loads(capsys.readouterr().out.splitlines()[-1])
    [stated] = document["_aws"]["CloudWatchMetrics"]
    watched = {name for name, alarm in alarms(client).items() if alarm["Namespace"] == OURS}

    assert deal.values["dealstage"] == STAGES["atendimento_humano"]
    assert stated["Namespace"] == given["LEADS_CRM_METRICS_NAMESPACE"]
    assert {name: document[name] for name in stated["Dimensions"][0]} == {
        each["Name"]: each["Value"] for each in alarms(client)["Blocked"]["Dimensions"]
    }
    assert watched <= {each["Name"] for each in stated["Metrics"]}


def test_every_command_that_is_told_to_whoever_an_alarm_wakes_is_there(tmp_path):
    leads = CommandLine(tmp_path)
    named = sorted(set(re.findall(r"`leads crm ([a-z]+)", ALARMS_TOLD)))

    assert {"status", "doctor", "resume", "release"} <= set(named)
    assert [name for name in named if leads("crm", name, "--help").code != 0] == []

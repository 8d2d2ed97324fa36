"""The template of the deployment: what it says, and stacks of it on ministack."""

import io
import json
import re
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import boto3

from tests.support.aws import REGION

TEMPLATE = (Path(__file__).parents[2] / "infra/template.yaml").read_text(encoding="utf-8")

Client = Callable[[str], Any]


def clients(endpoint: str, account: str) -> Client:
    """Return how a client of a service is made, for one account."""
    session: Any = boto3.session.Session(
        aws_access_key_id=account, aws_secret_access_key="unused", region_name=REGION
    )
    return lambda service: session.client(service, endpoint_url=endpoint)


def part(name: str) -> str:
    """Return what the template says of a resource."""
    found = re.search(rf"^  {name}:\n((?:    .*\n|\n)+)", TEMPLATE, re.MULTILINE)
    assert found, name
    return found[1]


def actions(name: str) -> set[str]:
    """Return what a resource is allowed to do."""
    return set(re.findall(r"- ((?:sqs|logs|dynamodb|lambda|\*)[:\w*]*)$", part(name), re.MULTILINE))


def deploy(
    client: Client, account: str, secrets: Mapping[str, str], **parameters: str
) -> dict[str, str]:
    """Make the stack with its functions; return its outputs."""
    bucket = f"code-{account}"
    client("s3").create_bucket(Bucket=bucket)
    client("s3").put_object(Bucket=bucket, Key="leads.zip", Body=_package())
    client("secretsmanager").create_secret(Name="leads", SecretString=json.dumps(secrets))
    formation = client("cloudformation")
    formation.create_stack(
        StackName="leads",
        TemplateBody=TEMPLATE,
        Parameters=[
            {"ParameterKey": key, "ParameterValue": value}
            for key, value in {"CodeBucket": bucket, **parameters}.items()
        ],
        Capabilities=["CAPABILITY_IAM"],
    )
    formation.get_waiter("stack_create_complete").wait(
        StackName="leads", WaiterConfig={"Delay": 0.1, "MaxAttempts": 100}
    )
    [stack] = formation.describe_stacks(StackName="leads")["Stacks"]
    return {each["OutputKey"]: each["OutputValue"] for each in stack["Outputs"]}


def variables(client: Client, name: str) -> dict[str, str]:
    """Return the environment of a deployed function."""
    found = client("lambda").get_function_configuration(FunctionName=f"leads-{name}-dev")
    given: dict[str, str] = found["Environment"]["Variables"]
    return given


def _package() -> bytes:
    """A package of the functions; nothing here runs it."""
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w") as archive:
        archive.writestr("handlers/__init__.py", "")
    return content.getvalue()

"""The conditions and targets of every action of a transaction."""

import pytest

from adapters.actions import actions_of
from adapters.dynamodb.requests import write_of
from adapters.dynamodb.tables import Names
from domain import keys
from domain.records import Absent, AbsentOrBelow, Check, CheckHead, Commit, Equal, Identity, PutHead
from tests.support import make

NAMES = Names("log", "state")
LOCK = keys.Key("CRM_SYNC#session-one", "LEASE")


def requests(events, commit):
    """What is sent, with every placeholder of a condition replaced by what it stands for."""
    return [read(write_of(action, NAMES)) for action in actions_of(events, commit)]


def read(request):
    ((verb, parameters),) = request.items()
    condition = parameters.get("ConditionExpression", "")
    values = parameters.get("ExpressionAttributeValues", {})
    for name, attribute in parameters.get("ExpressionAttributeNames", {}).items():
        condition = condition.replace(name, attribute)
    for name, value in values.items():
        condition = condition.replace(name, str(value))
    return verb, parameters["TableName"], condition


FREE = "attribute_not_exists(leadOrganizationId)"


def test_guards_and_events_go_where_nothing_stands_in_the_order_they_are_judged():
    record = make.record()
    claim = Identity(keys.identity("org-one", "whatsapp", "5511900000000"), "lead-one")
    commit = make.commit(
        [record],
        identities=(claim,),
        puts=(make.row(count=1),),
        deletes=(keys.lag("lead-one"),),
        checks=(Check(LOCK, Absent()),),
    )

    assert requests([record], commit) == [
        ("Put", "log", FREE),
        ("Put", "log", FREE),
        ("Put", "log", FREE),
        ("Put", "log", FREE),
        ("Put", "state", ""),
        ("Delete", "state", ""),
        ("ConditionCheck", "state", "attribute_not_exists(PK)"),
    ]


@pytest.mark.parametrize(
    ("head", "request_of_it"),
    [
        (PutHead(make.head(), 0), ("Put", FREE)),
        (PutHead(make.head(), 4), ("Put", "rev = {'N': '4'}")),
        (CheckHead("lead-one", rev=4), ("ConditionCheck", "rev = {'N': '4'}")),
        (CheckHead("lead-one", projected=0), ("ConditionCheck", "projected = {'N': '0'}")),
        (CheckHead("lead-one", fold_version=2), ("ConditionCheck", "foldVersion = {'N': '2'}")),
        (CheckHead("lead-one", goal=7), ("ConditionCheck", "goal = {'N': '7'}")),
        (CheckHead("lead-one"), ("ConditionCheck", "")),
        (
            CheckHead("lead-one", projected=0, fold_version=2, goal=7),
            (
                "ConditionCheck",
                "projected = {'N': '0'} AND foldVersion = {'N': '2'} AND goal = {'N': '7'}",
            ),
        ),
    ],
)
def test_a_head_is_compared_in_what_is_given(head, request_of_it):
    verb, compared = request_of_it
    exists = "attribute_exists(leadOrganizationId)"
    condition = compared if compared == FREE else " AND ".join(filter(None, [exists, compared]))

    assert requests([], Commit(head=head)) == [(verb, "log", condition)]


@pytest.mark.parametrize(
    ("condition", "expression"),
    [
        (Absent(), "attribute_not_exists(PK)"),
        (Equal("token", "mine"), "attribute_exists(PK) AND token = {'S': 'mine'}"),
        (AbsentOrBelow("until", 5), "attribute_not_exists(PK) OR until < {'N': '5'}"),
    ],
)
def test_a_check_says_its_condition(condition, expression):
    commit = Commit(head=CheckHead("lead-one", rev=1), checks=(Check(LOCK, condition),))

    assert requests([], commit)[-1] == ("ConditionCheck", "state", expression)

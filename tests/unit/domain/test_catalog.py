import ast
import json
import subprocess
import sys
from pathlib import Path

import jsonschema_rs
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from domain import canonical, catalog
from domain.catalog import __main__ as page
from domain.errors import InvalidEvent, NotFound
from tests.support.catalog_strategies import payloads

GOLDEN = Path(__file__).parents[2] / "golden" / "catalog"
FAMILIES = Path(catalog.__file__).parent
TYPES = sorted(catalog.TYPES)
OF_THE_SEED = {
    "Purchase": {"purchase_completed", "purchase_abandoned"},
    "Product": {"product_viewed", "product_asked"},
    "Interest": {"interest_detected"},
    "Sentiment": {"sentiment_detected"},
    "Support": {"ticket_opened", "ticket_resolved"},
    "Conversation": {"conversation_started", "conversation_ended"},
    "Campaign": {"campaign_delivered", "campaign_engaged", "campaign_ignored"},
    "Subscription": {"subscription_created", "subscription_cancelled"},
    "Form": {"form_submitted"},
    "Discount": {"discount_requested", "discount_accepted"},
    "Agent": {"agent_insight"},
    "Objection": {"objection_raised"},
}


def declared_in_source():
    found = set()
    for path in FAMILIES.glob("[!_]*.py"):
        tree = ast.parse(path.read_text(encoding="utf-8"))
        found |= {
            (path.stem, ast.literal_eval(mark.args[0]), node.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.ClassDef)
            for mark in node.decorator_list
            if isinstance(mark, ast.Call) and ast.unparse(mark.func) == "event"
        }
    return found


def test_the_registry_holds_what_the_directory_declares():
    registered = {
        (model.__module__.rpartition(".")[2], declared.name, model.__name__)
        for declared in catalog.TYPES.values()
        for model in declared.models.values()
    }

    assert registered == declared_in_source()
    assert {family.__name__.rpartition(".")[2] for family in catalog.FAMILIES} == {
        path.stem for path in FAMILIES.glob("[!_]*.py")
    }


def test_the_types_of_the_seed_and_our_own_are_declared():
    ours = {
        "Purchase": {"purchase_refunded"},
        "Identity": {"identity_linked", "identity_conflict_detected"},
        "Messaging": {
            *("message_received", "message_edited", "message_revoked", "message_reacted"),
            *("message_echoed", "message_imported", "message_status_changed"),
            *("channel_event_recorded", "consent_recorded"),
        },
        "Conversation": {
            *("agent_turn_completed", "agent_turn_superseded", "operator_message_queued"),
            *("reply_queued", "reply_sending", "reply_sent", "reply_failed"),
            *("reply_uncertain", "reply_dropped"),
        },
        "CRM": {
            *("crm_contact_linked", "crm_deal_creation_started", "crm_deal_linked"),
            *("crm_revision_confirmed", "crm_sync_deferred", "crm_sync_blocked"),
            *("crm_sync_uncertain", "crm_sync_reconciled", "crm_operator_action"),
        },
        "Handoff": {
            *("handoff_requested", "handoff_claimed", "handoff_released", "handoff_returned"),
            *("handoff_renotified", "out_of_portfolio_requested"),
        },
        "Log": {"event_lost"},
    }
    by_category = {
        category: {one.name for one in catalog.TYPES.values() if one.category == category}
        for category in {one.category for one in catalog.TYPES.values()}
    }

    assert by_category == {
        category: OF_THE_SEED.get(category, set()) | ours.get(category, set())
        for category in {**OF_THE_SEED, **ours}
    }
    assert sum(len(names) for names in OF_THE_SEED.values()) == 20


@pytest.mark.parametrize("event_type", TYPES)
def test_a_type_is_declared_in_full(event_type):
    declared = catalog.TYPES[event_type]

    assert all(model.__doc__ for model in declared.models.values())
    assert declared.summary.endswith(".")
    assert set(declared.models) == set(range(1, declared.version + 1))
    assert set(declared.upcasters) == set(range(1, declared.version))
    for field in declared.fields:
        assert field.description.endswith(".")
        assert field.bounds
        assert field.example is not None


@pytest.mark.parametrize("event_type", TYPES)
def test_the_example_is_valid_and_canonical(event_type):
    declared = catalog.TYPES[event_type]

    assert catalog.validate(event_type, declared.version, declared.example) == (
        declared.example,
        declared.version,
    )
    json.dumps(declared.example)


@pytest.mark.parametrize("event_type", TYPES)
def test_snake_case_and_camel_case_are_one_payload(event_type):
    declared = catalog.TYPES[event_type]
    snake = {field.name: field.example for field in declared.fields}

    assert catalog.validate(event_type, declared.version, snake)[0] == declared.example


@pytest.mark.parametrize("event_type", TYPES)
def test_null_is_absent(event_type):
    declared = catalog.TYPES[event_type]
    only_required = {field.wire: field.example for field in declared.fields if field.required}
    if event_type == "interest_detected":
        only_required["productId"] = "whey_1kg"
    with_nulls = {field.wire: None for field in declared.fields} | only_required

    assert catalog.validate(event_type, declared.version, with_nulls)[0] == only_required


@pytest.mark.parametrize("event_type", TYPES)
@settings(max_examples=15)
@given(data=st.data())
def test_a_canonical_payload_is_its_own_canonical_form(event_type, data):
    payload = data.draw(payloads(event_type))
    again = catalog.validate(event_type, catalog.TYPES[event_type].version, payload)[0]

    assert canonical.dumps(again) == canonical.dumps(payload)
    assert canonical.loads(canonical.dumps(payload)) == payload
    jsonschema_rs.validate(catalog.json_schema(event_type), payload)


@pytest.mark.parametrize("event_type", TYPES)
def test_required_fields_are_required(event_type):
    declared = catalog.TYPES[event_type]
    for field in declared.fields:
        if field.required:
            short = {name: one for name, one in declared.example.items() if name != field.wire}
            with pytest.raises(InvalidEvent) as refused:
                catalog.validate(event_type, declared.version, short)
            assert (f"/payload/{field.wire}", "is required") in refused.value.fields


@pytest.mark.parametrize(
    ("event_type", "version", "sample"),
    [
        (declared.name, version, sample)
        for declared in catalog.TYPES.values()
        for version in range(1, declared.version)
        for sample in json.loads((GOLDEN / f"{declared.name}.v{version}.json").read_text("utf-8"))
    ],
)
def test_a_stored_payload_of_an_old_version_still_reads(event_type, version, sample):
    stored = canonical.dumps(sample["stored"])
    payload = canonical.loads(stored)
    newest = catalog.TYPES[event_type].version

    assert catalog.upcast(event_type, version, payload) == sample["reads"]
    assert canonical.dumps(payload) == stored
    assert catalog.validate(event_type, newest, sample["reads"])[0] == sample["reads"]
    assert catalog.validate(event_type, version, payload) == (payload, version)


def test_reading_refuses_nothing():
    odd = {"ticketId": "T-1", "satisfactionScore": "???", "newField": {"a": 1}}

    assert catalog.upcast("ticket_resolved", 1, odd) == {**odd, "scoreScale": 5}
    assert catalog.upcast("ticket_resolved", 99, odd) == odd
    assert catalog.upcast("nobody_knows", 3, odd) == odd


def test_a_payload_without_a_version_is_of_version_one():
    assert catalog.validate("ticket_resolved", None, {"ticketId": "T", "satisfactionScore": 4}) == (
        {"ticketId": "T", "satisfactionScore": 4},
        1,
    )
    with pytest.raises(InvalidEvent) as refused:
        catalog.validate("ticket_resolved", 2, {"ticketId": "T", "satisfactionScore": 4})
    assert refused.value.fields == (("/payload", "needs scoreScale beside satisfactionScore"),)


@pytest.mark.parametrize("version", [0, -1, 3, 2**70])
def test_a_version_that_is_not_known_is_refused_by_name(version):
    with pytest.raises(InvalidEvent) as refused:
        catalog.validate("ticket_resolved", version, {"ticketId": "T"})
    assert refused.value.fields == (("/schemaVersion", "must be between 1 and 2"),)


def test_an_unknown_type_passes_as_it_is():
    payload = {"Any-Thing": [1.0, None, {"x": "y"}]}

    assert catalog.validate("nobody_knows", None, payload) == (payload, 1)
    assert catalog.validate("nobody_knows", 7, payload) == (payload, 7)
    assert not catalog.is_known("nobody_knows")
    assert catalog.is_known("purchase_completed")
    assert catalog.loggable("nobody_knows", payload) == {}


@pytest.mark.parametrize(
    ("sent", "ours"),
    [
        ("purchase_completed", "purchase_completed"),
        ("purchase.completed", "purchase_completed"),
        ("question_asked", "product_asked"),
        ("question.asked", "product_asked"),
        ("message.received", "message_received"),
        ("message_received", "message_received"),
        ("invoice.paid", "invoice.paid"),
        ("invoice_paid", "invoice_paid"),
    ],
)
def test_other_spellings_of_a_type_are_resolved(sent, ours):
    assert catalog.canonical_type(sent) == ours


@pytest.mark.parametrize("event_type", TYPES)
def test_only_closed_words_and_numbers_may_stand_in_a_log(event_type):
    for field in catalog.TYPES[event_type].fields:
        closed = "`" in field.bounds or field.bounds == "an ISO 4217 code"
        assert not field.loggable or closed or field.json_type in {"integer", "number"}


def test_a_log_shows_what_is_loggable_and_nothing_else():
    example = catalog.TYPES["purchase_completed"].example

    assert catalog.loggable("purchase_completed", example) == {
        "currency": "BRL",
        "installments": 3,
        "quantity": 1,
    }


def test_the_columns_of_a_type_are_its_fields():
    assert catalog.columns("campaign_ignored") == [
        ("campaignId", "string"),
        ("daysSinceDelivery", "integer"),
    ]
    assert ("amount", "string") in catalog.columns("purchase_completed")
    assert ("confidence", "number") in catalog.columns("agent_insight")
    assert ("value", "json") in catalog.columns("agent_insight")
    assert ("responses", "array") in catalog.columns("form_submitted")
    with pytest.raises(NotFound):
        catalog.columns("nobody_knows")


@pytest.mark.parametrize("event_type", TYPES)
def test_the_json_schema_describes_every_field_and_refers_to_nothing(event_type):
    declared = catalog.TYPES[event_type]
    schema = catalog.json_schema(event_type)

    assert schema["title"] == event_type
    assert schema["additionalProperties"] is False
    assert list(schema["properties"]) == [field.wire for field in declared.fields]
    assert set(schema.get("required", ())) == {
        field.wire for field in declared.fields if field.required
    }
    assert all(one["description"] and one["examples"] for one in schema["properties"].values())
    assert "$ref" not in json.dumps(schema)


def test_an_older_version_has_a_schema_of_its_own():
    assert "dependentRequired" not in catalog.json_schema("ticket_resolved", 1)
    assert "dependentRequired" in catalog.json_schema("ticket_resolved", 2)
    with pytest.raises(NotFound):
        catalog.json_schema("ticket_resolved", 3)
    with pytest.raises(NotFound):
        catalog.json_schema("nobody_knows")


@pytest.mark.parametrize("event_type", TYPES)
def test_a_currency_is_declared_before_the_amounts_it_governs(event_type):
    for model in catalog.TYPES[event_type].models.values():
        schema = catalog.json_schema(event_type)["properties"]
        kinds = [schema[str(info.alias)].get("format") for info in model.model_fields.values()]
        if "money" in kinds:
            assert kinds.index("iso-4217") < kinds.index("money")


def test_importing_the_catalog_compiles_no_class():
    code = """
from domain import catalog
models = [model for one in catalog.TYPES.values() for model in one.models.values()]
print(sum(model.__pydantic_complete__ for model in models), len(models) > 20)
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, check=True, encoding="utf-8"
    )
    assert done.stdout == "0 True\n"


def test_the_catalog_page_is_fresh():
    assert page.PAGE.read_text(encoding="utf-8") == page.page(), (
        "run: python -m domain.catalog --write"
    )


def test_the_catalog_prints_itself():
    done = subprocess.run(
        [sys.executable, "-m", "domain.catalog"], capture_output=True, check=True, encoding="utf-8"
    )
    assert done.stdout == page.page()

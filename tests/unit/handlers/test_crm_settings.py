"""The settings of the mirror keep the names of the seeds, and nothing else is needed beside them."""

from pathlib import Path

import pytest

from domain.crm.desired import STAGES
from domain.errors import Rejected
from handlers.crm_settings import CrmSettings
from handlers.settings import read_crm_settings, variable

NO_FILE = Path("there-is-no-such.toml")
STAGE_VARIABLES = {f"HUBSPOT_STAGE_{name.upper()}": f"stage-{name}" for name in STAGES}


def read(**environ):
    return read_crm_settings(environ, file=NO_FILE)


def test_nothing_needs_to_be_set_and_no_stage_has_a_default():
    settings = read()

    assert settings.hubspot_enabled is True
    assert settings.hubspot_token is None
    assert settings.stages == {}
    assert (settings.hubspot_pipeline, settings.hubspot_version) == ("default", "2026-09")
    assert (settings.hubspot_url, settings.crm_environment) == ("https://api.hubapi.com", "prod")


def test_every_logical_stage_has_its_variable():
    assert read(**STAGE_VARIABLES).stages == {name: f"stage-{name}" for name in STAGES}


def test_variables_have_the_names_of_the_seeds():
    names = {name: variable(name) for name in CrmSettings.model_fields}
    ours = {name for name in names if not name.startswith("hubspot_")}

    assert ours == {"crm_organizations", "crm_environment", "crm_metrics_namespace"}
    assert all(names.pop(name) == f"LEADS_{name.upper()}" for name in ours)
    assert all(variable == name.upper() for name, variable in names.items())


@pytest.mark.parametrize(
    ("stated", "counts"),
    [("0", 1.0), ("-3", 1.0), ("1", 1.0), ("4.5", 4.5), ("10", 10.0), ("3600", 10.0)],
)
def test_a_timeout_is_at_least_one_second_and_at_most_ten(stated, counts):
    assert read(HUBSPOT_TIMEOUT_SECONDS=stated).hubspot_timeout_seconds == counts


def test_retries_of_the_transport_are_read_and_change_nothing():
    assert read(HUBSPOT_RETRY_MAX="5").hubspot_retry_max == 5


def test_the_mirror_can_be_paused():
    assert read(HUBSPOT_ENABLED="false").hubspot_enabled is False


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("HUBSPOT_ENABLED", "perhaps"),
        ("HUBSPOT_TIMEOUT_SECONDS", "nan"),
        ("HUBSPOT_TIMEOUT_SECONDS", "soon"),
        ("HUBSPOT_URL", "api.hubapi.com"),
        ("HUBSPOT_VERSION", "v3"),
        ("HUBSPOT_VERSION", "2026-09/../.."),
        ("LEADS_CRM_ENVIRONMENT", "two words"),
        ("LEADS_CRM_ENVIRONMENT", "a:b"),
        ("LEADS_CRM_METRICS_NAMESPACE", "a:b"),
    ],
)
def test_what_is_wrong_is_named_by_its_variable_and_without_its_value(name, value):
    with pytest.raises(Rejected) as caught:
        read(**{name: value})

    assert [field.pointer for field in caught.value.fields] == [name]
    assert value not in str(caught.value)


def test_the_token_is_shown_to_nobody():
    settings = read(HUBSPOT_TOKEN="canary-of-the-token")

    assert "canary-of-the-token" not in f"{settings!r}{settings}{settings.shown()}"
    assert settings.variables().get("HUBSPOT_TOKEN") is None

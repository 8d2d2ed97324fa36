"""The settings of the CRM's mirror. Its worker starts with these and those of the store alone."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr

from handlers.section import Section

SHORTEST_TIMEOUT_S: Final = 1.0
LONGEST_TIMEOUT_S: Final = 10.0
"""Source of both: seed 001; five requests must fit into what one row may take."""

_STAGE: Final = "hubspot_stage_"


def _lower(value: Any) -> Any:
    return value.lower() if isinstance(value, str) else value


def _clamped(seconds: float) -> float:
    return min(max(SHORTEST_TIMEOUT_S, seconds), LONGEST_TIMEOUT_S)


_Stage = Annotated[str | None, Field(min_length=1, max_length=100)]


class CrmSettings(Section):
    """See `read_section`. Those of seed 001 keep the names of their variables."""

    hubspot_enabled: bool = Field(
        default=True, description="`false` pauses the mirror, and loses nothing."
    )
    hubspot_token: SecretStr | None = Field(
        default=None, description="The access token of a private app; without it nothing is sent."
    )
    hubspot_stage_novo_lead: _Stage = Field(
        default=None, description="The id of the stage of a new lead."
    )
    hubspot_stage_em_triagem: _Stage = Field(
        default=None, description="The id of the stage in which an agent answers."
    )
    hubspot_stage_atendimento_humano: _Stage = Field(
        default=None, description="The id of the stage in which a person answers."
    )
    hubspot_stage_finalizado: _Stage = Field(
        default=None, description="The id of the stage of what was finished."
    )
    hubspot_stage_perdido: _Stage = Field(
        default=None, description="The id of the stage of what was abandoned."
    )
    hubspot_pipeline: str = Field(
        default="default",
        min_length=1,
        max_length=100,
        description="The id of the pipeline that has these stages.",
    )
    hubspot_timeout_seconds: Annotated[float, AfterValidator(_clamped)] = Field(
        default=LONGEST_TIMEOUT_S,
        allow_inf_nan=False,
        description="How long HubSpot may take to answer; from 1 to 10.",
    )
    hubspot_retry_max: int | None = Field(
        default=None, description="Read and ignored: only the mirror itself tries again."
    )
    hubspot_url: str = Field(
        default="https://api.hubapi.com",
        pattern=r"^https?://",
        description="Where the API is; plain http for this machine only.",
    )
    hubspot_version: str = Field(
        default="2026-09",
        pattern=r"^[0-9]{4}-[0-9]{2}(-beta)?$",
        description="Its version, a date.",
    )
    crm_organizations: str = Field(
        default="default", min_length=1, description="Whose sessions are mirrored, by commas."
    )
    crm_environment: Annotated[str, BeforeValidator(_lower)] = Field(
        default="prod",
        pattern=r"^[a-z0-9][a-z0-9_-]{0,31}$",
        description="Begins the key of each deal, so that deployments may share an account.",
    )

    crm_metrics_namespace: str = Field(
        default="GoGenetic/CRM",
        pattern=r"^[A-Za-z0-9_./#-]{1,255}$",
        description="Under which CloudWatch has the numbers of the mirror's function.",
    )

    @property
    def stages(self) -> Mapping[str, str]:
        """The CRM's stage id of each logical stage that is configured."""
        return {
            name.removeprefix(_STAGE): value
            for name, value in self
            if name.startswith(_STAGE) and value
        }

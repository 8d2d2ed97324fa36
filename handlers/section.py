"""Sections of settings: values a deployment may choose, checked, frozen, and able to say where from.

Each entry point reads the sections it needs and no other, so that none resolves a secret it does not
use. On plain pydantic: pydantic-settings would double what reading the settings costs a command (it
loads asyncio), and cannot tell where a value came from.
"""

import difflib
import os
import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeVar

from pydantic import BaseModel, ConfigDict, PrivateAttr, SecretStr, ValidationError

from domain.errors import FieldError, Rejected, shown_name

FILE: Final = Path("leads.toml")
"""Read from the working directory if it is there; its keys are the names of the fields."""

Origin = Literal["default", "leads.toml", "env", "flag"]

_PREFIX: Final = "LEADS_"
_OF_THE_TESTS: Final = "LEADS_TEST_"
_SEED_NAMES: Final = {
    "dynamodb_table": "DYNAMODB_TABLE",
    "handoff_operator_availability_ttl_hours": "HANDOFF_OPERATOR_AVAILABILITY_TTL_HOURS",
    **{
        name: name.upper()
        for name in (
            *("hubspot_enabled", "hubspot_token", "hubspot_pipeline", "hubspot_timeout_seconds"),
            *("hubspot_stage_novo_lead", "hubspot_stage_em_triagem", "hubspot_stage_finalizado"),
            *("hubspot_stage_atendimento_humano", "hubspot_stage_perdido", "hubspot_retry_max"),
            *("hubspot_url", "hubspot_version"),
        )
    },
}
"""Settings whose variable keeps the name it has in the seeds."""


class Shown(NamedTuple):
    """One setting as `leads config show` tells it; secrets are hidden."""

    variable: str
    value: str
    origin: Origin
    description: str


class Section(BaseModel):
    """See `read_section`. Each field is the variable `LEADS_` and its name in capitals."""

    model_config = ConfigDict(frozen=True, extra="forbid", hide_input_in_errors=True)

    _origins: dict[str, Origin] = PrivateAttr(default_factory=dict)
    _unknown: tuple[str, ...] = PrivateAttr(default=())

    def model_post_init(self, context: Any, /) -> None:
        """Keep what `read_section` knows of the values."""
        if context is not None:
            self._origins, self._unknown = context

    def origins(self) -> dict[str, Origin]:
        """Return where the value of each field came from."""
        return {name: self._origins.get(name, "default") for name in type(self).model_fields}

    def shown(self) -> list[Shown]:
        """Return every setting with its origin, in the order of the class."""
        origins = self.origins()
        return [
            Shown(variable(name), _text(getattr(self, name)), origins[name], info.description or "")
            for name, info in type(self).model_fields.items()
        ]

    def unknown(self) -> tuple[str, ...]:
        """Return a sentence for each LEADS_ variable and each key of the file that nothing reads."""
        return self._unknown

    def variables(self) -> dict[str, str]:
        """Return the settings as the persistence modules read them: text by variable."""
        return {
            variable(name): str(value)
            for name, value in self
            if value is not None and not isinstance(value, SecretStr)
        }


SectionType = TypeVar("SectionType", bound=Section)


def read_section(
    kind: type[SectionType],
    environ: Mapping[str, str] | None = None,
    *,
    file: Path = FILE,
    also_known: Collection[str] = (),
    **flags: Any,
) -> SectionType:
    """Return a section: a flag counts before a variable, that before the file, then defaults.

    Args:
        kind: which section.
        environ: the variables; those of the process unless given. An empty one counts as unset.
        file: a TOML file that may be missing.
        also_known: LEADS_ variables that something else reads.
        flags: field values that were given on the command line; None counts as not given.

    Raises:
        Rejected: names everything that is wrong, by variable, without its value.
    """
    environ = os.environ if environ is None else environ
    in_file = _read_file(file)
    layers: dict[Origin, dict[str, Any]] = {
        "leads.toml": {name: in_file[name] for name in kind.model_fields if name in in_file},
        "env": {
            name: environ[variable(name)]
            for name in kind.model_fields
            if environ.get(variable(name))
        },
        "flag": {name: value for name, value in flags.items() if value is not None},
    }
    values: dict[str, Any] = {}
    origins: dict[str, Origin] = {}
    for origin, layer in layers.items():
        values |= layer
        origins |= dict.fromkeys(layer, origin)
    told = (origins, _unknown(environ, in_file, also_known))
    try:
        return kind.model_validate(values, context=told)
    except ValidationError as error:
        raise _invalid(error, origins) from None


def variable(name: str) -> str:
    """Return the environment variable of a field."""
    return _SEED_NAMES.get(name, f"{_PREFIX}{name.upper()}")


def _read_file(file: Path) -> dict[str, Any]:
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError):
        message = f"{file.name} cannot be read."
        raise Rejected(message, hint="It is TOML: one `name = value` a line.") from None


def _invalid(error: ValidationError, origins: Mapping[str, Origin]) -> Rejected:
    fields = []
    for one in error.errors(include_url=False, include_input=False, include_context=False):
        name = str(one["loc"][0])
        where = "in leads.toml " if origins.get(name) == "leads.toml" else ""
        detail = one["msg"].removeprefix("Value error, ")
        fields.append(FieldError(variable(name), f"{where}{detail}"))
    return Rejected("A setting is not valid.", hint="Correct the settings named.", fields=fields)


def _unknown(
    environ: Mapping[str, str], in_file: Mapping[str, Any], also_known: Collection[str]
) -> tuple[str, ...]:
    names = [name for section in Section.__subclasses__() for name in section.model_fields]
    known = [*map(variable, names), *also_known]
    strangers = [
        name
        for name in sorted(environ)
        if name.startswith(_PREFIX) and name not in known and not name.startswith(_OF_THE_TESTS)
    ]
    return (
        *(_stranger(name, known) for name in strangers),
        *(_stranger(name, names, " in leads.toml") for name in in_file if name not in names),
    )


def _stranger(name: str, known: list[str], where: str = "") -> str:
    close = difflib.get_close_matches(name, known, n=1)
    meant = f"; {close[0]} is" if close else ""
    return f"{shown_name(name)}{where} is not a setting{meant}."


def _text(value: Any) -> str:
    if isinstance(value, SecretStr):
        return "********"
    return "" if value is None else str(value)

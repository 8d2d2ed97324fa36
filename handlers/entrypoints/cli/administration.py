"""Commands for who runs the service: API keys, schemas, tables, settings."""

from typing import TYPE_CHECKING, Annotated, Final

import typer

from handlers.entrypoints.cli import moments
from handlers.entrypoints.cli.command import command
from handlers.entrypoints.cli.helping import HelpedGroup
from handlers.entrypoints.cli.output import Form, JsonObject, field
from handlers.entrypoints.cli.session import Session

if TYPE_CHECKING:
    from handlers.api_keys import ApiKey

PANEL: Final = "Run it"

_KEYS: Final = (
    field("keyId", "key id"),
    field("scopes", wide=True),
    field("sources", wide=True),
    field("createdAt", "created"),
    field("expiresAt", "expires"),
    field("revokedAt", "revoked"),
)
_SCHEMAS: Final = (
    field("eventType", "event type"),
    field("category"),
    field("version", number=True),
    field("summary", wide=True),
)
_SETTINGS: Final = (field("variable"), field("value"), field("description", wide=True))


def register(program: typer.Typer) -> None:
    """Add the commands of this module."""
    keys = add_group(program, "keys", "Make, list and revoke API keys.")
    command(keys, "create")(create_key)
    command(keys, "list")(list_keys)
    command(keys, "revoke")(revoke_key)
    schemas = add_group(program, "schemas", "Show what every event type holds.")
    command(schemas, "list")(list_schemas)
    command(schemas, "show")(show_schema)
    tables = add_group(program, "tables", "Make the tables on DynamoDB.")
    command(tables, "create")(create_tables)
    config = add_group(program, "config", "Show the settings.")
    command(config, "show")(show_config)


def add_group(program: typer.Typer, name: str, text: str) -> typer.Typer:
    """Add a group of commands and return it."""
    group = typer.Typer(cls=HelpedGroup, help=text, no_args_is_help=True)
    program.add_typer(group, name=name, rich_help_panel=PANEL)
    return group


def create_key(
    session: Session,
    scope: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SCOPE",
            help="events:write, events:read, memories:read, metrics:read or admin; repeatable. The"
            " first three unless given.",
        ),
    ] = None,
    source: Annotated[
        list[str] | None,
        typer.Option(
            metavar="SOURCE",
            help="A source it may report for, or prefix*; repeatable. All unless given.",
        ),
    ] = None,
    expires: Annotated[
        str | None,
        typer.Option(metavar="TIME", help="An instant, or 90d from now; never unless given."),
    ] = None,
) -> None:
    """Make an API key. It is shown once: only its hash is kept."""
    text, key = session.app.api_keys.create(
        session.organization,
        scopes=scope or (),
        sources=source or (),
        expires_at=moments.moment(session, expires, "--expires", ahead=True),
    )
    if session.out.form is Form.TEXT:
        session.words.say(
            f"Key {key.key_id} of {key.organization_id}: {', '.join(key.scopes)};"
            f" sources {', '.join(key.sources)}. Keep it: it is not shown again."
        )
        session.out.text(text)
        return
    session.out.facts({"key": text, **_key(key)})


def list_keys(session: Session) -> None:
    """List API keys, revoked and expired ones too; never their secrets."""
    found = session.existing().api_keys.list(session.organization)
    session.out.listing("keys", [_key(each) for each in found], _KEYS)


def revoke_key(
    session: Session,
    key_id: Annotated[
        str,
        typer.Argument(metavar="KEY_ID", help="As `leads keys list` shows it.", show_default=False),
    ],
) -> None:
    """Revoke an API key for good, from the next request on."""
    revoked = session.existing().api_keys.revoke(session.organization, key_id)
    session.out.facts(_key(revoked))


def list_schemas(session: Session) -> None:
    """List every event type that the catalog declares."""
    from domain.catalog import TYPES
    from handlers.shapes import schema_json

    session.out.listing("schemas", [schema_json(each) for each in TYPES.values()], _SCHEMAS)


def show_schema(
    session: Session,
    event_type: Annotated[str, typer.Argument(metavar="TYPE", show_default=False)],
    version: Annotated[
        int | None, typer.Option(metavar="N", help="Of the schema; the newest unless given.")
    ] = None,
) -> None:
    """Write the JSON Schema (2020-12) of a type's payload."""
    from domain.catalog import canonical_type, json_schema

    schema = json_schema(canonical_type(event_type), version)
    if session.out.form is Form.JSONL:
        session.out.line(schema)
    else:
        session.out.document(schema)


def create_tables(session: Session) -> None:
    """Make the two tables on DynamoDB, those that are missing; a SQLite file makes its own."""
    from handlers.bootstrap import create_tables as create

    settings = session.settings
    if settings.store == "sqlite":
        session.words.say("There is nothing to do: a SQLite file makes its tables itself.")
        session.out.listing("created", [], (field("table"),))
        return
    created = create(settings)
    session.out.listing("created", [{"table": name} for name in created], (field("table"),))
    session.words.say(f"{len(created)} table(s) made; those that were there were left as they are.")


def show_config(
    session: Session,
    origin: Annotated[
        bool, typer.Option("--origin", help="Say where each value comes from.")
    ] = False,
) -> None:
    """Show every setting with its value; secrets are hidden."""
    from handlers.settings import read_conversation_settings

    shown = [
        {
            "variable": each.variable,
            "value": each.value,
            "origin": each.origin,
            "description": each.description,
        }
        for section in (session.settings, read_conversation_settings())
        for each in section.shown()
    ]
    columns = [*_SETTINGS]
    if origin:
        columns.insert(2, field("origin"))
    session.out.listing("settings", shown, columns)
    for sentence in session.settings.unknown():
        session.words.warn(sentence)


def _key(key: "ApiKey") -> JsonObject:
    return {
        "keyId": key.key_id,
        "organizationId": key.organization_id,
        "scopes": list(key.scopes),
        "sources": list(key.sources),
        "createdAt": key.created_at,
        "expiresAt": key.expires_at,
        "revokedAt": key.revoked_at,
    }

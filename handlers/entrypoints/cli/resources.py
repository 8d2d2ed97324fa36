"""Commands on what agents are told: prompts, and packages of knowledge, in versions."""

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Final

import typer

from domain.errors import LimitExceeded, MalformedBody, NotFound
from handlers.entrypoints.cli.administration import add_group
from handlers.entrypoints.cli.command import command
from handlers.entrypoints.cli.output import Column, Form, JsonObject, field
from handlers.entrypoints.cli.sending import Source, read_source
from handlers.entrypoints.cli.session import Session

if TYPE_CHECKING:
    from domain.resources import Resource

_AUTHOR: Final = "cli"

Type = Annotated[str, typer.Argument(metavar="TYPE", help="prompt or package.", show_default=False)]
Id = Annotated[
    str,
    typer.Argument(
        metavar="ID",
        help="Of a prompt, its agent: triagem, qualificacao, cadastro.",
        show_default=False,
    ),
]
Author = Annotated[str, typer.Option(metavar="NAME", help="Who says so; kept with the version.")]
Expected = Annotated[
    int | None,
    typer.Option(
        "--expect-version",
        metavar="N",
        min=0,
        help="Change only what you saw: refuse if another version stands.",
    ),
]

_COLUMNS: Final = (
    field("type"),
    field("id"),
    field("version", number=True),
    field("active"),
    field("author"),
    field("updatedAt", "updated"),
    field("size", "bytes", number=True),
)
_VERSIONS: Final = (
    field("version", number=True),
    field("active"),
    field("author"),
    field("updatedAt", "updated"),
    field("size", "bytes", number=True),
    Column("begins", lambda each: each["content"].strip().partition("\n")[0][:60], wide=True),
)


def register(program: typer.Typer) -> None:
    """Add the commands of this module."""
    group = add_group(program, "resources", "Read and change what agents are told.")
    command(group, "list")(list_)
    command(group, "show")(show)
    command(group, "put")(put)
    command(group, "rollback")(rollback)
    command(group, "deactivate")(deactivate)


def list_(
    session: Session,
    resource_type: Annotated[
        str | None,
        typer.Argument(metavar="[TYPE]", help="prompt or package; both.", show_default=False),
    ] = None,
) -> None:
    """List prompts and packages as they stand; version 0 is what ships with the service."""
    from domain.resources import TYPES

    resources = session.existing().resources
    found = [
        each
        for kind in ((resource_type,) if resource_type else TYPES)
        for each in resources.list_current(session.organization, kind)
    ]
    session.out.listing("resources", [_shown(each) for each in found], _COLUMNS)


def show(
    session: Session,
    resource_type: Type,
    resource_id: Id,
    version: Annotated[
        int | None, typer.Option(metavar="N", help="This version, not the current one.")
    ] = None,
    versions: Annotated[
        bool, typer.Option("--versions", help="List every version instead, newest first.")
    ] = False,
) -> None:
    """Write the text of one, ready to be edited and put back; what it is goes to stderr."""
    resources = session.existing().resources
    named = (session.organization, resource_type, resource_id)
    if versions:
        told = [
            {**_shown(each), "content": each.content} for each in resources.list_versions(*named)
        ]
        session.out.listing("versions", told, _VERSIONS)
        return
    found = resources.get_current(*named) if version is None else resources.version(*named, version)
    if session.out.form is not Form.TEXT:
        session.out.facts({**_shown(found), "content": found.content})
        return
    session.out.text(found.content)
    state = "" if found.active else ", not active"
    session.words.say(f"{resource_type} {found.name} by {found.author}{state}.")


def put(
    session: Session,
    resource_type: Type,
    resource_id: Id,
    source: Source,
    author: Author = _AUTHOR,
    expect_version: Expected = None,
) -> None:
    """Make a text the current one, as the next version."""
    content = _read(source)
    change = partial(session.app.resources.put_next_version, content=content)
    _change(session, change, (resource_type, resource_id), author, expect_version)


def rollback(
    session: Session,
    resource_type: Type,
    resource_id: Id,
    version: Annotated[
        int,
        typer.Argument(
            metavar="VERSION",
            min=0,
            help="What it is to say again; 0 as shipped.",
            show_default=False,
        ),
    ],
    author: Author = _AUTHOR,
    expect_version: Expected = None,
) -> None:
    """Say again what an earlier version said, as the next version."""
    change = partial(session.existing().resources.rollback, target_version=version)
    _change(session, change, (resource_type, resource_id), author, expect_version)


def deactivate(
    session: Session,
    resource_type: Type,
    resource_id: Id,
    author: Author = _AUTHOR,
    expect_version: Expected = None,
) -> None:
    """Take one out of use, as the next version; of a prompt the shipped one is told instead."""
    change = session.existing().resources.deactivate
    _change(session, change, (resource_type, resource_id), author, expect_version)


def _change(
    session: Session,
    change: "Callable[..., Resource]",
    named: tuple[str, str],
    author: str,
    expected: int | None,
) -> None:
    """Make a change, on condition that the version still stands that was expected, or seen now."""
    if expected is None:
        try:
            expected = session.app.resources.get_current(session.organization, *named).version
        except NotFound:
            expected = 0
    made = change(session.organization, *named, author=author, expected_version=expected)
    session.out.facts(_shown(made))
    from handlers.resources import CACHED_S

    session.words.say(
        f"{made.name} stands. Processes that run go on with what they read for {CACHED_S} s at most."
    )


def _read(source: Source) -> str:
    from domain.resources import MAX_CONTENT_BYTES

    message = f"A resource has at most {MAX_CONTENT_BYTES} bytes."
    too_long = LimitExceeded(message, hint="Shorten it, or split a package in two.")
    try:
        return read_source(source, too_long, most=MAX_CONTENT_BYTES).decode("utf-8-sig")
    except UnicodeDecodeError:
        raise MalformedBody("The text is not UTF-8.", hint="Save it as UTF-8.") from None


def _shown(resource: "Resource") -> JsonObject:
    return {
        "type": resource.resource_type,
        "id": resource.resource_id,
        "version": resource.version,
        "active": resource.active,
        "author": resource.author,
        "updatedAt": resource.updated_at or None,
        "size": len(resource.content.encode()),
    }

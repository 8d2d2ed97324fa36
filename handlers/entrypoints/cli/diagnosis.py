"""The command that says whether everything is as it should be."""

from typing import TYPE_CHECKING, Annotated, Final

import typer

from domain.errors import LeadError, Rejected, Unavailable
from handlers.entrypoints.cli.administration import PANEL
from handlers.entrypoints.cli.command import command
from handlers.entrypoints.cli.output import JsonObject, field
from handlers.entrypoints.cli.session import Session
from handlers.entrypoints.outcomes import EXIT_CONFLICT, EXIT_OK, EXIT_UNAVAILABLE

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from handlers.conversation_doctor import Deliver
    from handlers.conversations.webhook import Verdict
    from handlers.doctor import Finding, State
    from handlers.talks import Talks

_FINDINGS: Final = (
    field("check"),
    field("state"),
    field("detail", wide=True),
    field("hint", "what to do", wide=True),
)


def register(program: typer.Typer) -> None:
    """Add the commands of this module."""
    command(program, "doctor", panel=PANEL)(doctor)


def doctor(
    session: Session,
    webhook: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Where WhatsApp delivers to: it is delivered nothing, signed and forged.",
        ),
    ] = None,
) -> int:
    """Say whether everything is as it should be.

    Looks at the settings, the store, lagging views, the quarantine, the disk and conversations.
    Where a WhatsApp number is set it asks WhatsApp's API for it; nothing is sent.

    Exit code 0: well; 4: something needs you; 5: the store or a service does not answer.
    """
    return tell(session, _findings(session, webhook))


def tell(session: Session, found: "Iterable[Finding]") -> int:
    """Tell what was found, and return the exit code of it."""
    findings: list[JsonObject] = [
        {"check": each.check, "state": each.state, "detail": each.detail, "hint": each.hint}
        for each in found
    ]
    states = {each["state"] for each in findings}
    code = EXIT_CONFLICT if "wrong" in states else EXIT_OK
    if "unavailable" in states:
        code = EXIT_UNAVAILABLE
    session.out.listing("checks", findings, _FINDINGS, healthy=code == EXIT_OK)
    return code


def _findings(session: Session, webhook: str | None) -> "Iterator[Finding]":
    from handlers.doctor import Doctor, Finding, examine_disk, examine_settings

    try:
        settings = session.settings
    except Rejected as error:
        for pointer, detail in error.fields or (("", error.detail),):
            text = f"{pointer} {detail}".strip()
            yield Finding(check="settings", state="wrong", detail=text, hint=error.hint)
        return
    yield from examine_settings(settings)
    yield from examine_disk(settings)
    if settings.store == "sqlite" and not session.has_file():
        hint = "`leads import`, `leads send` and `leads serve` make it."
        yield Finding(check="store", state="warning", detail="There is no file yet.", hint=hint)
        return
    try:
        app = session.app
    except LeadError as error:
        state: State = "unavailable" if isinstance(error, Unavailable) else "wrong"
        yield Finding(check="store", state=state, detail=error.detail, hint=error.hint)
        return
    own = Doctor(app.maintenance, app.table, app.quarantine, app.now, app.new_id)
    yield from own.examine(session.organization)
    yield from _conversations(session, webhook)


def _conversations(session: Session, webhook: str | None) -> "Iterator[Finding]":
    from handlers.conversation_doctor import ConversationDoctor
    from handlers.doctor import Finding

    try:
        talks = session.talks
    except Rejected as error:
        for pointer, detail in error.fields or (("", error.detail),):
            text = f"{pointer} {detail}".strip()
            yield Finding(check="channels", state="wrong", detail=text, hint=error.hint)
        return
    doctor = ConversationDoctor(
        talks=talks, ways_in=_ways_in(talks), now=session.app.now, public_url=webhook
    )
    yield from doctor.examine(session.organization)


def _ways_in(talks: "Talks") -> "dict[str, Deliver]":
    """Return how a delivery may come in: as it is, or in an event of Lambda's."""
    import base64

    from handlers.entrypoints.gateway import read_request

    def event(body: bytes, signature: str | None) -> "Verdict | None":
        request = read_request({"body": base64.b64encode(body).decode(), "isBase64Encoded": True})
        return None if request.body is None else talks.webhook.post(request.body, signature)

    return {"http": talks.webhook.post, "base64": event}

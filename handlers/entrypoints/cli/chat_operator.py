"""The operator's side of `leads chat`: who waits, one conversation at a time, and short commands."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from domain.conversation.handling import OperatorMessage
from domain.conversation.standing import StateChanged
from domain.errors import LeadError
from handlers.conversations.console import Following
from handlers.entrypoints.cli.output import printable
from handlers.entrypoints.cli.people import stands
from handlers.entrypoints.cli.terminal import said

if TYPE_CHECKING:
    from handlers.conversations.inbox import Entry
    from handlers.entrypoints.cli.session import Session

_HELP: Final = (
    "/inbox  who waits · /claim N  take one · /release [NOTE]  back to the queue ·"
    " /transfer NAME · /return [NOTE]  back to the agents · /close · /available · /unavailable ·"
    " /quit\nAnything else is written to the lead."
)
_SHOWN_OF_BEFORE: Final = 10


class OperatorTerminal:
    """An operator: sees who waits, claims by number, writes."""

    def __init__(self, session: "Session", name: str) -> None:
        self._session = session
        self._name = name
        self._talks = session.talks
        self._operators = session.talks.operators
        self._listed: list[Entry] = []
        self._known: set[str] = set()
        self._current: Following | None = None
        self._latest: str | None = None
        self._commands: dict[str, Callable[[str], None]] = {
            "/inbox": lambda _: self._list(),
            "/claim": self._claim,
            "/release": lambda note: self._leave("release", note=note or None),
            "/transfer": self._transfer,
            "/return": lambda note: self._leave("return_to_bot", note=note or None),
            "/close": lambda _: self._leave("close"),
            "/available": lambda _: self._be(available=True),
            "/unavailable": lambda _: self._be(available=False),
        }
        self._say(f"You are the operator {printable(name)}.\n{_HELP}")
        self._list()
        self._resume()

    def typed(self, line: str) -> bool:
        """Do a command, or write to the lead."""
        word, _, rest = line.partition(" ")
        if word == "/quit":
            return False
        try:
            if not word.startswith("/"):
                self._write(line)
            elif word in self._commands:
                self._commands[word](rest.strip())
            else:
                self._say(_HELP)
        except StateChanged as error:
            self._session.words.problem(error)
            self._say(stands(error))
        except LeadError as error:
            self._session.words.problem(error)
        return True

    def look(self) -> None:
        """Show who is new in the queue, and what was said in the conversation."""
        queue, own = self._operators.inbox(self._session.organization, self._name)
        for entry in queue:
            if entry.session_id not in self._known:
                self._known.add(entry.session_id)
                self._listed.append(entry)
                self._say(self._line(len(self._listed), entry))
        self._known = {each.session_id for each in queue} | {each.session_id for each in own}
        if self._current is None:
            return
        self._show(self._current)
        if all(each.lead != self._current.lead for each in own):
            self._say("The conversation is no longer yours.")
            self._current = None

    def is_waiting(self) -> bool:
        """Wait for nothing: what was written is recorded."""
        return False

    def _list(self) -> None:
        queue, own = self._operators.inbox(self._session.organization, self._name)
        self._listed = [*queue, *own]
        self._known = {each.session_id for each in self._listed}
        if not self._listed:
            self._say("Nobody waits.")
        for number, entry in enumerate(self._listed, start=1):
            self._say(self._line(number, entry))

    def _resume(self) -> None:
        """Go on with a conversation that is the operator's already."""
        own = [each for each in self._listed if each.assigned_to == self._name]
        if own:
            self._open(own[0].lead)

    def _claim(self, number: str) -> None:
        place = int(number) if number.isascii() and number.isdigit() else 0
        if not 1 <= place <= len(self._listed):
            self._say("Which one is not clear: /claim and a number of /inbox.")
            return
        lead = self._listed[place - 1].lead
        self._operators.claim(self._session.organization, lead, self._name)
        self._open(lead)

    def _open(self, lead: str) -> None:
        self._current = Following(conversations=self._talks.conversations, lead=lead)
        self._say(f"You talk to {printable(lead)}. What was said before:")
        self._show(self._current, last=_SHOWN_OF_BEFORE)

    def _write(self, text: str) -> None:
        if self._current is None:
            self._say("Claim a conversation first: /claim and a number of /inbox.")
            return
        replied = self._operators.reply(
            self._session.organization,
            self._current.lead,
            self._name,
            OperatorMessage(
                text=text,
                client_message_id=self._talks.deciding.new_id(),
                last_seen_message_id=self._latest,
            ),
        )
        self._current.skip(replied.outbound_id)
        if replied.state != "sent":
            self._say(f"({replied.state})")

    def _leave(self, act: str, **more: str | None) -> None:
        if self._current is None:
            self._say("You talk to nobody.")
            return
        lead = self._current.lead
        now = getattr(self._operators, act)(self._session.organization, lead, self._name, **more)
        self._current = None
        self._say(f"Done; the conversation is {now.state or 'over'}.")

    def _transfer(self, to: str) -> None:
        if self._current is None or not to:
            self._say("/transfer and the name of an operator, in a conversation of yours.")
            return
        self._operators.transfer(self._session.organization, self._current.lead, self._name, to)
        self._current = None
        self._say(f"It is {printable(to)}'s.")

    def _be(self, *, available: bool) -> None:
        change = self._operators.available if available else self._operators.unavailable
        names = change(self._session.organization, self._name)
        self._say(f"Available: {printable(', '.join(names)) or 'nobody'}")

    def _show(self, following: Following, last: int | None = None) -> None:
        news = following.news()
        for message in news if last is None else news[-last:]:
            self._session.out.text(said(message))
        inbound = [each.message_id for each in news if each.direction == "inbound"]
        if inbound:
            self._latest = inbound[-1]
        self._session.out.flush()

    def _line(self, number: int, entry: "Entry") -> str:
        about = (entry.reason, entry.segment, entry.assigned_to and f"{entry.assigned_to}'s")
        words = " · ".join(printable(each) for each in about if each)
        return f"[{number}] waits {entry.minutes} min · {words}"

    def _say(self, text: str) -> None:
        self._session.words.say(text)

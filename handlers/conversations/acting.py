"""The ground of what people do: the session an act is about, as it stands, and who is just writing."""

from domain import keys
from domain.conversation.standing import Actor, Standing, StateChanged, now_of
from domain.conversation.states import PHONE_OPERATOR
from domain.errors import FieldError, NotFound, Rejected
from domain.event import MAX_ID_CHARACTERS
from domain.ports.effects import IdFactory
from handlers.conversations import locks
from handlers.conversations.ground import Conversation, Conversations


def actor(operator: str, new_id: IdFactory) -> Actor:
    """Return who acts, for one act.

    Raises:
        Rejected: it is no operator's name.
    """
    name = operator.strip()
    if not name or name == PHONE_OPERATOR or len(name) > MAX_ID_CHARACTERS:
        raise Rejected(
            "The operator's name cannot be used.",
            hint=f"Give a name of 1 to {MAX_ID_CHARACTERS} characters; `{PHONE_OPERATOR}` is the"
            " business's own phone.",
            fields=[FieldError("/operator", "is no operator's name")],
        )
    return Actor(operator=name, command_id=new_id())


def open_session(conversations: Conversations, organization_id: str, lead: str) -> str:
    """Return the session that an act is about, so that its lock can be named.

    Raises:
        NotFound: nobody talked to the lead, or it is another organization's.
        StateChanged: no session is open.
    """
    conversation = conversations.look(lead)
    thread, head = conversation.thread, conversation.ground.head
    if thread is None or head is None or head.organization_id != organization_id:
        raise _nobody()
    if thread.active_session_id is None:
        raise StateChanged(("session",), now_of(Standing(thread, None)))
    return thread.active_session_id


def standing(conversation: Conversation) -> Standing:
    """Return a conversation as decisions of people take it.

    Raises:
        NotFound: nobody talked to the lead.
    """
    thread = conversation.thread
    if thread is None:
        raise _nobody()
    return Standing(thread, conversation.active())


def in_session(conversation: Conversation, session_id: str) -> Standing:
    """Return what stands, if it is still about the session whose lock the commit checks.

    Raises:
        StateChanged: another session is open, or none.
    """
    at = standing(conversation)
    if at.session is None or at.session.session_id != session_id:
        raise StateChanged(("session",), now_of(at))
    return at


def being_sent(conversations: Conversations, lead: str, session_id: str, now: str) -> StateChanged:
    """Return the refusal of what would come between an operator's text and its lead."""
    who = locks.sender(conversations.table, lead, session_id, now)
    at = standing(conversations.look(lead, [keys.session(lead, session_id)]))
    return StateChanged(("sending",), now_of(at, who))


def _nobody() -> NotFound:
    return NotFound("There is no conversation with such a lead.", hint="Check the lead's id.")

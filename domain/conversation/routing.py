"""Routing: where a message goes, decided on the state of the commit that registers it (seed 002).

Precedence: 0 what is no turn, 1 the debug command, 2 operators, 3 people who talk to people,
a wish not to be written to, 4 what is no text, 5 text for an agent.
"""

import unicodedata
from typing import Final

from domain.conversation.facts import MESSAGING, Facts
from domain.conversation.inbound import TEXT_MEDIA, ConsentChange, InboundMessage
from domain.conversation.policy import DEBUG_COMMAND, Policy
from domain.conversation.states import HUMANS, PHONE_OPERATOR, State
from domain.conversation.texts import text
from domain.conversation.thread import Thread
from domain.event import Address, NewEvent
from domain.instants import shift, to_datetime

# Source: research/whatsapp.md §6.3, 0c; compared as `_spoken` returns them.
_STOP: Final = frozenset(
    ("parar", "pare", "stop", "sair", "descadastrar", "cancelar inscricao", "remover", "baja")
)
_RESUME: Final = frozenset(("voltar", "start"))
_COURTESY: Final = frozenset(("por", "favor", "please", "obrigado", "obrigada"))


def decide_inbound(
    thread: Thread | None, item: InboundMessage, policy: Policy, facts: Facts, new_session: str
) -> list[NewEvent]:
    """Return what a message means: itself with its route first, then what follows from it.

    `thread` is the lead's as it stands, `new_session` the id of the session it may open.
    """
    state = thread.state if thread else None
    if item.group_id is not None or item.held_elsewhere:
        return [_received(facts, item, "record", None)]
    if policy.debug and item.text.strip() == DEBUG_COMMAND and _is_one_of(item, policy.debuggers):
        return _debug(thread, item, policy, facts)
    if _is_one_of(item, policy.operators):
        return [_received(facts, item, "operator", None)]
    wish = _wish(item)
    if thread is not None and state in HUMANS and not _is_somebody_else(thread, item):
        return _to_inbox(thread, item, policy, facts, wish)
    opening, session_id = _session(thread, item, facts, new_session)
    if wish is not None:
        route, following = "consent", _consent(item, policy, facts, session_id, wish)
    elif not item.text or (item.media_type not in TEXT_MEDIA and not policy.caption_as_text):
        route, following = "notice", _notice(thread, item, policy, facts, session_id)
    else:
        route, following = "turn", []
    return [_received(facts, item, route, session_id), *opening, *following]


def decide_takeover(
    thread: Thread | None, facts: Facts, new_session: str, account: str, cause: str
) -> tuple[list[NewEvent], str]:
    """Return what makes somebody on the business's own phone the owner, and the session.

    A lead nobody talked to yet gets a session: agents keep out of what the phone began.
    """
    if thread is not None and thread.active_session_id is not None:
        if thread.state == State.HUMAN:
            return [], thread.active_session_id
        opening: list[NewEvent] = []
        session_id = thread.active_session_id
    else:
        channel = (thread.channel if thread else "") or "whatsapp"
        opening, session_id = [facts.session_started(new_session, channel, account)], new_session
    if thread is None or thread.state != State.HANDOFF_PENDING:
        opening.append(
            facts.fact(
                "handoff_requested",
                MESSAGING,
                f"{cause}:takeover",
                session_id=session_id,
                reason="phone_takeover",
            )
        )
    claimed = facts.fact(
        "handoff_claimed",
        MESSAGING,
        f"{cause}:claimed",
        session_id=session_id,
        operator=PHONE_OPERATOR,
    )
    return [*opening, claimed], session_id


def ending(thread: Thread, facts: Facts, outcome: str) -> NewEvent:
    """Return the end of the open session."""
    began = thread.started_at or facts.now
    seconds = (to_datetime(facts.now) - to_datetime(began)).total_seconds()
    return facts.session_ended(
        thread.active_session_id or "",
        thread.channel or "whatsapp",
        outcome,
        messages=thread.session_messages,
        seconds=int(seconds),
    )


def consent_fact(facts: Facts, item: ConsentChange) -> NewEvent:
    """Return what a person chose at the channel itself."""
    return facts.fact(
        "consent_recorded",
        item.source,
        item.external_event_id,
        occurred_at=item.occurred_at,
        kind=item.kind,
        decision="granted" if item.granted else "refused",
    )


def _received(facts: Facts, item: InboundMessage, route: str, session_id: str | None) -> NewEvent:
    return facts.fact(
        "message_received",
        item.source,
        item.external_event_id,
        occurred_at=item.occurred_at,
        raw=item.raw or None,
        channel=item.channel,
        channel_account=item.account or None,
        media_type=item.media_type,
        text=item.text or None,
        route=route,
        session_id=session_id,
        reply_to=item.reply_to or None,
        user_id=item.user_id,
        contact_name=item.contact_name or None,
        media_id=item.media_id,
        quoted_message_id=item.quoted_message_id,
        referral=item.referral,
    )


def _session(
    thread: Thread | None, item: InboundMessage, facts: Facts, new_session: str
) -> tuple[list[NewEvent], str]:
    """Return the session a message belongs to, and what opens it.

    Two numbers of a business never share a session, nor do two people behind one number.
    """
    started = facts.session_started(
        new_session,
        item.channel,
        item.account,
        reply_to=item.reply_to,
        contact_name=item.contact_name,
    )
    if thread is None or thread.active_session_id is None:
        return [started], new_session
    if _is_somebody_else(thread, item):
        return [ending(thread, facts, "number_recycled"), started], new_session
    if thread.active_account != item.account:
        return [ending(thread, facts, "moved"), started], new_session
    return [], thread.active_session_id


def _debug(
    thread: Thread | None, item: InboundMessage, policy: Policy, facts: Facts
) -> list[NewEvent]:
    session_id = thread.active_session_id if thread else None
    closing = [ending(thread, facts, "debug")] if thread and session_id else []
    answer = facts.reply_queued(
        "debug", text("debug_closed", policy.language), cause=item.external_event_id
    )
    return [_received(facts, item, "debug", session_id), *closing, answer]


def _to_inbox(
    thread: Thread, item: InboundMessage, policy: Policy, facts: Facts, wish: str | None
) -> list[NewEvent]:
    """Give a message to people; who waits for one is told so, now and then."""
    session_id = thread.active_session_id
    said = [_received(facts, item, "inbox", session_id)]
    if wish is not None:
        said.append(_wished(facts, item, wish))
    quiet = shift(facts.now, -policy.acknowledgement_cooldown)
    if thread.state == State.HANDOFF_PENDING and thread.acknowledged_at <= quiet:
        waiting = text("waiting", policy.language)
        said.append(
            facts.reply_queued(
                "inbox_ack", waiting, cause=item.external_event_id, session_id=session_id
            )
        )
    return said


def _consent(
    item: InboundMessage, policy: Policy, facts: Facts, session_id: str, wish: str
) -> list[NewEvent]:
    name = "opted_out" if wish == "refused" else "opted_in"
    answer = facts.reply_queued(
        "consent",
        text(name, policy.language),
        cause=item.external_event_id,
        session_id=session_id,
    )
    return [_wished(facts, item, wish), answer]


def _wished(facts: Facts, item: InboundMessage, wish: str) -> NewEvent:
    return facts.fact(
        "consent_recorded",
        MESSAGING,
        f"{item.external_event_id}:consent",
        kind="marketing_messages",
        decision=wish,
        evidence=item.external_event_id,
    )


def _notice(
    thread: Thread | None, item: InboundMessage, policy: Policy, facts: Facts, session_id: str
) -> list[NewEvent]:
    """Ask for text, once for an album of pictures."""
    quiet = shift(facts.now, -policy.notice_cooldown)
    if thread is not None and thread.noticed_at > quiet:
        return []
    ask = text("text_only", policy.language)
    return [facts.reply_queued("notice", ask, cause=item.external_event_id, session_id=session_id)]


def _wish(item: InboundMessage) -> str | None:
    """Return whether the whole message asks to be left alone, or to be written to again."""
    if item.media_type not in TEXT_MEDIA:
        return None
    said = _spoken(item.text)
    if said in _STOP:
        return "refused"
    return "granted" if said in _RESUME else None


def _spoken(words: str) -> str:
    """Return words as they are compared: no case, accents, punctuation or courtesy."""
    plain = unicodedata.normalize("NFKD", words[:100].casefold())
    letters = "".join(each if each.isalnum() else " " for each in plain if not _is_accent(each))
    return " ".join(word for word in letters.split() if word not in _COURTESY)


def _is_accent(character: str) -> bool:
    return unicodedata.combining(character) != 0


def _is_somebody_else(thread: Thread, item: InboundMessage) -> bool:
    """Tell whether the number has another owner now: its user id changed and nobody said so."""
    return None not in {thread.user_id, item.user_id} and thread.user_id != item.user_id


def _is_one_of(item: InboundMessage, allowed: frozenset[str]) -> bool:
    return (
        bool(allowed) and item.address is not None and not allowed.isdisjoint(forms(item.address))
    )


def forms(address: Address) -> tuple[str, ...]:
    """Return every form of an address."""
    return (address.identifier, *address.aliases)

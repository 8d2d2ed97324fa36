"""A HubSpot that fits on a laptop: real HTTP on loopback, its rules, and what goes wrong with it."""

from handlers.simulators.hubspot.answers import Refused, Shapes
from handlers.simulators.hubspot.chaos import PRESETS, Chaos
from handlers.simulators.hubspot.faults import (
    BURST_LIMITED,
    DAILY_LIMITED,
    FAILING,
    LOCKED,
    NEVER_SENT,
    REPLY_LOST,
    SEARCH_LIMITED,
    Answer,
    Drop,
    Fault,
    Late,
    Mangle,
    Page,
    Twice,
    migrating,
)
from handlers.simulators.hubspot.journal import Entry, Journal
from handlers.simulators.hubspot.moments import VirtualClock
from handlers.simulators.hubspot.people import People
from handlers.simulators.hubspot.portal import CONTACTS, DEALS, PHONE_KEY, SESSION_KEY, STAGES
from handlers.simulators.hubspot.records import Record
from handlers.simulators.hubspot.setup import SCOPES, Access, Setup
from handlers.simulators.hubspot.simulator import HubSpot

__all__ = [
    "BURST_LIMITED",
    "CONTACTS",
    "DAILY_LIMITED",
    "DEALS",
    "FAILING",
    "LOCKED",
    "NEVER_SENT",
    "PHONE_KEY",
    "PRESETS",
    "REPLY_LOST",
    "SCOPES",
    "SEARCH_LIMITED",
    "SESSION_KEY",
    "STAGES",
    "Access",
    "Answer",
    "Chaos",
    "Drop",
    "Entry",
    "Fault",
    "HubSpot",
    "Journal",
    "Late",
    "Mangle",
    "Page",
    "People",
    "Record",
    "Refused",
    "Setup",
    "Shapes",
    "Twice",
    "VirtualClock",
    "migrating",
]

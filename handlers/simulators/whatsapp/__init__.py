"""A local WhatsApp Cloud API: real HTTP on loopback, and everything that goes wrong with it."""

from handlers.simulators.whatsapp.customer import Customer
from handlers.simulators.whatsapp.faults import (
    PRESETS,
    Break,
    Faults,
    LoseReply,
    Refuse,
    StatusPlan,
    StatusStep,
    WebhookFault,
)
from handlers.simulators.whatsapp.people import Number, Person
from handlers.simulators.whatsapp.phones import Received
from handlers.simulators.whatsapp.scenario import Scenario, Summary, play
from handlers.simulators.whatsapp.simulator import Simulator
from handlers.simulators.whatsapp.webhooks import Posted
from handlers.simulators.whatsapp.world import Setup

__all__ = [
    "PRESETS",
    "Break",
    "Customer",
    "Faults",
    "LoseReply",
    "Number",
    "Person",
    "Posted",
    "Received",
    "Refuse",
    "Scenario",
    "Setup",
    "Simulator",
    "StatusPlan",
    "StatusStep",
    "Summary",
    "WebhookFault",
    "play",
]

"""The rules of all memories, one module a family. Importing this package declares them."""

from projections.memories.declaration import RELATED, RULES, VIEWS
from projections.memories.rules import (
    agent,
    campaign,
    commerce,
    conversation,
    feature_stats,
    form,
    interest,
    price,
    support,
)

__all__ = ["FAMILIES", "RELATED", "RULES", "VIEWS"]

FAMILIES = (
    agent,
    campaign,
    commerce,
    conversation,
    feature_stats,
    form,
    interest,
    price,
    support,
)
"""Every family; a new one is a line here."""

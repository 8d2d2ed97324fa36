"""Pure recipes: every view is a fold of events, live and rebuilt by the same code."""

from typing import Final

from projections.conversations import CONVERSATIONS
from projections.crm import CRM
from projections.memories import MEMORIES
from projections.projection import Projection

ALL: Final[tuple[Projection, ...]] = (MEMORIES, CONVERSATIONS, CRM)
"""Every projection. Laws, rebuild and verify run over all of them."""

FOLD_VERSION: Final = 3
"""The edition of all projections together; raised whenever what one of them writes changes."""

"""The forms in which events arrive, one module each. A new source is a module and its line here."""

from typing import Final

from adapters.sources import native, normalized
from domain.draft import Translator

SOURCES: Final[tuple[Translator, ...]] = (normalized.EventNormalized(), native.NativeEvent())
"""Asked in this order. The last recognises every object, so that each is told what it lacks."""

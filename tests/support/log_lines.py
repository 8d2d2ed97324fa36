"""Logging of one test: what it sets up ends with it."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

import structlog


@contextmanager
def logging_of_its_own() -> Iterator[None]:
    """Put logging back to what it was, at the end."""
    root, before = logging.root, structlog.get_config()
    handlers, level = root.handlers[:], root.level
    try:
        yield
    finally:
        structlog.configure(**before)
        root.handlers[:] = handlers
        root.setLevel(level)

"""One stored stream, folded: what comes out may change only together with FOLD_VERSION.

`fold_version.json` holds the digest of all rows for each edition; those of old ones stay as they
are. After a change that is meant, raise FOLD_VERSION and add the digest the failure shows.
"""

import json
from pathlib import Path
from typing import Any

from domain.event import LeadEvent
from projections import ALL, FOLD_VERSION
from projections.conversations import CONVERSATIONS
from projections.crm import CRM
from projections.folding import Fold, digest
from tests.support.strategies import LEAD, PAYLOADS, event

GOLDEN = Path(__file__).parents[2] / "golden"


def stream() -> list[dict[str, Any]]:
    text = (GOLDEN / "fold_stream.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def recorded(entry: dict[str, Any], sequence: int) -> LeadEvent:
    """Return an entry as an event; what is not said is as `event` has it."""
    made = event(
        entry["type"],
        entry["payload"],
        at=entry["at"],
        event_id=entry["id"],
        sequence=sequence,
        source=entry["source"],
    )
    return made._replace(
        external_event_id=entry.get("key", made.external_event_id),
        received_at=entry.get("received", made.received_at),
    )


def test_rows_of_the_golden_stream_change_only_with_the_fold_version():
    fold = Fold(ALL, LEAD)
    for sequence, entry in enumerate(stream(), 1):
        fold.evolve(recorded(entry, sequence))

    editions = json.loads((GOLDEN / "fold_version.json").read_text(encoding="utf-8"))

    assert editions.get(str(FOLD_VERSION)) == digest(fold.rows())


def test_the_golden_stream_has_every_type():
    found = {entry["type"] for entry in stream()}

    assert found >= set(PAYLOADS)
    assert found >= CONVERSATIONS.handles | CRM.handles

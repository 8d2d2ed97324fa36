"""A row of the mirror stays small, however long its session is."""

import itertools
import json

from domain.conversation.facts import AGENTS, Facts
from domain.crm import sync as mirror

NOW = "2026-03-20T12:00:00.000000Z"


def test_no_number_of_turns_makes_a_row_too_large():
    ids = itertools.count()
    facts = Facts(organization_id="acme", now=NOW, new_id=lambda: f"id-{next(ids)}")
    row = mirror.initial(facts.session_started("s-1", "whatsapp", "1").numbered("lead", 1))
    for turn in range(10):
        said = {f"k{turn}-{number:02d}": "v" * 900 for number in range(10)}
        fact = facts.fact(
            "agent_turn_completed",
            AGENTS,
            f"{turn}:turn",
            session_id="s-1",
            covered_message_ids=["wamid.A"],
            agent="triagem",
            code="CONTINUE",
            state_after="TRIAGE",
            qualification_data=json.dumps(said),
        )
        mirror.evolve(row, fact.numbered("lead", 2 + turn))

    assert len(row.collected) == 60
    assert {len(value) for value in row.collected.values()} == {500}
    assert len(row.desired["deal"]["notes"]) <= 2_000

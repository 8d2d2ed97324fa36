"""Forms: what the lead said about themselves, question by question."""

from collections.abc import Iterator
from typing import Any

from domain.event import LeadEvent
from projections.memories.cells import USER_DECLARED, Cells, Contribution, instant_of, register
from projections.memories.declaration import (
    MAX_ITEMS,
    Shown,
    chosen,
    counted,
    memory_key,
    rule,
    slug,
    view,
)


@rule("form_submitted")
def answers(event: LeadEvent, stamped: str) -> Iterator[Contribution]:
    """Remember each answer; of two under one key in one form, the latter."""
    stated = event.payload
    last: dict[str, dict[str, Any]] = {}
    for response in stated["responses"][:MAX_ITEMS]:
        name = response.get("ref") or slug(response["question"])
        last[memory_key(stated["formId"], name)] = response
    for key, response in last.items():
        facts = {
            **chosen(response, "question"),
            "answer": response.get("answer"),
            **chosen(stated, "formName"),
        }
        cells: Cells = {"last:answer": register(stamped, facts, USER_DECLARED), **counted(event)}
        yield "form", key, cells


@view("form")
def show_answer(cells: Cells) -> Shown:
    """The newest answer to one question of one form."""
    _, stamped, facts = cells["last:answer"]
    return Shown({**facts, "submittedAt": instant_of(stamped)}, source="user_declared")

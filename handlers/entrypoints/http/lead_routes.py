"""Routes that read one lead: events, memories, context, features."""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from handlers.entrypoints.http import examples
from handlers.entrypoints.http.answers import json_answer
from handlers.entrypoints.http.doors import EventReader, MemoryReader, doors
from handlers.reads import DEFAULT_PAGE, MAX_PAGE, EventQuery, Moment, instant
from handlers.shapes import (
    context_json,
    event_json,
    explanation_json,
    features_json,
    memory_json,
)

router = APIRouter(prefix="/v1/leads/{lead}", tags=["leads"])


class _Parameters(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _EventParameters(_Parameters):
    type: str | None = Field(default=None, description="Only events of this type.")
    since: str | None = Field(default=None, description="occurredAt, inclusive.")
    until: str | None = Field(default=None, description="occurredAt, exclusive.")
    limit: int = Field(default=DEFAULT_PAGE, ge=1, le=MAX_PAGE)
    cursor: str | None = Field(default=None, description="Of the answer to continue.")
    order: Literal["asc", "desc"] = "asc"


class _MomentParameters(_Parameters):
    as_of: str | None = Field(default=None, description="Only what had occurred by then.")
    known_at: str | None = Field(default=None, description="Only what had been received by then.")

    def moment(self) -> Moment:
        return Moment(
            as_of=instant(self.as_of, "as_of"), known_at=instant(self.known_at, "known_at")
        )


class _MemoryParameters(_MomentParameters):
    type: str | None = Field(default=None, description="Only memories of this type.")
    include_expired: bool = False


class _ContextParameters(_MomentParameters):
    budget: int = Field(default=400, ge=50, le=32_000, description="Tokens at most.")
    locale: Literal["pt-BR", "en"] = "pt-BR"
    format: Literal["xml", "markdown", "json"] = "xml"


class _FeatureParameters(_Parameters):
    as_of: str | None = Field(default=None, description="The instant the vector is of.")


@router.get("/events", responses=examples.EVENTS)
async def list_events(
    request: Request,
    credential: EventReader,
    lead: str,
    parameters: Annotated[_EventParameters, Query()],
) -> Response:
    """List events by the time they occurred.

    With `type` this is one query of the event-type-index. A null `cursor` says that was all.
    """
    own = doors(request)
    query = EventQuery(
        event_type=parameters.type,
        since=instant(parameters.since, "since"),
        until=instant(parameters.until, "until"),
        desc=parameters.order == "desc",
        limit=parameters.limit,
        cursor=parameters.cursor,
    )
    page = await own.run(own.app.reads.events, credential.organization_id, lead, query)
    events = [event_json(each) for each in page.items]
    return json_answer({"events": events, "cursor": page.cursor})


@router.get("/events/{sequence}", responses=examples.EVENT)
async def get_event(
    request: Request, credential: EventReader, lead: str, sequence: int
) -> Response:
    """Return one event by its sequence, with the sender's own rawPayload."""
    own = doors(request)
    event = await own.run(own.app.reads.event, credential.organization_id, lead, sequence)
    return json_answer(event_json(event))


@router.get("/memories", responses=examples.MEMORIES)
async def list_memories(
    request: Request,
    credential: MemoryReader,
    lead: str,
    parameters: Annotated[_MemoryParameters, Query()],
) -> Response:
    """List what is remembered of the lead, by type and key, now or at a moment of the past."""
    own = doors(request)
    memories = await own.run(
        own.app.reads.memories,
        credential.organization_id,
        lead,
        moment=parameters.moment(),
        memory_type=parameters.type,
        include_expired=parameters.include_expired,
    )
    return json_answer({"memories": [memory_json(each) for each in memories]})


@router.get("/memories/{memory_type}/{key:path}/explain", responses=examples.EXPLANATION)
async def explain_memory(
    request: Request, credential: MemoryReader, lead: str, memory_type: str, key: str
) -> Response:
    """Return the events a memory stands on, what each added, and why it reads as it does."""
    own = doors(request)
    found = await own.run(own.app.reads.explain, credential.organization_id, lead, memory_type, key)
    return json_answer(explanation_json(found))


@router.get("/memories/{memory_type}/{key:path}", responses=examples.MEMORY)
async def get_memory(
    request: Request,
    credential: MemoryReader,
    lead: str,
    memory_type: str,
    key: str,
    parameters: Annotated[_MomentParameters, Query()],
) -> Response:
    """Return one memory, also an expired one."""
    own = doors(request)
    found = await own.run(
        own.app.reads.memory,
        credential.organization_id,
        lead,
        memory_type,
        key,
        moment=parameters.moment(),
    )
    return json_answer(memory_json(found))


@router.get("/context", responses=examples.CONTEXT)
async def get_context(
    request: Request,
    credential: MemoryReader,
    lead: str,
    parameters: Annotated[_ContextParameters, Query()],
) -> Response:
    """Return what an agent may read of the memories, within a budget of tokens."""
    own = doors(request)
    found = await own.run(
        own.app.reads.context,
        credential.organization_id,
        lead,
        budget=parameters.budget,
        locale=parameters.locale,
        form=parameters.format,
        moment=parameters.moment(),
    )
    return json_answer(context_json(found))


@router.get("/features", responses=examples.FEATURES)
async def get_features(
    request: Request,
    credential: MemoryReader,
    lead: str,
    parameters: Annotated[_FeatureParameters, Query()],
) -> Response:
    """Return the feature vector, now or at an instant of the past; undefined ones are absent."""
    own = doors(request)
    as_of = instant(parameters.as_of, "as_of")
    vector = await own.run(own.app.reads.features, credential.organization_id, lead, as_of=as_of)
    return json_answer(features_json(lead, vector))

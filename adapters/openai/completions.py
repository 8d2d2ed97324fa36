"""Chat completions on the wire: what is asked, and what comes back, whoever the server is."""

import json
from collections.abc import Mapping
from enum import IntEnum
from typing import Any, Final

from adapters.openai.costs import Usage
from domain.conversation.model import ModelRefused, ModelRequest, ModelUnavailable, Said

_MAX_TOKENS: Final = 1_000_000_000
_SCHEMA_NAME: Final = "agent_answer"
_IN_WORDS: Final = "Responda somente com um objeto JSON que siga este JSON Schema:"


class Form(IntEnum):
    """How the model is held to the schema, the surest first."""

    SCHEMA = 0
    OBJECT = 1
    WORDS = 2


def body_of(request: ModelRequest, model: str, form: Form) -> dict[str, Any]:
    """Return the parameters of one request.

    Messages of one role in a row become one: many open models are trained on turns that alternate.
    """
    system = request.system
    if form is not Form.SCHEMA:
        schema = json.dumps(request.schema, ensure_ascii=False, separators=(",", ":"))
        system = f"{system}\n\n{_IN_WORDS} {schema}"
    said = list(request.messages)
    if request.previous is not None:
        said.append(Said(role="assistant", text=request.previous))
    if request.correction is not None:
        said.append(Said(role="user", text=request.correction))
    messages = [{"role": "system", "content": system}]
    for each in said:
        if messages[-1]["role"] == each.role:
            messages[-1]["content"] += f"\n{each.text}"
        else:
            messages.append({"role": each.role, "content": each.text})
    body: dict[str, Any] = {"model": model, "messages": messages}
    if form is Form.SCHEMA:
        asked = {"name": _SCHEMA_NAME, "strict": True, "schema": request.schema}
        body["response_format"] = {"type": "json_schema", "json_schema": asked}
    elif form is Form.OBJECT:
        body["response_format"] = {"type": "json_object"}
    return body


def document_of(raw: bytes) -> Mapping[str, Any]:
    """Return the completion that bytes hold.

    Raises:
        ModelUnavailable: it is none.
    """
    try:
        document = json.loads(raw)
    except (ValueError, RecursionError):
        document = None
    if not isinstance(document, dict) or not isinstance(_at(document, "choices", 0), dict):
        raise ModelUnavailable("bad_response")
    return document


def text_of(document: Mapping[str, Any]) -> str:
    """Return what the model wrote, nothing if it wrote nothing.

    Raises:
        ModelRefused: it refused, or a filter kept its answer back.
    """
    if _at(document, "choices", 0, "message", "refusal"):
        raise ModelRefused("refusal")
    if _at(document, "choices", 0, "finish_reason") == "content_filter":
        raise ModelRefused("content_filter")
    content = _at(document, "choices", 0, "message", "content")
    if isinstance(content, list):
        # Some servers answer in the parts that questions may have.
        return "".join(str(_at(part, "text") or "") for part in content)
    return content if isinstance(content, str) else ""


def usage_of(document: Mapping[str, Any]) -> Usage:
    """Return the tokens that were counted; none where the server does not count."""
    return Usage(
        input_tokens=_count(_at(document, "usage", "prompt_tokens")),
        output_tokens=_count(_at(document, "usage", "completion_tokens")),
        cached_tokens=_count(_at(document, "usage", "prompt_tokens_details", "cached_tokens")),
    )


def model_of(document: Mapping[str, Any], asked: str) -> str:
    """Return the name of the model that answered, as far as an event keeps one."""
    told = _at(document, "model")
    return (told if isinstance(told, str) and told else asked)[:100]


def _at(value: Any, *path: str | int) -> Any:
    """Return what stands behind a path, None if something on it is missing."""
    for step in path:
        try:
            value = value[step]
        except (KeyError, IndexError, TypeError):
            return None
    return value


def _count(value: object) -> int:
    if isinstance(value, bool) or not isinstance(value, int):
        return 0
    return value if 0 <= value <= _MAX_TOKENS else 0

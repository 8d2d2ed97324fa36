"""HubSpot's own interface files, where they lie beside the checkout, and what answers must look like."""

import json
import os
import re
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import jsonschema_rs

FOLDER = Path(
    os.environ.get("LEADS_TEST_OPENAPI") or Path(__file__).parents[3] / "shared" / "hubspot-openapi"
)
FILES = (
    "contacts.2026-09.json",
    "deals.2026-09.json",
    "associations.2026-03.json",
    "pipelines.2026-03.json",
    "properties.v3.json",
)
IS_THERE = FOLDER.is_dir()
MISSING = "HubSpot's interface files are not beside the checkout (../shared/hubspot-openapi)"

# Tolerated: where the recorded HubSpot, or an older file of its own, says something else than these files.
# - Batches answer 207 beside 200 (2026-09 lists 200 only): same document as 200.
# - A 429 that names a policy, and a path past its end of life, have no category (research/crm.md §1.2, §1.1).
# - Pipelines, properties and labelled associations have no 2026-09 file: the newest there is stands in.
TOLERATED_STATUSES = {207: "200"}
WITHOUT_CATEGORY = {404, 405, 429}


class Operation(NamedTuple):
    method: str
    path: re.Pattern[str]
    answers: dict[str, Any]
    asks: Any
    file: str
    queries: frozenset[str]

    @property
    def components(self) -> Any:
        """What the schemas of its file refer to."""
        return _document(self.file)["components"]


def problem(method: str, path: str, status: int, document: Any) -> str | None:
    """Say what is wrong with an answer; None if nothing is."""
    for operation in operations():
        if operation.method == method and operation.path.fullmatch(path):
            break
    else:
        return f"{method} {path} is in no file"
    named = TOLERATED_STATUSES.get(status, str(status))
    schema = operation.answers.get(named, operation.answers["default"])
    if schema is None:
        return None if document is None else "there is to be no body"
    if status in WITHOUT_CATEGORY and "category" not in (document or {}):
        document = {**(document or {}), "category": "tolerated"}
    return first_error(schema, operation.file, document)


def asked_wrong(method: str, path: str, document: Any) -> str | None:
    """Say what is wrong with the body of a request; None if nothing is."""
    for operation in operations():
        if operation.method == method and operation.path.fullmatch(path):
            return first_error(operation.asks, operation.file, document)
    return f"{method} {path} is in no file"


def operation_of(method: str, path: str) -> Operation:
    """Return the operation of a request; StopIteration if it is in no file."""
    return next(
        each for each in operations() if each.method == method and each.path.fullmatch(path)
    )


def first_error(schema: Any, file: str, document: Any) -> str | None:
    found = next(iter(_validator(json.dumps(schema), file).iter_errors(document)), None)
    return None if found is None else f"{found.instance_path}: {found.message}"


@cache
def _document(file: str) -> Any:
    return _plain(json.loads((FOLDER / file).read_text(encoding="utf-8")))


@cache
def _validator(schema: str, file: str) -> Any:
    whole = {"components": _document(file)["components"], "allOf": [json.loads(schema)]}
    return jsonschema_rs.Draft4Validator(whole, validate_formats=True)


@cache
def operations() -> tuple[Operation, ...]:
    return tuple(each for name in FILES for each in _read(name))


def _read(file: str) -> list[Operation]:
    document = _document(file)
    kind = re.match(r"(contacts|deals)\.", file)
    found = []
    for template, verbs in document["paths"].items():
        for method, operation in verbs.items():
            if method not in {"get", "post", "put", "patch", "delete"}:
                continue
            answers = {
                status: _schema(answer, document)
                for status, answer in operation["responses"].items()
            }
            body = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            pattern = _pattern(template, kind[1] if kind else None)
            asked = operation.get("parameters", ())
            queries = frozenset(each["name"] for each in asked if each["in"] == "query")
            found.append(
                Operation(method.upper(), pattern, answers, body.get("schema"), file, queries)
            )
    return found


def _pattern(template: str, kind: str | None) -> re.Pattern[str]:
    path = re.sub(r"/20[0-9]{2}-[0-9]{2}/", "/2026-09/", template)
    path = path.replace("/crm/v3/properties/", "/crm/properties/2026-09/")
    if kind:
        path = path.replace("{objectType}", kind)
    return re.compile(re.sub(r"\\{\w+\\}|\{\w+\}", "[^/]+", path))


def _schema(answer: Any, document: Any) -> Any:
    if "$ref" in answer:
        answer = document["components"]["responses"][answer["$ref"].rpartition("/")[2]]
    content = answer.get("content")
    return next(iter(content.values()))["schema"] if content else None


def _plain(node: Any) -> Any:
    """Turn OpenAPI 3.0 into JSON Schema: what may be null says so by its type."""
    if isinstance(node, list):
        return [_plain(each) for each in node]
    if not isinstance(node, dict):
        return node
    plain = {key: _plain(value) for key, value in node.items() if key != "example"}
    if plain.pop("nullable", False) is True and isinstance(plain.get("type"), str):
        plain["type"] = [plain["type"], "null"]
    return plain

"""Versioned resources: the prompts of the agents, and packages of knowledge for them (seed 000)."""

import re
from dataclasses import dataclass
from typing import Final

from domain.conversation.states import AGENTS
from domain.errors import FieldError, LimitExceeded, Rejected
from domain.keys import Key
from domain.records import Row

PROMPT: Final = "prompt"
PACKAGE: Final = "package"
TYPES: Final = (PROMPT, PACKAGE)

MAX_CONTENT_BYTES: Final = 64 * 1024
"""Of UTF-8. Every turn of an agent carries its prompt and all packages."""

MAX_VERSION: Final = 999_999
"""What the six digits of a version's key hold."""

_NAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9_.-]{0,62}[a-z0-9])?", re.ASCII)
_AUTHOR: Final = re.compile(r"[^\x00-\x1f\x7f-\x9f\ud800-\udfff]{1,100}")
_NO_TEXT: Final = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Resource:
    """One version of a resource. Where it is not `active` it counts as not there.

    `version` 0 is the shipped one, whose `updated_at` is empty. Instants are fixed-width UTC.
    """

    resource_type: str
    resource_id: str
    version: int
    content: str
    active: bool
    author: str
    updated_at: str

    @property
    def name(self) -> str:
        """How events name it, for example `qualificacao@3`."""
        return f"{self.resource_id}@{self.version}"


def check_type(resource_type: str) -> str:
    """Return a type that exists.

    Raises:
        Rejected: it does not.
    """
    if resource_type not in TYPES:
        problem = FieldError("/resourceType", f"must be one of {', '.join(TYPES)}")
        raise Rejected("There is no such type of resource.", fields=[problem])
    return resource_type


def check_name(resource_type: str, resource_id: str) -> None:
    """Refuse a name that nothing reads, or that cannot stand in keys.

    Raises:
        Rejected: it is one.
    """
    agents = sorted(set(AGENTS.values()))
    if resource_type == PROMPT and resource_id not in agents:
        problem = FieldError("/resourceId", f"must be one of {', '.join(agents)}")
        raise Rejected("No agent has such a prompt.", fields=[problem])
    if not is_name(resource_id):
        detail = "must be 1 to 64 of a-z, 0-9, `_`, `.` and `-`, without one of these at an end"
        problem = FieldError("/resourceId", detail)
        raise Rejected("The resource cannot be named so.", fields=[problem])


def is_name(resource_id: str) -> bool:
    """Tell whether an id can stand in keys."""
    return _NAME.fullmatch(resource_id) is not None


def check_change(content: str, author: str) -> None:
    """Refuse what cannot be a version.

    Raises:
        LimitExceeded: the content is too long.
        Rejected: it is empty or cannot be stored, or the author cannot be shown.
    """
    if len(content.encode("utf-8", "surrogatepass")) > MAX_CONTENT_BYTES:
        message = f"A resource has at most {MAX_CONTENT_BYTES} bytes."
        raise LimitExceeded(message, hint="Shorten it; every turn of an agent carries it.")
    problems = []
    if not content.strip() or _NO_TEXT.search(content):
        problems.append(
            FieldError("/content", "must be text without control characters, and not empty")
        )
    if _AUTHOR.fullmatch(author) is None:
        problems.append(FieldError("/author", "must be 1 to 100 printable characters"))
    if problems:
        raise Rejected("The resource cannot be changed so.", fields=problems)


def row_of(key: Key, resource: Resource) -> Row:
    """Return the record of a resource under a key."""
    return Row(
        key,
        {
            "resource_type": resource.resource_type,
            "resource_id": resource.resource_id,
            "version": resource.version,
            "content": resource.content,
            "active": int(resource.active),
            "author": resource.author,
            "updated_at": resource.updated_at,
        },
    )


def resource_of(row: Row) -> Resource:
    """Return the resource a record holds."""
    attributes = row.attributes
    return Resource(
        resource_type=str(attributes["resource_type"]),
        resource_id=str(attributes["resource_id"]),
        version=int(attributes["version"]),
        content=str(attributes["content"]),
        active=bool(attributes["active"]),
        author=str(attributes["author"]),
        updated_at=str(attributes["updated_at"]),
    )

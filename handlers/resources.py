"""The resources of a deployment, each as it stands and in all of its versions.

A resource is what stands in its current record; every change also writes a version that is never
written again, both in one transaction, on condition that the version is the one the author saw.
What was never changed is what ships with the service, version 0.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import timedelta
from functools import cache
from typing import Final

from domain import instants, keys
from domain.acceptance import check_organization
from domain.errors import Conflict, NotFound
from domain.ports.effects import Clock
from domain.ports.storage import StateTable
from domain.records import Absent, Equal, every
from domain.resources import (
    MAX_VERSION,
    Resource,
    check_change,
    check_name,
    check_type,
    is_name,
    resource_of,
    row_of,
)

SHIPPED: Final = "leads"
"""The author of what ships with the service."""

CACHED_S: Final = 15
"""How long other processes may go on with what a change replaced."""

_DEFAULTS: Final = "handlers.agents"


class StaleVersion(Conflict):
    """Somebody else changed the resource; `standing` is the version that stands."""

    def __init__(self, standing: int) -> None:
        super().__init__(
            f"The resource was changed meanwhile: version {standing} stands.",
            hint=f"Look at version {standing}, then change that one.",
        )
        self.standing = standing


@dataclass(frozen=True, slots=True)
class Resources:
    """The resources of every organization of a deployment.

    `cached_s` is how old an answer of `recent` may be.
    """

    table: StateTable
    now: Clock
    cached_s: int = CACHED_S
    _recent: dict[tuple[str, str], tuple[str, list[Resource]]] = field(
        default_factory=dict, repr=False, compare=False
    )

    def list_current(self, organization_id: str, resource_type: str) -> list[Resource]:
        """Return the current resources of a type, shipped ones too, by their ids."""
        partition = keys.resources(check_organization(organization_id), check_type(resource_type))
        rows = every(lambda cursor: self.table.query(partition, cursor=cursor))
        found = {**shipped(resource_type)}
        found.update({each.resource_id: each for each in map(resource_of, rows)})
        return [found[name] for name in sorted(found)]

    def get_current(self, organization_id: str, resource_type: str, resource_id: str) -> Resource:
        """Return a resource as it stands, the shipped one where nobody changed it.

        Raises:
            NotFound: there is none.
        """
        standing = self._standing(organization_id, resource_type, resource_id)
        if standing is None:
            raise NotFound("There is no such resource.", hint="List the resources to see them.")
        return standing

    def recent(self, organization_id: str, resource_type: str) -> list[Resource]:
        """Return what `list_current` told at most `cached_s` ago, or tells now.

        What this process changes it sees at once.
        """
        slot = (organization_id, resource_type)
        now = self.now()
        until, found = self._recent.get(slot, ("", []))
        oldest = instants.shift(until, timedelta(seconds=-self.cached_s)) if until else now
        # A clock that was set back does not keep an answer for longer.
        if not oldest <= now < until:
            found = self.list_current(organization_id, resource_type)
            self._recent[slot] = (instants.shift(now, timedelta(seconds=self.cached_s)), found)
        return found

    def list_versions(
        self, organization_id: str, resource_type: str, resource_id: str
    ) -> list[Resource]:
        """Return every version of a resource, newest first, the shipped one last.

        Raises:
            NotFound: there is none.
        """
        self.get_current(organization_id, resource_type, resource_id)
        partition = keys.resource_versions(organization_id, resource_type, resource_id)
        rows = every(lambda cursor: self.table.query(partition, desc=True, cursor=cursor))
        default = shipped(resource_type).get(resource_id)
        return [*map(resource_of, rows), *([default] if default else [])]

    def put_next_version(
        self,
        organization_id: str,
        resource_type: str,
        resource_id: str,
        content: str,
        *,
        author: str,
        expected_version: int,
    ) -> Resource:
        """Make a new content the current one and return it.

        Args:
            organization_id: whose resource.
            resource_type: one of `TYPES`.
            resource_id: of a prompt, the agent's name.
            content: the whole text.
            author: who says so.
            expected_version: the one the author saw; 0 where nothing was changed yet.

        Raises:
            Rejected: a field is not valid.
            StaleVersion: another version stands. One that says the same by the same author is a
                change whose answer was lost, and is returned.
            Uncertain: it may have been written; the same call tells.
        """
        check_change(content, author)
        return self._write(
            organization_id,
            _of(resource_type, resource_id, content, author),
            expected_version,
        )

    def deactivate(
        self,
        organization_id: str,
        resource_type: str,
        resource_id: str,
        *,
        author: str,
        expected_version: int,
    ) -> Resource:
        """Make the resource count as not there, in a new version; its content stays.

        Raises:
            NotFound: there is none.
            Rejected, StaleVersion, Uncertain: see `put_next_version`.
        """
        standing = self.get_current(organization_id, resource_type, resource_id)
        check_change(standing.content, author)
        changed = _of(resource_type, resource_id, standing.content, author, active=False)
        return self._write(organization_id, changed, expected_version)

    def rollback(
        self,
        organization_id: str,
        resource_type: str,
        resource_id: str,
        target_version: int,
        *,
        author: str,
        expected_version: int,
    ) -> Resource:
        """Make a new version that says what an earlier one said; 0 is the shipped one.

        Raises:
            NotFound: there is no such version.
            Rejected, StaleVersion, Uncertain: see `put_next_version`.
        """
        target = self.version(organization_id, resource_type, resource_id, target_version)
        check_change(target.content, author)
        changed = _of(resource_type, resource_id, target.content, author, active=target.active)
        return self._write(organization_id, changed, expected_version)

    def version(
        self, organization_id: str, resource_type: str, resource_id: str, version: int
    ) -> Resource:
        """Return one version; 0 is the shipped one.

        Raises:
            NotFound: there is no such version.
        """
        found = shipped(check_type(resource_type)).get(resource_id) if version == 0 else None
        if 0 < version <= MAX_VERSION and is_name(resource_id):
            key = keys.resource_version(
                check_organization(organization_id), resource_type, resource_id, version
            )
            row = self.table.get(key)
            found = None if row is None else resource_of(row)
        if found is None:
            raise NotFound("There is no such version.", hint="List the versions to see them.")
        return found

    def _standing(
        self, organization_id: str, resource_type: str, resource_id: str
    ) -> Resource | None:
        organization = check_organization(organization_id)
        if not is_name(resource_id):
            return None
        row = self.table.get(keys.resource(organization, check_type(resource_type), resource_id))
        return shipped(resource_type).get(resource_id) if row is None else resource_of(row)

    def _write(self, organization_id: str, changed: Resource, expected: int) -> Resource:
        """Write the current record and its version, or neither."""
        resource_type, resource_id = check_type(changed.resource_type), changed.resource_id
        check_name(resource_type, resource_id)
        made = replace(changed, version=expected + 1, updated_at=self.now())
        names = (check_organization(organization_id), resource_type, resource_id)
        current = row_of(keys.resource(*names), made)
        version = row_of(keys.resource_version(*names, made.version), made)
        seen = Absent() if expected == 0 else Equal("version", expected)
        written = self.table.write([(current, seen), (version, Absent())])
        self._recent.pop((organization_id, resource_type), None)
        if written:
            return made
        standing = self._standing(organization_id, resource_type, resource_id)
        if standing is not None and replace(standing, updated_at=made.updated_at) == made:
            return standing
        raise StaleVersion(0 if standing is None else standing.version)


@cache
def shipped(resource_type: str) -> Mapping[str, Resource]:
    """Return what ships with the service, by id."""
    from importlib.resources import files  # noqa: PLC0415 - costs every start a hundredth of a second

    folder = files(_DEFAULTS) / "defaults" / resource_type
    texts = {
        file.name.removesuffix(".txt"): file.read_text(encoding="utf-8")
        for file in folder.iterdir()
        if file.name.endswith(".txt")
    }
    return {
        name: Resource(
            resource_type=resource_type,
            resource_id=name,
            version=0,
            content=text,
            active=True,
            author=SHIPPED,
            updated_at="",
        )
        for name, text in texts.items()
    }


def _of(
    resource_type: str, resource_id: str, content: str, author: str, *, active: bool = True
) -> Resource:
    """Return a change that has no version yet."""
    return Resource(
        resource_type=resource_type,
        resource_id=resource_id,
        version=0,
        content=content,
        active=active,
        author=author,
        updated_at="",
    )

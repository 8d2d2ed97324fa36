"""The pipelines of deals and their stages. Stages are known by their ids; labels may change."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from handlers.simulators.hubspot import portal
from handlers.simulators.hubspot.answers import JsonObject, error, malformed, not_found
from handlers.simulators.hubspot.moments import stamp

_OPEN_ODDS: Final = "0.2"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stage:
    """One stage of a pipeline."""

    id: str
    label: str
    metadata: Mapping[str, str]
    made_at: str

    def as_json(self, place: int) -> JsonObject:
        """Return it as the pipelines API shows it."""
        return {
            "id": self.id,
            "label": self.label,
            "displayOrder": place,
            "metadata": dict(self.metadata),
            "archived": False,
            "writePermissions": "CRM_PERMISSIONS_ENFORCEMENT",
            "createdAt": stamp(self.made_at),
            "updatedAt": stamp(self.made_at),
        }


@dataclass(slots=True, kw_only=True)
class Pipeline:
    """One pipeline, its stages in order."""

    id: str
    label: str
    made_at: str
    stages: list[Stage] = field(default_factory=list)

    def as_json(self, place: int) -> JsonObject:
        """Return it as the pipelines API shows it."""
        return {
            "id": self.id,
            "label": self.label,
            "displayOrder": place,
            "stages": [stage.as_json(place) for place, stage in enumerate(self.stages)],
            "archived": False,
            "createdAt": stamp(self.made_at),
            "updatedAt": stamp(self.made_at),
        }


class Pipelines:
    """The pipelines of deals. Not safe between threads."""

    def __init__(self, stages: Mapping[str, str], at: str) -> None:
        made = [
            Stage(
                id=stage_id,
                label=portal.STAGE_LABELS.get(name, name),
                metadata=_metadata(name),
                made_at=at,
            )
            for name, stage_id in stages.items()
        ]
        first = Pipeline(id=portal.PIPELINE, label="Funil de vendas", made_at=at, stages=made)
        self._all = {first.id: first}
        self._count = 2_000_000

    def as_json(self) -> JsonObject:
        """Return all of them as the API lists them."""
        return {"results": [each.as_json(place) for place, each in enumerate(self._all.values())]}

    def shown(self, pipeline_id: str) -> JsonObject:
        """Return one of them as the API shows it.

        Raises:
            Refused: there is none.
        """
        return self.get(pipeline_id).as_json(list(self._all).index(pipeline_id))

    def get(self, pipeline_id: str) -> Pipeline:
        """Return a pipeline.

        Raises:
            Refused: there is none.
        """
        if pipeline_id not in self._all:
            raise not_found(f"Pipeline {pipeline_id} does not exist.")
        return self._all[pipeline_id]

    def stages_of(self, pipeline_id: str) -> list[Stage] | None:
        """Return the stages of a pipeline; None if there is no such pipeline."""
        found = self._all.get(pipeline_id)
        return None if found is None else found.stages

    def ids(self) -> list[str]:
        """Return the pipelines there are."""
        return list(self._all)

    def add(self, asked: JsonObject, at: str) -> JsonObject:
        """Make a pipeline with its stages.

        Raises:
            Refused: it cannot be made like this.
        """
        stages = asked.get("stages")
        if not isinstance(asked.get("label"), str) or not isinstance(stages, list):
            raise malformed("some of required attributes are not set [label, stages]")
        made = Pipeline(
            id=str(asked.get("pipelineId") or self._next_id()), label=asked["label"], made_at=at
        )
        if made.id in self._all:
            raise error(409, "CONFLICT", f"Pipeline {made.id} already exists.")
        made.stages = [self._stage(each, at) for each in stages]
        self._all[made.id] = made
        return self.shown(made.id)

    def rename(self, pipeline_id: str, asked: JsonObject) -> JsonObject:
        """Give a pipeline another label.

        Raises:
            Refused: there is none.
        """
        found = self.get(pipeline_id)
        found.label = str(asked.get("label", found.label))
        return self.shown(pipeline_id)

    def remove(self, pipeline_id: str) -> None:
        """Delete a pipeline; its deals keep its id.

        Raises:
            Refused: there is none.
        """
        self.get(pipeline_id)
        del self._all[pipeline_id]

    def stage(self, pipeline_id: str, stage_id: str) -> JsonObject:
        """Return a stage as the API shows it.

        Raises:
            Refused: there is none.
        """
        place = self._place(pipeline_id, stage_id)
        return self.get(pipeline_id).stages[place].as_json(place)

    def add_stage(self, pipeline_id: str, asked: JsonObject, at: str) -> JsonObject:
        """Make a stage, the last one of its pipeline.

        Raises:
            Refused: it cannot be made like this.
        """
        stages = self.get(pipeline_id).stages
        made = self._stage(asked, at)
        if any(stage.id == made.id for stage in stages):
            raise error(409, "CONFLICT", f"Stage {made.id} already exists.")
        stages.append(made)
        return made.as_json(len(stages) - 1)

    def rename_stage(self, pipeline_id: str, stage_id: str, asked: JsonObject) -> JsonObject:
        """Give a stage another label.

        Raises:
            Refused: there is none.
        """
        place = self._place(pipeline_id, stage_id)
        stages = self.get(pipeline_id).stages
        before = stages[place]
        stages[place] = replace(before, label=str(asked.get("label", before.label)))
        return stages[place].as_json(place)

    def remove_stage(self, pipeline_id: str, stage_id: str) -> None:
        """Delete a stage; its deals keep its id.

        Raises:
            Refused: there is none.
        """
        place = self._place(pipeline_id, stage_id)
        del self.get(pipeline_id).stages[place]

    def _place(self, pipeline_id: str, stage_id: str) -> int:
        for place, stage in enumerate(self.get(pipeline_id).stages):
            if stage.id == stage_id:
                return place
        raise not_found(f"Stage {stage_id} does not exist.")

    def _stage(self, asked: object, at: str) -> Stage:
        if not isinstance(asked, dict) or not isinstance(asked.get("label"), str):
            raise malformed("some of required attributes are not set [label]")
        metadata = asked.get("metadata")
        return Stage(
            id=str(asked.get("stageId") or self._next_id()),
            label=asked["label"],
            metadata={str(key): str(value) for key, value in metadata.items()}
            if isinstance(metadata, dict)
            else {},
            made_at=at,
        )

    def _next_id(self) -> str:
        self._count += 1
        return str(self._count)


def _metadata(name: str) -> dict[str, str]:
    closed = name in {portal.WON, portal.LOST}
    odds = {portal.WON: "1.0", portal.LOST: "0.0"}.get(name, _OPEN_ODDS)
    return {"isClosed": "true" if closed else "false", "probability": odds}

"""The routes of properties, of their groups, and of pipelines and stages."""

from handlers.simulators.hubspot.answers import error, malformed
from handlers.simulators.hubspot.calls import Call, Result
from handlers.simulators.hubspot.pipelines import Pipelines
from handlers.simulators.hubspot.portal import DEALS
from handlers.simulators.hubspot.properties import Properties


def properties(call: Call) -> Result:
    """GET /{kind}."""
    return 200, {"results": [each.as_json() for each in _properties(call)]}


def read_property(call: Call) -> Result:
    """GET /{kind}/{name}."""
    return 200, _properties(call).get(call.path["name"], archived=call.archived).as_json()


def add_property(call: Call) -> Result:
    """POST /{kind}."""
    return 201, _properties(call).add(call.document, call.how.at).as_json()


def change_property(call: Call) -> Result:
    """PATCH /{kind}/{name}."""
    return 200, _properties(call).change(call.path["name"], call.document).as_json()


def archive_property(call: Call) -> Result:
    """DELETE /{kind}/{name}."""
    _properties(call).archive(call.path["name"])
    return 204, None


def groups(call: Call) -> Result:
    """GET /{kind}/groups."""
    found = _properties(call).groups.items()
    return 200, {"results": [_group(name, label) for name, label in found]}


def add_group(call: Call) -> Result:
    """POST /{kind}/groups."""
    asked, known = call.document, _properties(call).groups
    name, label = asked.get("name"), asked.get("label")
    if not isinstance(name, str) or not isinstance(label, str):
        raise malformed("some of required attributes are not set [name, label]")
    if name in known:
        raise error(409, "OBJECT_ALREADY_EXISTS", f"Property group {name} already exists.")
    known[name] = label
    return 201, _group(name, label)


def pipelines(call: Call) -> Result:
    """GET /deals."""
    return 200, _pipelines(call).as_json()


def read_pipeline(call: Call) -> Result:
    """GET /deals/{id}."""
    return 200, _pipelines(call).shown(call.path["id"])


def add_pipeline(call: Call) -> Result:
    """POST /deals."""
    return 201, _pipelines(call).add(call.document, call.how.at)


def change_pipeline(call: Call) -> Result:
    """PATCH /deals/{id}."""
    return 200, _pipelines(call).rename(call.path["id"], call.document)


def remove_pipeline(call: Call) -> Result:
    """DELETE /deals/{id}."""
    _pipelines(call).remove(call.path["id"])
    return 204, None


def stages(call: Call) -> Result:
    """GET /deals/{id}/stages."""
    return 200, {"results": _pipelines(call).shown(call.path["id"])["stages"]}


def add_stage(call: Call) -> Result:
    """POST /deals/{id}/stages."""
    return 201, _pipelines(call).add_stage(call.path["id"], call.document, call.how.at)


def read_stage(call: Call) -> Result:
    """GET /deals/{id}/stages/{stage}."""
    return 200, _pipelines(call).stage(call.path["id"], call.path["stage"])


def change_stage(call: Call) -> Result:
    """PATCH /deals/{id}/stages/{stage}."""
    path = call.path
    return 200, _pipelines(call).rename_stage(path["id"], path["stage"], call.document)


def remove_stage(call: Call) -> Result:
    """DELETE /deals/{id}/stages/{stage}."""
    _pipelines(call).remove_stage(call.path["id"], call.path["stage"])
    return 204, None


def _properties(call: Call) -> Properties:
    return call.account.properties[call.kind]


def _pipelines(call: Call) -> Pipelines:
    if call.kind != DEALS:
        raise error(400, "VALIDATION_ERROR", "This simulator has pipelines of deals only.")
    return call.account.pipelines


def _group(name: str, label: str) -> dict[str, object]:
    return {"name": name, "label": label, "displayOrder": -1, "archived": False}

import itertools
from typing import Any

import pytest

from domain import canonical
from projections.memories.cells import (
    AGENT_INFERRED,
    USER_DECLARED,
    Cells,
    event_id_of,
    instant_of,
    merge,
    register,
    stamp,
)

INSTANTS = [
    "2026-03-15T10:00:00.000000Z",
    "2026-03-15T10:00:00.000001Z",
    "2026-03-15T10:00:00.100000Z",
    "2026-03-15T10:00:00.120000Z",
    "2026-03-15T10:00:01.000000Z",
    "2026-03-15T10:00:10.000000Z",
]


def merged(*contributions: Cells) -> Cells:
    cells: Cells = {}
    for contribution in contributions:
        merge(cells, contribution)
    return cells


@pytest.mark.parametrize("instant", INSTANTS)
def test_a_stamp_gives_back_its_instant_and_event_id(instant: str):
    stamped = stamp(instant, "evt#1")

    assert (instant_of(stamped), event_id_of(stamped)) == (instant, "evt#1")


def test_stamps_of_any_precision_sort_like_time_then_event_id():
    places = list(itertools.product(INSTANTS, ["a", "b"]))

    stamps = [stamp(*place) for place in places]

    assert sorted(stamps) == stamps


@pytest.mark.parametrize(
    ("name", "parts", "expected"),
    [
        ("last:x", [[2, "b", "B"], [2, "a", "A"], [2, "c", "C"]], [2, "c", "C"]),
        ("last:x", [[3, "a", "said"], [0, "c", "guessed"], [2, "b", "seen"]], [3, "a", "said"]),
        ("min:x", ["b", "a", "c"], "a"),
        ("max:x", ["b", "c", "a"], "c"),
        ("add:x", [1, 20, 300], 321),
        ("count:x", [{"a": 1}, {"b": 2, "a": 10}, {"a": 100}], {"a": 111, "b": 2}),
        ("maxmap:x", [{"a": "1"}, {"a": "3", "b": "1"}, {"a": "2"}], {"a": "3", "b": "1"}),
        (
            "days:x",
            [{"2026-04-01": [500, 1]}, {"2026-01-01": [900, 1]}, {"2026-04-01": [250, 2]}],
            {"2026-01-01": [900, 1], "2026-04-01": [750, 3]},
        ),
        (
            "days:x",
            [{"2026-04-02": [500, 1]}, {"2026-01-01": [900, 1]}, {"2026-01-02": [100, 1]}],
            {"2026-01-02": [100, 1], "2026-04-02": [500, 1]},
        ),
        ("newest20:x", [["b"], ["a", "c"], ["b"]], ["a", "b", "c"]),
        ("newest50:x", [[["b", 1]], [["a", 2]], [["c", 3]]], [["a", 2], ["b", 1], ["c", 3]]),
    ],
)
def test_a_cell_merges_to_the_same_in_every_order(name: str, parts: list[Any], expected: object):
    for order in itertools.permutations(parts):
        assert merged(*({name: part} for part in order)) == {name: expected}


@pytest.mark.parametrize("limit", [20, 50, 200])
def test_newest_keeps_the_greatest_of_the_union(limit: int):
    elements = [f"{number:03d}" for number in range(limit + 5)]

    forward = merged(*({f"newest{limit}:x": [element]} for element in elements))
    backward = merged(*({f"newest{limit}:x": [element]} for element in reversed(elements)))

    assert forward == backward == {f"newest{limit}:x": elements[5:]}


def test_merging_leaves_the_contribution_as_it_was():
    contribution: Cells = {
        "count:x": {"a": 1},
        "maxmap:x": {"a": "1"},
        "days:x": {"2026-01-01": [900, 1]},
        "newest20:x": ["1"],
        "last:x": [2, "1", "i"],
    }
    before = canonical.dumps(contribution)

    merged(contribution, contribution, {"last:x": [2, "2", "ii"], "newest20:x": ["2"]})

    assert canonical.dumps(contribution) == before


def test_decoded_and_fresh_cells_merge_to_the_same_bytes():
    early: Cells = {"last:x": register("1", {"a": 1}, USER_DECLARED), "newest50:x": [["1", 1]]}
    late: Cells = {"last:x": register("2", {"a": 2}, AGENT_INFERRED), "newest50:x": [["2", 1]]}
    decoded = canonical.loads(canonical.dumps(early))

    merge(decoded, late)

    assert canonical.dumps(decoded) == canonical.dumps(merged(late, early))


def test_a_cell_of_an_unknown_kind_is_refused():
    with pytest.raises(KeyError):
        merge({}, {"average:x": 1})

import pytest

from domain.errors import NotFound, Unavailable, ViewBroken
from projections import reading
from projections.reading import ROUNDS
from tests.support import toy
from tests.support.make import LEAD, ORGANIZATION


@pytest.fixture
def reader(world):
    facts = [toy.counted(1, "a"), toy.fact("toy_opened", "b"), toy.counted(2, "c")]
    world.log().append(facts)
    return world.log().reader


def test_a_head_is_found_by_its_own_organization_and_by_nobody_else(reader):
    assert reader.head(LEAD).version == 3
    assert reader.head(LEAD, ORGANIZATION).version == 3
    with pytest.raises(NotFound):
        reader.head(LEAD, "org-two")
    with pytest.raises(NotFound):
        reader.head("lead-two", ORGANIZATION)


@pytest.mark.parametrize(
    ("gt", "lte", "sequences"), [(0, 3, [1, 2, 3]), (1, 2, [2]), (2, 2, []), (3, 1, [])]
)
def test_a_span_of_events_is_read_whole(reader, gt, lte, sequences):
    assert [event.sequence for event in reader.events(LEAD, gt=gt, lte=lte)] == sequences


def test_events_that_never_come_are_asked_for_a_few_times_and_then_unavailable(world, reader):
    log = world.log()
    with pytest.raises(Unavailable):
        log.reader.events(LEAD, lte=4)
    assert log.pauses == list(range(1, ROUNDS + 1))


def test_a_ground_reads_head_rows_and_receipts_of_one_moment(reader):
    proof = toy.receipt_key("a")
    ground = reader.ground(LEAD, [toy.COUNTING[1]], [toy.count_key()], [proof])
    assert ground.head.version == 3
    assert ground.receipts[proof].sequence == 1
    assert toy.count_seen(ground) == 3


def test_a_ground_of_a_lead_nobody_knows_is_empty(reader):
    ground = reader.ground("lead-two", [toy.COUNTING[1]], [])
    assert ground.head is None
    assert toy.count_seen(ground, lead="lead-two") == 0


def test_a_tail_is_folded_on_the_rows(world, reader):
    world.log(2).append([toy.counted(4, "d")])
    assert toy.count_seen(reader.ground(LEAD, [toy.COUNTING[1]], [toy.count_key()])) == 7


def test_a_tail_that_a_projection_cannot_read_says_which_event(world, reader):
    world.log().append([toy.fact("toy_marked", "d", breaks=1)])
    with pytest.raises(ViewBroken) as broken:
        reader.ground(LEAD, toy.EDITIONS[1].projections, [])
    assert (broken.value.lead, broken.value.sequence) == (LEAD, 4)


def test_rows_are_listed_page_by_page(reader, monkeypatch):
    monkeypatch.setattr(reading, "PAGE", 1)
    rows = reader.list_rows(LEAD, toy.COUNTING[1])
    assert [row.key for row in rows] == [toy.count_key(), toy.open_key()]
    assert [row.key for row in reader.list_rows(LEAD, toy.COUNTING[1], "op")] == [toy.open_key()]


def test_a_view_names_the_version_it_shows(world, reader):
    assert reader.view(LEAD, toy.COUNTING[1]).version == 3
    world.log(2).append([toy.counted(4, "d")])
    view = reader.view(LEAD, toy.COUNTING[1])
    assert (view.version, view.states[toy.count_key()]) == (4, 7)

"""Rule 12: a list by Query may be torn, so it is read between two equal heads, or folded."""

from projections.reading import Reader, View
from tests.support import toy
from tests.support.head_world import BOTH, caught, driven, dying
from tests.support.make import LEAD


def list_and_look_no_more(self, lead, projection, prefix=""):
    """Read the head, list the rows, and be done."""
    version = self.head(lead).version
    rows = self.list_rows(lead, projection, prefix)
    return View(version, {row.key: projection.decode(row) for row in rows})


def look_at_the_version(self, lead, projection, prefix=""):
    """Read the head before and after, and compare its version only."""
    while True:
        before = self.head(lead)
        rows = self.list_rows(lead, projection, prefix)
        if self.head(lead).version == before.version:
            return View(before.version, {row.key: projection.decode(row) for row in rows})


def a_commit_lands_before_the_list(world):
    world.log().append([toy.counted(1, "a")])
    reader = world.log()
    reader.steps.before("query", lambda: world.log().append([toy.counted(2, "b")]))
    world.read(1, reader.reader.view(LEAD, toy.COUNTING[1]))
    return world.violations


def a_rebuild_begins_before_the_list(world):
    world.log().append([toy.counted(1, "a"), toy.fact("toy_opened", "b")])
    builder = world.log(2, most_rows=1)
    builder.steps.die(n=3)

    def begin():
        with dying():
            builder.repairer.repair(LEAD)

    reader = world.log()
    reader.steps.before("query", begin)
    world.read(1, reader.reader.view(LEAD, toy.COUNTING[1]))
    return world.violations


SCENARIOS = [a_commit_lands_before_the_list, a_rebuild_begins_before_the_list]


@driven(*SCENARIOS)
def test_rule_12_a_list_is_read_between_two_heads_that_agree(world, one_row_a_chunk, scenario):
    assert scenario(world) == []


@driven(*SCENARIOS)
def test_a_list_without_a_second_look_is_caught_when_rule_12_is_taken_out(
    world, one_row_a_chunk, scenario, monkeypatch
):
    monkeypatch.setattr(Reader, "view", list_and_look_no_more)
    assert caught(scenario(world), "rows of no version")


def test_comparing_the_version_alone_is_caught_when_rule_12_is_taken_out(
    world, one_row_a_chunk, monkeypatch
):
    monkeypatch.setattr(Reader, "view", look_at_the_version)
    assert caught(a_rebuild_begins_before_the_list(world), "rows of no version")


def test_a_lead_that_never_rests_is_folded(world):
    world.log().append([toy.counted(1, "a")])
    reader = world.log()
    for n in range(1, 9):
        reader.steps.before(
            "query", lambda n=n: world.log().append([toy.counted(n, f"more-{n}")]), n=n
        )
    view = reader.reader.view(LEAD, toy.COUNTING[1])
    assert view.version == 9
    world.read(1, view)
    assert world.violations == []


@BOTH
def test_rule_12_what_must_be_exact_is_folded_while_a_list_may_be_torn(hazy, log_in_flight):
    hazy.log().append([toy.counted(1, "a")])
    flight = log_in_flight.hold()
    hazy.log().append([toy.counted(2, "b")])
    for item in sorted(flight.hidden - {("row", toy.count_key())}, key=repr):
        flight.show(*item)
    reader = hazy.log().reader
    assert reader.view(LEAD, toy.COUNTING[1]).states == {toy.count_key(): 1}
    exact = reader.fold(LEAD, [toy.COUNTING[1]], reader.events(LEAD, lte=2))
    assert exact.states(toy.COUNTING[1]).standing() == {toy.count_key(): 3}
    assert hazy.log().verifier.verify(LEAD).state == "equal"


def test_a_folded_view_answers_the_same_rows_as_a_listed_one(world):
    facts = [
        toy.counted(1, "a"),
        toy.fact("toy_opened", "b"),
        toy.fact("toy_shelved", "c", item="x"),
    ]
    world.log().append(facts)
    listed = world.log().reader.view(LEAD, toy.COUNTING[1])
    folded = world.log(2).reader.view(LEAD, toy.COUNTING[2])
    assert set(listed.states) == {toy.count_key(), toy.open_key()}
    assert set(folded.states) == {toy.count_key(), toy.open_key(), toy.extra_key()}
    assert set(world.log(2).reader.view(LEAD, toy.COUNTING[2], "op").states) == {toy.open_key()}
    assert set(world.log().reader.view(LEAD, toy.COUNTING[1], "op").states) == {toy.open_key()}


def test_a_head_that_is_just_being_written_is_waited_for(hazy, log_in_flight):
    hazy.log().append([toy.counted(1, "a")])
    flight = log_in_flight.hold()
    hazy.log().append([toy.counted(2, "b")])
    log = hazy.log()
    log.steps.before("snapshot", flight.land, n=3)
    hazy.read(1, log.reader.view(LEAD, toy.COUNTING[1]))
    assert hazy.violations == []
    assert log.pauses == [1, 2]

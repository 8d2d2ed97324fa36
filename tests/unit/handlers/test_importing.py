import io
import json
import tracemalloc
from dataclasses import dataclass, field

import pytest

from domain.errors import InvalidEvent, LeadError, Unavailable
from domain.reading import MAX_BATCH_EVENTS, MAX_EVENT_BYTES
from handlers.import_files import NoProgress, Position, ProgressFile, Rejects, read_lines
from handlers.importing import MAX_TRIES, Importing
from handlers.ingest import Item, Sender


@dataclass
class Door:
    """Records ids; answers `retry` as long as `trouble` says so."""

    trouble: int = 0
    recorded: dict[str, None] = field(default_factory=dict)
    sizes: list[int] = field(default_factory=list)

    def batch(self, documents, sender):
        documents = list(documents)
        self.sizes.append(len(documents))
        items = [self.answer(index, each) for index, each in enumerate(documents)]
        if self.trouble:
            self.trouble -= 1
        return items

    def answer(self, index, document):
        if isinstance(document, LeadError):
            return Item(index=index, status="rejected", error=document)
        # Half of a batch gets through while there is trouble.
        if self.trouble and index % 2:
            return Item(index=index, status="retry", error=Unavailable("Busy."))
        if document["id"] in self.recorded:
            return Item(index=index, status="duplicate")
        if document["id"] == "wrong":
            return Item(index=index, status="rejected", error=InvalidEvent("Wrong."))
        self.recorded[document["id"]] = None
        return Item(index=index, status="created")


class Down(Door):
    def batch(self, documents, sender):
        raise Unavailable("Down.")


class Import:
    """One import of a file in a folder, and what became of it."""

    def __init__(self, folder, door):
        self.file = folder / "events.jsonl"
        self.progress = folder / "events.jsonl.progress.json"
        self.rejects = folder / "events.jsonl.rejects.jsonl"
        self.door = door
        self.pauses = []

    def write(self, ids, end="\n"):
        self.file.write_text("\n".join(json.dumps({"id": each}) for each in ids) + end)

    def run(self, *, resume=False, stop_after=None):
        importing = Importing(
            door=self.door,
            sender=Sender(organization_id="acme"),
            problem=lambda error: {"type": error.code},
            pause=self.pauses.append,
        )
        batches = []

        def after_batch(position):
            batches.append(position)
            return len(batches) != stop_after

        with self.file.open("rb") as stream:
            tracker = ProgressFile(self.progress, stream)
            position = (tracker.load() if resume else None) or Position()
            stream.seek(position.offset)
            with Rejects(self.rejects, keep=position.rejects) as rejects:
                return importing.run(stream, position, tracker, rejects, after_batch)


@pytest.fixture
def importing(tmp_path):
    return Import(tmp_path, Door())


def names(count):
    return [f"e{number}" for number in range(count)]


def test_a_file_goes_in_by_batches_of_what_a_request_may_hold(importing):
    importing.write(names(1201))
    report = importing.run()

    assert importing.door.sizes == [MAX_BATCH_EVENTS, MAX_BATCH_EVENTS, 201]
    assert report.counts.created == 1201
    assert report.finished
    assert not importing.progress.exists()


def test_what_the_store_cannot_take_is_sent_again_and_alone(importing):
    importing.write(names(10))
    importing.door.trouble = 2
    report = importing.run()

    assert importing.door.sizes == [10, 5, 2]
    assert importing.pauses == [1, 2]
    assert report.counts.created == 10
    assert sorted(importing.door.recorded) == sorted(names(10))


def test_a_store_that_stays_away_ends_the_import_and_the_position_is_kept(importing):
    importing.write(names(1200))
    stopped = importing.run(stop_after=1)
    importing.door = Down(recorded=importing.door.recorded)
    with pytest.raises(Unavailable, match="however often"):
        importing.run(resume=True)

    assert stopped.counts.created == 500
    assert len(importing.pauses) == MAX_TRIES
    kept = json.loads(importing.progress.read_text())
    assert (kept["line"], kept["counts"]["created"]) == (500, 500)

    importing.door = Door(recorded=importing.door.recorded)
    report = importing.run(resume=True)
    assert report.counts.created == 1200
    assert report.counts.duplicate == 0


def test_an_import_goes_on_where_it_was_stopped(importing):
    importing.write(names(1600))
    first = importing.run(stop_after=2)
    assert not first.finished
    second = importing.run(resume=True)

    assert second.finished
    assert second.counts.created == 1600
    assert list(importing.door.recorded) == names(1600)
    assert importing.door.sizes == [500, 500, 500, 100]


def test_rejects_that_were_not_counted_are_not_there_twice(importing):
    importing.write([*names(499), "wrong", *names(300), "wrong"])
    importing.run(stop_after=1)
    # As if the process had died between the rejects of the second batch and its position.
    with importing.rejects.open("a") as file:
        file.write('{"line": 801}\n')
    report = importing.run(resume=True)

    assert [json.loads(line)["line"] for line in importing.rejects.read_text().splitlines()] == [
        500,
        801,
    ]
    assert report.counts.rejected == 2


def test_a_file_that_grew_is_still_the_same_file(importing):
    importing.write(names(600))
    importing.run(stop_after=1)
    importing.write(names(700))

    assert importing.run(resume=True).counts.created == 700


@pytest.mark.parametrize("damage", ["", "{", "[]", '{"offset": 1}', '{"format": 1, "offset": "x"}'])
def test_a_position_that_cannot_be_read_is_a_conflict(importing, damage):
    importing.write(names(3))
    importing.progress.write_text(damage)

    with pytest.raises(LeadError, match="not one of this file") as caught:
        importing.run(resume=True)
    assert caught.value.code == "conflict"


def test_a_file_shorter_than_its_position_is_another_one(importing):
    # A fingerprint of the head alone would not notice.
    importing.write(names(6000))
    importing.run(stop_after=11)
    with importing.file.open("r+b") as file:
        file.truncate(67_000)

    with pytest.raises(LeadError, match="not one of this file"):
        importing.run(resume=True)


def test_lines_know_their_number_and_their_place():
    data = b'\xef\xbb\xbf{"a":1}\r\n\n  \n{"b":2}\n{"c"'
    lines = list(read_lines(io.BytesIO(data)))

    assert [line.number for line in lines] == [1, 4, 5]
    assert [line.data for line in lines] == [b'{"a":1}', b'{"b":2}', b'{"c"']
    assert [data[line.start : line.end].strip() for line in lines][1:] == [b'{"b":2}', b'{"c"']
    assert [line.cut for line in lines] == [False, False, True]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b""])
def test_the_longest_line_there_may_be_is_read_and_one_byte_more_is_not(end):
    longest = b"x" * MAX_EVENT_BYTES
    for before in (b"", b"{}\n", b"\xef\xbb\xbf"):
        data = before + longest + end
        assert list(read_lines(io.BytesIO(data)))[-1].data == longest
        longer = before + longest + b"y" + end + (b"{}\n" if end else b"")
        too_long = [line for line in read_lines(io.BytesIO(longer)) if line.data is None]
        assert len(too_long) == 1
        assert too_long[0].end == len(before + longest + b"y" + end)


def test_reading_goes_on_after_a_line_of_any_length():
    data = b"x" * 5_000_000 + b"\n{}\n"
    first, second = read_lines(io.BytesIO(data))

    assert (first.number, first.data, first.end) == (1, None, 5_000_001)
    assert (second.number, second.data) == (2, b"{}")


def test_memory_stays_flat_however_long_the_file_is(tmp_path):
    class Counting(Door):
        def answer(self, index, document):
            return Item(index=index, status="created")

    def peak(count):
        importing = Import(tmp_path, Counting())
        importing.write(["x"] * count)
        tracemalloc.start()
        importing.run()
        _, most = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        return most

    peak(500)
    assert peak(10_000) < 1.3 * peak(1_000)


def test_what_cannot_be_read_twice_has_no_position():
    tracker = NoProgress()
    tracker.save(Position(offset=1))

    assert tracker.load() is None

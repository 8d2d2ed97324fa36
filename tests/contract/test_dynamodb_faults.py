"""What the recorder says when DynamoDB or the network fails, and what was written then."""

import threading
import time

import pytest

from adapters import cursor as cursors
from domain import keys
from domain.errors import LimitExceeded, Rejected, Unavailable, Uncertain
from domain.records import Absent, Refused, Row
from tests.support import make
from tests.support.dynamodb import on_ministack
from tests.support.faults import READ, WRITE, Faults, LaggingIndexes, counted
from tests.support.ministack import new_account

LOCK = Row(keys.Key("CRM_SYNC#session-one", "LEASE"), {"token": "mine"})


@pytest.fixture
def factory(ministack, account):
    with on_ministack(ministack, account) as factory:
        yield factory


@pytest.fixture(scope="module")
def idle(ministack):
    """A store that no test writes to."""
    with on_ministack(ministack, new_account()) as factory:
        yield factory


@pytest.fixture
def recorder(factory):
    return factory.recorder


@pytest.fixture
def faults(factory):
    return Faults(factory.client)


def insert(recorder, write):
    recorder.insert_events(write.events, commit=write.commit)


@pytest.mark.parametrize(
    "fail",
    [
        lambda faults: faults.conflict(),
        lambda faults: faults.throttle(),
        lambda faults: faults.cancel(["None", "ThrottlingError", "None"]),
        lambda faults: faults.be_down(),
        lambda faults: faults.answer("RequestLimitExceeded"),
    ],
)
def test_a_commit_that_dynamodb_did_not_take_is_unavailable_and_leaves_nothing(
    recorder, faults, fail
):
    write = make.write()
    fail(faults)

    with pytest.raises(Unavailable):
        insert(recorder, write)

    assert recorder.snapshot("lead-one").head is None
    insert(recorder, write)
    assert recorder.select_events("lead-one") == write.events


@pytest.mark.parametrize(
    ("fail", "written"),
    [
        (lambda faults: faults.lose_reply(), True),
        (lambda faults: faults.lose_request(), False),
        (lambda faults: faults.answer("InternalServerError", status=500), False),
    ],
)
def test_a_commit_without_an_answer_is_uncertain_and_its_receipt_tells(
    recorder, faults, fail, written
):
    write = make.write()
    (receipt,) = write.commit.receipts
    fail(faults)

    with pytest.raises(Uncertain):
        insert(recorder, write)

    assert recorder.receipt(receipt.key) == (receipt if written else None)
    assert recorder.select_events("lead-one") == (write.events if written else [])


def test_sending_a_commit_again_that_was_written_shows_the_writer_its_own_receipt(recorder, faults):
    write = make.write()
    faults.lose_reply()
    with pytest.raises(Uncertain):
        insert(recorder, write)

    with pytest.raises(Refused) as caught:
        insert(recorder, write)

    assert caught.value.receipts == write.commit.receipts
    assert caught.value.head


def test_what_botocore_sends_again_after_a_lost_reply_is_the_same_request_and_counts_once(factory):
    faults = Faults(factory.client, retries=True)
    faults.lose_reply(times=2)
    write = make.write()

    with counted(factory.client) as calls:
        insert(factory.recorder, write)

    assert calls.operations == [WRITE]
    assert factory.recorder.select_events("lead-one") == write.events


def test_a_refusal_of_the_network_after_a_lost_reply_is_not_called_undone(factory):
    faults = Faults(factory.client, retries=True)
    faults.be_down(times=2)
    faults.lose_reply()  # the fault added last strikes first
    write = make.write()

    with pytest.raises(Uncertain):
        insert(factory.recorder, write)

    assert factory.recorder.select_events("lead-one") == write.events


def test_doubt_about_one_write_does_not_reach_the_next(recorder, faults):
    faults.lose_request()
    with pytest.raises(Uncertain):
        insert(recorder, make.write())

    faults.throttle()
    with pytest.raises(Unavailable):
        insert(recorder, make.write())


def test_a_lock_that_may_be_ours_is_neither_taken_nor_free(factory):
    # botocore sends the Put again and meets what it wrote the first time.
    Faults(factory.client, retries=True).lose_reply("PutItem")
    state = factory.state_table()

    with pytest.raises(Uncertain):
        state.put(LOCK, Absent())

    assert state.get(LOCK.key) == LOCK
    assert state.put(LOCK, Absent()) is False


@pytest.mark.parametrize("operation", ["PutItem", "DeleteItem"])
def test_a_record_in_a_running_transaction_cannot_be_written(factory, faults, operation):
    faults.answer("TransactionConflictException", operation)
    state = factory.state_table()

    with pytest.raises(Unavailable):
        state.put(LOCK) if operation == "PutItem" else state.delete(LOCK.key)


@pytest.mark.parametrize(
    ("operation", "read"),
    [
        (READ, lambda factory: factory.recorder.snapshot("lead-one")),
        ("Query", lambda factory: factory.recorder.select_events("lead-one")),
        ("Query", lambda factory: factory.recorder.select_by_time("lead-one")),
        ("Query", lambda factory: factory.recorder.raw_payload("lead-one", 1)),
        ("Query", lambda factory: factory.recorder.leads("org-one", limit=1)),
        ("Query", lambda factory: factory.state_table().query("MEMORY#lead-one")),
        ("Query", lambda factory: factory.state_table().query_index("org-one#ADMIN")),
        ("GetItem", lambda factory: factory.recorder.receipt("KEY#1")),
        ("GetItem", lambda factory: factory.state_table().get(LOCK.key)),
        ("BatchGetItem", lambda factory: factory.recorder.resolve(["IDENTITY#1"])),
    ],
)
@pytest.mark.parametrize("fault", ["throttle", "be_down", "lose_request", "conflict"])
def test_a_read_that_fails_is_unavailable_and_works_again_afterwards(idle, operation, read, fault):
    getattr(Faults(idle.client), fault)(operation)

    with pytest.raises(Unavailable):
        read(idle)
    read(idle)


def test_a_snapshot_of_many_rows_in_which_the_head_moved_is_unavailable(factory, faults):
    recorder = factory.recorder
    first = make.write()
    insert(recorder, first)
    wanted = [keys.memory("lead-one", "purchase", f"product-{number}") for number in range(150)]
    second = make.write(2, after=make.head())
    parts: list[int] = []

    def move_between():
        parts.append(len(parts))
        if len(parts) == 1:
            faults.before(lambda: insert(recorder, second), READ)

    faults.before(move_between, READ)
    with pytest.raises(Unavailable):
        recorder.snapshot("lead-one", wanted)

    with counted(factory.client) as calls:
        assert recorder.snapshot("lead-one", wanted).head.version == 2
    assert calls.operations == [READ, READ]
    assert [len(call.request["TransactItems"]) for call in calls] == [100, 52]


@pytest.mark.parametrize("refused", [1, 2])
def test_a_snapshot_of_more_than_four_megabytes_is_read_in_parts(factory, faults, refused):
    record = make.record()
    rows = tuple(make.row(keys.memory("lead-one", "t", f"{n:02d}"), n=n) for n in range(8))
    factory.recorder.insert_events([record], commit=make.commit([record], puts=rows))
    (receipt,) = make.commit([record]).receipts
    faults.answer("ValidationException", READ, times=refused)

    with counted(factory.client) as calls:
        found = factory.recorder.snapshot("lead-one", [row.key for row in rows], [receipt.key])

    assert found.rows == {row.key: row for row in rows}
    assert found.receipts == {receipt.key: receipt}
    sizes = [len(call.request["TransactItems"]) for call in calls]
    assert sizes == {1: [10, 5, 6], 2: [10, 5, 3, 3, 6]}[refused]


def test_a_row_that_cannot_be_read_ends_the_snapshot(recorder, faults):
    faults.answer("ValidationException", READ, times=9)

    with pytest.raises(Rejected):
        recorder.snapshot("lead-one", [keys.memory("lead-one", "t", str(n)) for n in range(4)])


def test_a_span_of_time_that_ends_before_it_begins_is_empty_and_asks_nobody(factory):
    with counted(factory.client) as calls:
        page = factory.recorder.select_by_time(
            "lead-one", since=make.instant(2), until=make.instant(1)
        )
        events = factory.recorder.select_events("lead-one", gt=5, lte=5)

    assert page == ([], None)
    assert events == []
    assert calls == []


def test_identities_that_dynamodb_leaves_unread_are_asked_for_again(factory, faults):
    claims = [f"IDENTITY#org-one#whatsapp#{number}" for number in range(3)]
    unread = [
        {"leadOrganizationId": {"S": claim}, "occurredAtId": {"S": "LEAD"}} for claim in claims
    ]
    left = {factory.names.log: {"Keys": unread, "ConsistentRead": True}}
    faults.answer("", "BatchGetItem", status=200, Responses={}, UnprocessedKeys=left, times=2)

    with counted(factory.client) as calls:
        assert factory.recorder.resolve(claims) == {}
    assert calls.operations == ["BatchGetItem"] * 3

    faults.answer("", "BatchGetItem", status=200, Responses={}, UnprocessedKeys=left, times=9)
    with pytest.raises(Unavailable):
        factory.recorder.resolve(claims)


def test_a_slow_commit_blocks_no_other(factory, faults):
    recorder = factory.recorder
    faults.delay(0.3)
    slow = threading.Thread(target=insert, args=(recorder, make.write(lead="slow")))
    slow.start()
    time.sleep(0.05)

    insert(recorder, make.write(lead="quick"))

    assert slow.is_alive()
    assert recorder.select_events("slow") == []
    slow.join()
    assert len(recorder.select_events("slow")) == 1


def test_what_is_too_large_is_refused_before_anything_is_sent(factory):
    record = make.record()
    rows = tuple(Row(keys.memory("lead-one", "purchase", str(n)), {}) for n in range(98))
    too_large = make.padding(make.row(), 400 * 1024 + 1)

    with counted(factory.client) as calls:
        for puts in (rows, (too_large,)):
            with pytest.raises(LimitExceeded):
                factory.recorder.insert_events([record], commit=make.commit([record], puts=puts))
        with pytest.raises(LimitExceeded):
            factory.state_table().put(too_large)

    assert calls == []


def test_one_commit_of_a_batch_fails_alone(factory, faults):
    writes = [make.write(lead=f"lead-{number}") for number in range(5)]
    insert(factory.recorder, writes[2])
    answers = factory.recorder.insert_many(writes)

    assert [type(answer) for answer in answers[:2] + answers[3:]] == [type(None)] * 4
    assert isinstance(answers[2], Refused)


def test_a_lagging_index_hides_what_is_new_and_the_log_itself_does_not(factory):
    recorder, indexes = factory.recorder, LaggingIndexes(factory.client)
    insert(recorder, make.write())
    indexes.lag()
    insert(recorder, make.write(2, after=make.head()))
    insert(recorder, make.write(lead="lead-two"))

    def seen():
        of_type = recorder.select_by_time("lead-one", event_type="purchase_completed").items
        leads = recorder.leads("org-one", limit=10).items
        return [record.originator_version for record in of_type], sorted(leads)

    assert seen() == ([1], [])
    assert len(recorder.select_events("lead-one")) == 2
    assert len(recorder.select_by_time("lead-one").items) == 2
    indexes.catch_up()
    assert seen() == ([1, 2], ["lead-one", "lead-two"])


@pytest.mark.parametrize("position", ["", "x" * 2000, "9" * 27, "0"])
@pytest.mark.parametrize("desc", [False, True])
def test_a_forged_cursor_never_leaves_the_bounds_of_its_list(recorder, position, desc):
    insert(recorder, make.write())
    listing = ("events", "lead-one", "purchase_completed", "desc" if desc else "asc")
    forged = cursors.encode(listing, [position])

    page = recorder.select_by_time(
        "lead-one",
        event_type="purchase_completed",
        since=make.instant(5),
        until=make.instant(9),
        desc=desc,
        cursor=forged,
    )

    assert page == ([], None)

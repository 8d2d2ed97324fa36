import io
import itertools
import json
import os
import subprocess
import sys
import tracemalloc
from collections import Counter, defaultdict
from datetime import timedelta

import pytest

from adapters.sources.native import NativeEvent
from domain import acceptance, catalog, instants
from domain.errors import InvalidEvent
from domain.event import KNOWN_SOURCES
from handlers import demo_data

TYPES = {
    name
    for name, one in catalog.TYPES.items()
    if one.category != "Identity" and not one.ours and name != "message_received"
}
DEFAULT = list(demo_data.generate())


def key(event):
    return event["source"], event["externalEventId"]


def who(event):
    address = event.get("lead", {})
    return event.get("leadOrganizationId") or (address["channel"], address["channelIdentifier"])


def content(event):
    return json.dumps(event, sort_keys=True)


def by_key():
    deliveries = defaultdict(list)
    for event in DEFAULT:
        deliveries[key(event)].append(event)
    return deliveries


def written(**arguments):
    stream = io.StringIO()
    demo_data.write_ndjson(stream, demo_data.generate(**arguments))
    return stream.getvalue()


def test_the_same_seed_gives_the_same_bytes():
    assert written() == written(seed=2026, leads=40, now="2026-03-20T12:00:00.000000Z")
    assert written() != written(seed=2027)


@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_another_process_writes_the_same_bytes(hash_seed):
    code = """
import sys
from handlers import demo_data
sys.stdout.reconfigure(encoding="utf-8", newline="")
demo_data.write_ndjson(sys.stdout, demo_data.generate())
"""
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONHASHSEED": hash_seed},
        capture_output=True,
        check=True,
    )
    assert done.stdout.decode() == written()


def test_each_line_is_an_event():
    assert [json.loads(line) for line in written().splitlines()] == DEFAULT
    assert demo_data.write_ndjson(io.StringIO(), DEFAULT) == len(DEFAULT)
    assert 900 <= len(DEFAULT) <= 1200


def test_a_later_now_moves_the_stories_and_changes_nothing_else():
    moved = list(demo_data.generate(now="2026-11-29T08:30:00.250000Z"))

    assert [{**event, "occurredAt": ""} for event in moved] == [
        {**event, "occurredAt": ""} for event in DEFAULT
    ]
    assert max(event["occurredAt"] for event in moved) <= "2026-11-29T08:30:00.250000Z"


def test_every_event_is_a_native_event():
    for event in DEFAULT:
        assert ("lead" in event) != ("leadOrganizationId" in event)
        assert event["sourceType"] == KNOWN_SOURCES[event["source"]]
        assert instants.parse_instant(event["occurredAt"]) == event["occurredAt"]
        assert event["occurredAt"] <= demo_data.NOW
        assert 0 < len(event["externalEventId"]) <= 255


def test_every_type_and_every_type_of_source_occurs():
    assert len(TYPES) == 21
    assert {event["eventType"] for event in DEFAULT} == TYPES | {demo_data.UNKNOWN_TYPE}
    assert {event["sourceType"] for event in DEFAULT} == {"EXTERNAL", "INTERNAL", "DIRECT"}


def test_one_type_is_unknown_and_one_payload_is_bad():
    unknown, bad = [], []
    for event in DEFAULT:
        if not catalog.is_known(event["eventType"]):
            unknown.append(event)
            continue
        try:
            catalog.validate(event["eventType"], event["schemaVersion"], event["payload"])
        except InvalidEvent as invalid:
            bad.append(invalid.fields)

    assert [event["eventType"] for event in unknown] == [demo_data.UNKNOWN_TYPE]
    assert bad == [(("/payload/amount", "must not be negative"),)]


def test_the_door_takes_all_but_the_bad_one_and_tells_duplicates_from_conflicts():
    outcomes: Counter[str] = Counter()
    fingerprints: dict[tuple[str, str], str] = {}
    for event in DEFAULT:
        try:
            accepted = acceptance.accept(
                NativeEvent().translate(event),
                organization_id="default",
                now=demo_data.NOW,
                new_id=lambda: "event",
                permitted_sources=acceptance.ALL_SOURCES,
            )
        except InvalidEvent:
            outcomes["rejected"] += 1
            continue
        stands = fingerprints.setdefault(key(event), accepted.event.fingerprint)
        outcomes["same" if stands == accepted.event.fingerprint else "conflict"] += 1
        outcomes["unmapped"] += not accepted.mapped
        outcomes["warnings"] += len(accepted.warnings)

    assert outcomes.pop("same") > 900
    assert outcomes == {"rejected": 1, "conflict": 2, "unmapped": 1, "warnings": 0}


def test_some_events_come_twice_and_some_ids_come_with_other_content():
    deliveries = by_key().values()
    again = [events for events in deliveries if len(events) > 1]
    conflicts = [events for events in again if len({content(event) for event in events}) > 1]

    assert len(again) - len(conflicts) >= 10
    assert conflicts
    for first, *others in conflicts:
        assert all(who(first) == who(other) for other in others)


def test_a_conflict_comes_after_the_event_that_stands():
    for first, *others in by_key().values():
        if others:
            assert first["payload"].get("amount") != demo_data.OTHER_AMOUNT


def test_some_events_arrive_long_after_they_happened():
    newest, late = "", 0
    for event in DEFAULT:
        month_before = instants.shift(event["occurredAt"], timedelta(days=30))
        late += month_before < newest
        newest = max(newest, event["occurredAt"])

    assert late >= 5


def test_most_leads_are_given_by_an_address_and_some_by_their_id():
    leads = {who(event) for event in DEFAULT}
    by_channel = Counter(lead[0] for lead in leads if isinstance(lead, tuple))
    by_id = [lead for lead in leads if isinstance(lead, str)]

    assert len(leads) == 40
    assert by_channel["whatsapp"] > 20
    assert by_channel["instagram"] >= 1
    assert len(by_id) == 10


def test_no_two_leads_share_an_address():
    numbers = [0, 1, 9_899, 9_900, 159_899, 159_900, 999_999]

    assert len({demo_data._phone(number) for number in range(30_000)}) == 30_000
    assert len({demo_data._phone(number) for number in numbers}) == len(numbers)
    assert demo_data._phone(42) == "+55 11 9 5555-0142"


def test_the_first_lead_bought_whey_five_times_as_the_documentation_tells():
    bought = {
        event["occurredAt"]: event["payload"]
        for event in DEFAULT
        if who(event) == demo_data.FIRST_LEAD
        and event["eventType"] == "purchase_completed"
        and event["payload"]["amount"] not in {demo_data.OTHER_AMOUNT, "-150.00"}
    }

    assert sorted(bought) == [
        f"2026-{day}T14:00:00.000000Z" for day in ("01-15", "01-30", "02-14", "02-28", "03-15")
    ]
    assert {one["productId"] for one in bought.values()} == {"whey_1kg"}
    assert {one["amount"] for one in bought.values()} == {"150.00"}
    assert bought["2026-03-15T14:00:00.000000Z"]["transactionId"] == "HT-0001-78901"


def test_the_first_lead_lives_through_most_types():
    types = {event["eventType"] for event in DEFAULT if who(event) == demo_data.FIRST_LEAD}

    assert len(types & TYPES) >= 17


@pytest.mark.parametrize("leads", [0, 1, 39, 41])
def test_any_number_of_leads_may_be_asked_for(leads):
    assert len({who(event) for event in demo_data.generate(leads=leads)}) == leads


def test_more_leads_leave_those_before_them_as_they_are():
    first = [event for event in demo_data.generate(leads=80) if who(event) == demo_data.FIRST_LEAD]

    assert first == [event for event in DEFAULT if who(event) == demo_data.FIRST_LEAD]


def test_ids_are_unique_to_one_lead():
    owners = defaultdict(set)
    for event in demo_data.generate(leads=120):
        owners[key(event)].add(who(event))

    assert all(len(leads) == 1 for leads in owners.values())


def test_a_long_stream_needs_no_more_memory_than_a_short_one():
    tracemalloc.start()
    stream = demo_data.generate(leads=100_000)
    for _ in itertools.islice(stream, 1_200):
        pass
    _, short = tracemalloc.get_traced_memory()
    for _ in itertools.islice(stream, 5_000):
        pass
    _, long = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    assert long < 1.5 * short

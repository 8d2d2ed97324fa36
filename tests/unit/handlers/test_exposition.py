"""Numbers as Prometheus reads them."""

from handlers.entrypoints.http.exposition import exposed
from handlers.measures import Buckets, Measure


def test_a_gauge_is_told_with_what_it_is():
    measure = Measure(name="OldestPendingSeconds", says="Age.", values=(4.5,), unit="Seconds")

    assert exposed("leads_crm_", [measure]) == (
        "# HELP leads_crm_oldest_pending_seconds Age.\n"
        "# TYPE leads_crm_oldest_pending_seconds gauge\n"
        "leads_crm_oldest_pending_seconds 4.5\n"
    )


def test_what_adds_up_is_a_counter_by_name_and_type():
    measure = Measure(name="LeaseLost", says="Rows.", values=(3,), adds=True)
    lines = exposed("leads_crm_", [measure]).splitlines()

    assert lines[1:] == [
        "# TYPE leads_crm_lease_lost_total counter",
        "leads_crm_lease_lost_total 3",
    ]


def test_numbers_of_one_name_stand_under_one_heading_wherever_they_came():
    def of(kind, value):
        return Measure(
            name="HttpClass", says="A.", values=(value,), label=("kind", kind), adds=True
        )

    other = Measure(name="Runs", says="B.", values=(9.0,), adds=True)
    lines = exposed("x_", [of("done", 1), other, of("absent", 2)]).splitlines()

    assert lines == [
        "# HELP x_http_class_total A.",
        "# TYPE x_http_class_total counter",
        'x_http_class_total{kind="done"} 1',
        'x_http_class_total{kind="absent"} 2',
        "# HELP x_runs_total B.",
        "# TYPE x_runs_total counter",
        "x_runs_total 9",
    ]


def test_a_histogram_has_cumulative_buckets_with_everything_in_the_last():
    buckets = Buckets([5.0, 1.0])
    for value in (0.5, 1.0, 1.5, 6.0):
        buckets.observe(value)
    lines = exposed("x_", [buckets.histogram("SyncLatencySeconds", "S.")]).splitlines()

    assert lines == [
        "# HELP x_sync_latency_seconds S.",
        "# TYPE x_sync_latency_seconds histogram",
        'x_sync_latency_seconds_bucket{le="1"} 2',
        'x_sync_latency_seconds_bucket{le="5"} 3',
        'x_sync_latency_seconds_bucket{le="+Inf"} 4',
        "x_sync_latency_seconds_sum 9",
        "x_sync_latency_seconds_count 4",
    ]


def test_no_text_breaks_a_line_or_ends_a_label():
    measure = Measure(name="A", says="one\ntwo \\ three", values=(1,), label=("kind", 'a"b\\c\nd'))

    assert exposed("x_", [measure]).splitlines() == [
        r"# HELP x_a one\ntwo \\ three",
        "# TYPE x_a gauge",
        r'x_a{kind="a\"b\\c\nd"} 1',
    ]


def test_nothing_is_told_of_nothing():
    assert exposed("x_", []) == ""

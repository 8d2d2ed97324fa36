"""What an append answers, on every backend, and what it costs on DynamoDB (DESIGN §4)."""

import threading
from dataclasses import replace
from functools import partial

import pytest

from adapters.clock import new_id
from domain import keys
from domain.addresses import address, identity_keys
from domain.errors import (
    IdempotencyConflict,
    LimitExceeded,
    NotFound,
    Outage,
    Rejected,
    Unavailable,
)
from domain.event import Address
from domain.outcomes import Appended, Duplicate, Failed
from projections.deciding import Decision
from tests.support import toy
from tests.support.dynamodb import on_ministack
from tests.support.faults import READ, WRITE, Faults, counted
from tests.support.logs import SharedLog, stepped
from tests.support.make import LEAD, ORGANIZATION, SOURCE, instant
from tests.support.toy import counted as count
from tests.support.toy import fact

pytestmark = pytest.mark.beyond_moto("a log sees only the port, which other suites hold moto to")

WITH_NINE, WITHOUT_NINE = "+5511998765432", "+551198765432"
PHONE = address("whatsapp", WITH_NINE)


@pytest.fixture
def log(backend):
    return SharedLog(backend.factory, edition=toy.EDITIONS[1])


@pytest.fixture
def factory(ministack, account):
    with on_ministack(ministack, account) as factory:
        yield factory


def again(fact):
    """The same fact as its sender sends it once more: we give it another id."""
    return replace(fact, event_id=new_id(), received_at=instant(99))


def sequences(log, lead=LEAD):
    head = log.reader.head(lead)
    return [event.sequence for event in log.reader.events(lead, lte=head.version)]


def count_of(log, lead=LEAD):
    return log.reader.view(lead, toy.COUNTING[1]).states.get(toy.count_key(lead), 0)


def appended(outcomes):
    assert [type(each) for each in outcomes] == [Appended] * len(outcomes)
    return outcomes


def errors(outcomes):
    return [type(each.error) for each in outcomes if isinstance(each, Failed)]


# --- what is answered -------------------------------------------------------------------------


def test_a_call_of_known_and_new_facts_appends_the_new_ones_and_answers_each(log):
    known, other = count(1, "known"), count(2, "other")
    first = log.append([known, other])

    answers = log.append(
        [
            count(3, "new"),
            again(known),
            replace(again(other), payload={"n": 7}),
            count(4, "newer"),
        ]
    )

    assert answers[0] == Appended(LEAD, count(3, "new").event_id, 3)
    assert answers[1] == Duplicate(LEAD, known.event_id, 1)
    assert errors(answers) == [IdempotencyConflict]
    stands = answers[2].error
    assert (stands.event_id, stands.lead, stands.sequence) == (other.event_id, LEAD, 2)
    assert answers[3] == Appended(LEAD, count(4, "newer").event_id, 4)
    assert first == [Appended(LEAD, known.event_id, 1), Appended(LEAD, other.event_id, 2)]
    assert count_of(log) == 1 + 2 + 3 + 4


def test_a_key_that_comes_twice_in_a_call_makes_one_event(log):
    one = count(1, "twice")

    answers = log.append([one, count(5, "between"), again(one), replace(again(one), payload={})])

    assert answers[0] == Appended(LEAD, one.event_id, 1)
    assert answers[1] == Appended(LEAD, count(5, "between").event_id, 2)
    assert answers[2] == Duplicate(LEAD, one.event_id, 1)
    assert errors(answers) == [IdempotencyConflict]
    assert sequences(log) == [1, 2]


def test_a_key_that_comes_for_two_leads_in_a_call_is_one_leads(log):
    answers = log.append(
        [count(1, "contested"), count(1, "contested", lead="lead-two"), count(2, lead="lead-two")]
    )

    (won,) = [each for each in answers[:2] if isinstance(each, Appended)]
    (lost,) = [each for each in answers[:2] if isinstance(each, Failed)]
    assert isinstance(lost.error, IdempotencyConflict)
    assert (lost.error.lead, lost.error.event_id) == (won.lead, won.event_id)
    assert isinstance(answers[2], Appended)
    assert sequences(log, "lead-two") == ([1] if won.lead == LEAD else [1, 2])


def test_eighty_one_facts_of_one_lead_are_appended_in_their_order_forty_a_commit(log):
    facts = [count(n, f"n-{n}") for n in range(81)]

    answers = log.append(facts)

    assert answers == [
        Appended(LEAD, each.event_id, place) for place, each in enumerate(facts, start=1)
    ]
    assert sequences(log) == list(range(1, 82))
    assert log.reader.head(LEAD).rev == 3
    assert count_of(log) == sum(range(81))
    assert log.verifier.verify(LEAD).state == "equal"


def test_facts_that_share_a_transaction_only_in_part_take_two_with_their_rows(log):
    facts = [fact("toy_flooded", f"f-{n}", rows=60 + n, tag=n) for n in (0, 1)]
    other_rows = fact("toy_counted", "c", n=1)

    answers = log.append([facts[0], other_rows, facts[1]])

    assert [each.sequence for each in answers] == [1, 2, 3]
    head = log.reader.head(LEAD)
    assert head.projected == head.version == 3
    assert log.verifier.verify(LEAD).state == "equal"


def test_a_fact_whose_rows_exceed_a_transaction_is_stored_alone_and_its_lead_lags(log):
    facts = [count(1, "before"), fact("toy_flooded", "flood", rows=120), count(2, "after")]

    answers = log.append(facts)

    assert [each.sequence for each in answers] == [1, 2, 3]
    head = log.reader.head(LEAD)
    assert (head.version, head.projected) == (3, 1)
    assert log.table.get(keys.lag(LEAD)) is not None
    assert count_of(log) == 3, "readers fold what the rows do not hold yet"
    repaired = log.repairer.repair(LEAD)
    assert repaired.verified is not None
    assert repaired.verified.state == "equal"
    assert log.table.get(keys.lag(LEAD)) is None


def test_a_fact_that_no_store_takes_fails_and_its_neighbours_do_not(log):
    huge = fact("toy_unknown", "huge", text="x" * 410_000)

    answers = log.append([count(1, "a"), huge, count(2, "b"), count(3, lead="lead-two")])

    assert errors(answers) == [LimitExceeded]
    assert isinstance(answers[1], Failed)
    assert [each.sequence for each in answers if isinstance(each, Appended)] == [1, 2, 1]


def test_another_organizations_lead_is_not_found_and_gets_nothing(log):
    log.append([count(1, "theirs")])
    intruder = count(5, "mine", organization_id="org-two")

    answers = log.append([intruder, count(6, organization_id="org-two", lead="lead-of-two")])

    assert errors(answers) == [NotFound]
    assert isinstance(answers[1], Appended)
    assert sequences(log) == [1]
    assert log.store.receipt(keys.receipt("org-two", SOURCE, "mine")) is None


def test_two_organizations_in_one_call_have_a_lead_each_behind_the_same_address(log):
    facts = [
        count(n, "k", lead=None, address=PHONE, organization_id=organization)
        for n, organization in enumerate(["org-one", "org-two"])
    ]

    one, two = log.append(facts)

    assert isinstance(one, Appended)
    assert isinstance(two, Appended)
    assert one.lead != two.lead
    assert log.reader.head(one.lead).organization_id == "org-one"
    assert log.reader.head(two.lead).organization_id == "org-two"


# --- addresses --------------------------------------------------------------------------------


def test_a_brazilian_number_finds_one_lead_with_and_without_its_ninth_digit(log):
    (first,) = log.append([count(1, "a", lead=None, address=address("whatsapp", WITHOUT_NINE))])
    (second,) = log.append([count(2, "b", lead=None, address=PHONE)])
    short_form = Address(channel="whatsapp", identifier=min(PHONE.aliases, key=len))
    (third,) = log.append([count(3, "c", lead=None, address=short_form)])

    assert {first.lead, second.lead, third.lead} == {first.lead}
    assert count_of(log, first.lead) == 6
    claims = [
        keys.identity(ORGANIZATION, "whatsapp", name) for name in (PHONE.identifier, *PHONE.aliases)
    ]
    assert log.store.resolve(claims) == dict.fromkeys(claims, first.lead)


def test_two_forms_of_an_address_in_one_call_are_one_lead(log):
    short_form = Address(channel="whatsapp", identifier=min(PHONE.aliases, key=len))

    answers = log.append(
        [
            count(1, "a", lead=None, address=PHONE),
            count(2, "b", lead=None, address=short_form),
            count(3, "c", lead=None, address=PHONE),
        ]
    )

    assert [type(each) for each in answers] == [Appended] * 3
    (lead,) = {each.lead for each in answers}
    assert count_of(log, lead) == 6
    assert log.verifier.verify(lead).state == "equal"


def test_two_forms_of_a_known_address_in_one_call_are_committed_one_after_the_other(backend, log):
    log.append([count(1, "a", lead=None, address=PHONE)])
    short_form = Address(channel="whatsapp", identifier=min(PHONE.aliases, key=len))
    watched = stepped(backend, toy.EDITIONS[1])  # refuses two commits of one lead in one call

    answers = appended(
        watched.append(
            [
                count(2, "b", lead=None, address=PHONE),
                count(3, "c", lead=None, address=short_form),
                count(4, "d", lead="lead-two"),
            ]
        )
    )

    assert [each.sequence for each in answers] == [3, 4, 1]
    assert watched.steps.calls["insert_events"] == 3


def test_a_form_that_is_met_later_is_claimed_and_told_to_the_stream(log):
    known = Address(channel="web", identifier="ana")
    (first,) = log.append([count(1, "a", lead=None, address=known)])
    wider = replace(known, aliases=("ana-2",))

    (second,) = log.append([count(2, "b", lead=None, address=wider)])

    assert second.lead == first.lead
    claimed = log.store.resolve([keys.identity(ORGANIZATION, "web", "ana-2")])
    assert list(claimed.values()) == [first.lead]
    stream = log.reader.events(first.lead, lte=4)
    assert [event.event_type for event in stream] == [
        "toy_counted",
        "identity_linked",
        "toy_counted",
        "identity_linked",
    ]


# --- when the store fails ---------------------------------------------------------------------


def test_an_outage_is_answered_at_once_for_every_lead_without_another_try(backend, log):
    log.append([count(1, "before")])

    with backend.outage():
        answers = log.append([count(2), count(3, lead="lead-two")])

    assert errors(answers) == [Outage, Outage]
    assert log.pauses == []
    assert [type(each) for each in log.append([count(2)])] == [Appended]
    assert sequences(log) == [1, 2]


def test_a_store_that_is_down_is_asked_once_for_many_leads(backend):
    slow = stepped(backend, toy.EDITIONS[1])

    def be_out(_):
        raise Outage("The store is not there.")

    slow.steps.instead("snapshot", be_out)

    answers = slow.append([count(n, lead=f"lead-{n}") for n in range(20)])

    assert errors(answers) == [Outage] * 20
    assert slow.steps.calls["snapshot"] == 1
    assert slow.pauses == []


def test_a_writer_who_always_comes_second_gives_up_after_eight_rounds(backend, log):
    slow = stepped(backend, toy.EDITIONS[1])
    for n in range(1, 9):
        slow.steps.before("insert_events", partial(log.append, [count(n, f"rival-{n}")]), n=n)

    answers = slow.append([count(100, "slow")])

    assert errors(answers) == [Unavailable]
    assert slow.pauses == list(range(1, 9))
    assert sequences(log) == list(range(1, 9))
    (answer,) = appended(slow.append([again(count(100, "slow"))]))
    assert answer.sequence == 9
    assert count_of(log) == sum(range(1, 9)) + 100


def test_a_commit_on_a_row_that_moved_after_it_was_read_keeps_both_contributions(backend, log):
    log.append([count(1, "first")])
    slow = stepped(backend, toy.EDITIONS[1])
    slow.steps.after("snapshot", lambda: log.append([count(10, "fast")]))

    (answer,) = appended(slow.append([count(100, "slow")]))

    assert answer.sequence == 3
    assert backend.table.get(toy.count_key()).attributes["value"] == 111
    assert log.verifier.verify(LEAD).state == "equal"


@pytest.mark.parametrize("lead", [LEAD, None])
def test_a_lost_reply_is_still_answered_as_appended(backend, log, lead):
    slow = stepped(backend, toy.EDITIONS[1])
    slow.steps.lose_reply()
    facts = [count(n, f"n-{n}", lead=lead, address=None if lead else PHONE) for n in (1, 2)]

    answers = appended(slow.append(facts))

    assert [(each.event_id, each.sequence) for each in answers] == [
        (facts[0].event_id, 1),
        (facts[1].event_id, 2),
    ]
    assert count_of(log, answers[0].lead) == 3
    assert sequences(log, answers[0].lead) == ([1, 2] if lead else [1, 2, 3])


def test_a_lost_request_is_sent_again(backend, log):
    slow = stepped(backend, toy.EDITIONS[1])
    slow.steps.lose_request()

    (answer,) = slow.append([count(1, "a")])

    assert answer == Appended(LEAD, count(1, "a").event_id, 1)
    assert slow.pauses == [1]
    assert sequences(log) == [1]


def test_a_store_that_refuses_one_lead_for_good_answers_the_others(backend, log):
    broken = stepped(backend, toy.EDITIONS[1])

    def refuse(_):
        raise Rejected("The store does not take it.")

    broken.steps.instead("insert_events", refuse)

    answers = broken.append([count(1, "a"), count(2, "b", lead="lead-two")])

    assert errors(answers) == [Rejected]
    assert [type(each) for each in answers] == [Failed, Appended]


def test_a_lead_that_cannot_be_looked_at_does_not_stop_the_others(backend, log):
    broken = stepped(backend, toy.EDITIONS[1])

    def refuse(_):
        raise Rejected("The store does not take it.")

    broken.steps.instead("snapshot", refuse)

    answers = broken.append([count(1, "a"), count(2, "b", lead="lead-two")])

    assert errors(answers) == [Rejected]
    assert [type(each) for each in answers] == [Failed, Appended]


# --- what it costs (index entries not counted) ------------------------------------------------


def bought(key, product="whey_1kg", **more):
    payload = {
        "productId": product,
        "productName": "Whey Protein Concentrado 1kg Baunilha",
        "category": "supplements",
        "amount": "150.00",
        "currency": "BRL",
        "paymentMethod": "pix",
        "transactionId": f"HT-{key}",
    }
    return fact("purchase_completed", key, **payload | more)


def real(made, n):
    """The fact under an event id of the length and the time of its own that real ones have."""
    return replace(
        made,
        event_id=f"01957f8a-{n:04x}-7000-8000-0000000000ff",
        occurred_at=instant(n * 86_400),
        lead="01957f8a-0000-7000-8000-00000000000a",
    )


def costs(factory, log, facts):
    with counted(factory.client) as calls:
        answers = log.append(facts)
    return [type(each) for each in answers], calls.operations, calls.write_units


def test_an_append_without_rows_is_two_trips_and_six_units(factory):
    log = SharedLog(factory)
    log.append([real(bought("first"), 1)])

    found = costs(factory, log, [real(fact("something_else", "e", text="x" * 500), 2)])

    assert found == ([Appended], [READ, WRITE], 6)


def test_a_duplicate_is_one_trip_and_no_unit(factory):
    log = SharedLog(factory)
    log.append([real(bought("first"), 1)])

    assert costs(factory, log, [real(bought("first"), 1)]) == ([Duplicate], [READ], 0)


@pytest.mark.parametrize("purchases", [1, 40])
def test_a_purchase_of_a_lead_with_history_is_two_trips_and_at_most_34_units(factory, purchases):
    log = SharedLog(factory)
    methods = ["pix", "credit_card", "boleto"]
    log.append(
        [real(bought(f"p{n}", paymentMethod=methods[n % 3]), n) for n in range(1, purchases + 1)]
    )

    answers, operations, units = costs(factory, log, [real(bought("now"), purchases + 1)])

    assert answers == [Appended]
    assert operations == [READ, WRITE]
    assert units <= 34


def test_facts_of_one_lead_share_the_trips_and_the_rows_of_one_commit(factory):
    log = SharedLog(factory)
    log.append([real(bought("first"), 1)])

    answers, operations, units = costs(
        factory, log, [real(bought(f"p{n}"), n) for n in range(2, 12)]
    )

    assert answers == [Appended] * 10
    assert operations == [READ, WRITE]
    assert units <= 34 + 9 * 4


def test_a_real_lost_reply_of_dynamodb_costs_one_look_and_no_second_event(factory):
    log = SharedLog(factory)
    log.append([real(bought("first"), 1)])
    Faults(factory.client).lose_reply()

    answers, operations, _ = costs(factory, log, [real(bought("now"), 2)])

    assert answers == [Appended]
    assert operations == [READ, WRITE, READ]
    assert log.reader.head(real(bought("now"), 2).lead).version == 2


def test_a_decision_that_records_nothing_costs_one_look(factory):
    log = SharedLog(factory, edition=toy.EDITIONS[1])
    log.append([count(1, "first")])
    decision = Decision(
        organization_id=ORGANIZATION, lead=LEAD, decide=lambda _: [], stands_on=[toy.COUNTING[1]]
    )

    with counted(factory.client) as calls:
        log.record(decision)

    assert calls.operations == [READ]


def test_a_call_looks_at_many_leads_of_dynamodb_side_by_side(factory):
    log = SharedLog(factory, edition=toy.EDITIONS[1])
    together = threading.Barrier(4, timeout=20)
    Faults(factory.client).meet(together, READ)
    facts = [count(1, f"many-{number}", lead=f"lead-{number}") for number in range(4)]

    # One look after the other would leave the first waiting until the barrier breaks.
    appended(log.append(facts))


def test_a_person_who_was_met_before_is_not_looked_up_again(factory):
    log = SharedLog(factory, edition=toy.EDITIONS[1])
    with counted(factory.client) as first:
        log.append([count(1, "first", lead=None, address=PHONE)])
    log.append([count(2, "second", lead=None, address=PHONE)])
    with counted(factory.client) as third:
        (answer,) = log.append([count(3, "third", lead=None, address=PHONE)])

    assert isinstance(answer, Appended)
    assert (len(first), len(third)) == (3, 2)


def test_a_link_that_somebody_else_reports_claims_no_address(log):
    link = {"channel": "whatsapp", "identifier": "5511998765432", "aliases": []}
    appended(log.append([fact("identity_linked", "forged", source=SOURCE, **link)]))

    log.repairer.repair(LEAD, force=True)

    names = identity_keys(ORGANIZATION, PHONE)
    assert log.store.resolve(names) == {}

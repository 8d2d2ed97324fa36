from itertools import count

import pytest

from domain.addresses import identity_keys
from domain.errors import LimitExceeded, Unavailable
from domain.event import Address
from domain.outcomes import Appended, Duplicate, Failed
from domain.records import Refused
from projections.appending import Group, grouped
from tests.support import toy
from tests.support.make import LEAD, ORGANIZATION

PERSON = Address(channel="whatsapp", identifier="5511900000001", aliases=("551100000001",))


def group_of(*facts):
    numbers = count(1)
    return Group(list(enumerate(facts)), nonce="nonce", new_id=lambda: f"id-{next(numbers)}")


def sent(world, group, edition=1):
    """What a group would commit next, without committing it."""
    return group.prepare(world.real, toy.EDITIONS[edition])


def landed(world, group, edition=1):
    """Commit what a group plans next."""
    log = world.log(edition)
    log._put(*sent(world, group, edition))
    return group.settle(None)


def test_facts_are_grouped_by_lead_or_address_in_the_order_given():
    facts = [
        toy.counted(1, "a"),
        toy.counted(1, "b", lead=None, address=PERSON),
        toy.counted(1, "c", lead="lead-two"),
        toy.counted(1, "d"),
        toy.counted(1, "e", lead=None, address=PERSON),
    ]
    assert [[index for index, _ in group] for group in grouped(facts)] == [[0, 3], [1, 4], [2]]


def test_every_form_of_an_address_has_a_key_the_normal_form_first_and_each_once():
    twice = Address(channel="web", identifier="b", aliases=("a", "b"))
    assert identity_keys("org", twice) == ("IDENTITY#org#web#b", "IDENTITY#org#web#a")


def test_a_group_numbers_its_facts_after_the_head(world):
    world.log().append([toy.counted(1, "a")])
    events, commit = sent(world, group_of(toy.counted(2, "b"), toy.counted(3, "c")))
    assert [event.sequence for event in events] == [2, 3]
    assert [receipt.sequence for receipt in commit.receipts] == [2, 3]
    assert {receipt.nonce for receipt in commit.receipts} == {"nonce"}


def test_a_group_of_known_facts_commits_nothing(world):
    world.log().append([toy.counted(1, "a")])
    group = group_of(toy.counted(1, "a"), toy.counted(2, "a"))
    assert sent(world, group) is None
    assert isinstance(group.answers[0], Duplicate)
    assert isinstance(group.answers[1], Failed)
    assert group.pending == []


def test_a_group_commits_at_most_forty_events(world):
    group = group_of(*(toy.counted(n, f"c{n}") for n in range(45)))
    events, _ = sent(world, group)
    assert len(events) == 40
    assert landed(world, group)
    events, _ = sent(world, group)
    assert [event.sequence for event in events] == [41, 42, 43, 44, 45]


def test_a_commit_that_is_too_large_is_halved_then_sent_alone_then_given_up(world):
    group = group_of(*(toy.counted(n, f"c{n}") for n in range(3)))
    sizes = []
    while 0 not in group.answers:
        events, commit = sent(world, group)
        sizes.append((len(events), bool(commit.puts and commit.puts[0].key == toy.count_key())))
        assert group.settle(LimitExceeded("too large"))
    assert sizes == [(3, True), (1, True), (1, False)]
    assert isinstance(group.answers[0], Failed)
    events, _ = sent(world, group)
    assert len(events) == 2


def test_what_was_too_large_and_is_known_now_makes_nothing_else_go_alone(world):
    group = group_of(toy.counted(1, "a"), toy.counted(2, "b"))
    for _ in range(2):
        sent(world, group)
        assert group.settle(LimitExceeded("too large"))
    world.log().append([toy.counted(1, "a", attempt=2)])
    events, commit = sent(world, group)
    assert [event.external_event_id for event in events] == ["b"]
    assert commit.puts[0].key == toy.count_key()


def test_a_refusal_answers_the_facts_whose_keys_are_taken(world):
    group = group_of(toy.counted(1, "a"), toy.counted(2, "b"))
    sent(world, group)
    taken = group._sent[1]
    assert not group.settle(Refused(receipts=[taken]))
    assert group.answers == {1: Appended(LEAD, taken.event_id, 2)}
    assert [index for index, _ in group.pending] == [0]


def test_what_is_left_is_answered_with_the_last_error(world):
    group = group_of(toy.counted(1, "a"))
    sent(world, group)
    down = Unavailable("down")
    assert not group.settle(down)
    group.give_up()
    assert group.answers == {0: Failed(down)}


def test_an_error_of_nobody_s_making_is_raised(world):
    group = group_of(toy.counted(1, "a"))
    sent(world, group)
    with pytest.raises(ZeroDivisionError):
        group.settle(ZeroDivisionError())


def test_the_first_message_of_an_address_claims_every_form_and_says_so(world):
    group = group_of(toy.counted(1, "a", lead=None, address=PERSON))
    events, commit = sent(world, group)
    assert [event.event_type for event in events] == ["toy_counted", "identity_linked"]
    linked = events[1]
    assert linked.payload == {
        "channel": "whatsapp",
        "identifier": "5511900000001",
        "aliases": ["551100000001"],
    }
    assert linked.causation_id == events[0].event_id
    assert {claim.key for claim in commit.identities} == set(identity_keys(ORGANIZATION, PERSON))
    assert {claim.lead for claim in commit.identities} == {"id-1"}


def test_a_form_nobody_claimed_yet_is_added_to_the_lead_that_was_found(world):
    known = Address(channel="whatsapp", identifier=PERSON.aliases[0])
    [first] = world.log().append([toy.counted(1, "a", lead=None, address=known)])
    events, commit = sent(world, group_of(toy.counted(2, "b", lead=None, address=PERSON)))
    assert [claim.key for claim in commit.identities] == [identity_keys(ORGANIZATION, PERSON)[0]]
    assert {event.lead for event in events} == {first.lead}
    assert [event.sequence for event in events] == [3, 4]


def test_a_lead_is_kept_through_the_tries_of_a_group(world):
    group = group_of(toy.counted(1, "a", lead=None, address=PERSON))
    first, _ = sent(world, group)
    group.settle(Unavailable("down"))
    second, _ = sent(world, group)
    assert first[0].lead == second[0].lead == "id-1"

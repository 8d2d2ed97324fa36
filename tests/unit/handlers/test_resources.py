"""Prompts and packages: what ships, what replaces it, and what two authors at once cannot do."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from adapters.sqlite import Factory
from domain import instants, keys
from domain.conversation.answer import Code
from domain.conversation.states import AGENTS
from domain.errors import LimitExceeded, NotFound, Rejected, Uncertain
from domain.resources import MAX_CONTENT_BYTES, PACKAGE, PROMPT
from handlers.resources import CACHED_S, SHIPPED, Resources, StaleVersion, shipped
from tests.support.stepping import SteppingTable, Steps

NOW = "2026-03-20T12:00:00.000000Z"
ORG = "org-one"


class Clock:
    def __init__(self) -> None:
        self.time = NOW

    def __call__(self) -> str:
        return self.time

    def pass_(self, seconds: float) -> None:
        self.time = instants.shift(self.time, timedelta(seconds=seconds))


@pytest.fixture
def factory() -> Iterator[Factory]:
    factory = Factory({"LEADS_DB": ":memory:"})
    yield factory
    factory.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def steps() -> Steps:
    return Steps()


@pytest.fixture
def resources(factory, clock, steps) -> Resources:
    return Resources(SteppingTable(factory.state_table(), steps), clock)


def put(resources, content, *, expected, name="triagem", kind=PROMPT, org=ORG, author="ana"):
    return resources.put_next_version(
        org, kind, name, content, author=author, expected_version=expected
    )


def test_every_agent_has_a_shipped_prompt_and_one_package_shows_how(resources):
    prompts = resources.list_current(ORG, PROMPT)
    (package,) = resources.list_current(ORG, PACKAGE)

    assert {each.resource_id for each in prompts} == set(AGENTS.values())
    for each in (*prompts, package):
        assert (each.version, each.active, each.author) == (0, True, SHIPPED)
        assert each.content.strip()
        assert resources.get_current(ORG, each.resource_type, each.resource_id) == each
    assert prompts[0].name == "cadastro@0"
    assert not set(" ".join(each.content for each in prompts).split()) & {"TODO", "FIXME"}


@pytest.mark.parametrize("agent", sorted(set(AGENTS.values())))
def test_a_shipped_prompt_names_codes_that_exist_and_only_them(agent):
    words = {
        word.strip(":,;.()`") for word in shipped(PROMPT)[agent].content.split() if "_" in word
    }

    named = {word for word in words if word.isupper()}
    assert named <= set(Code)


def test_a_change_is_current_at_once_and_stays_a_version(resources, clock):
    first = put(resources, "Um", expected=0)
    clock.pass_(1)
    second = put(resources, "Dois", expected=1, author="bia")

    assert (first.version, first.name, first.updated_at) == (1, "triagem@1", NOW)
    assert (second.version, second.author, second.updated_at) == (2, "bia", clock())
    assert resources.get_current(ORG, PROMPT, "triagem") == second
    default = shipped(PROMPT)["triagem"]
    assert resources.list_versions(ORG, PROMPT, "triagem") == [second, first, default]
    assert resources.version(ORG, PROMPT, "triagem", 1) == first
    assert resources.version(ORG, PROMPT, "triagem", 0) == default
    current = {each.resource_id: each.version for each in resources.list_current(ORG, PROMPT)}
    assert current == {"cadastro": 0, "qualificacao": 0, "triagem": 2}


def test_all_versions_are_listed_however_many_there_are(resources):
    for number in range(105):
        put(resources, f"Versão {number}", expected=number, name="faq", kind=PACKAGE)

    versions = [each.version for each in resources.list_versions(ORG, PACKAGE, "faq")]

    assert versions == list(range(105, 0, -1))


def test_another_organization_sees_nothing_of_it(resources):
    put(resources, "Um", expected=0)
    put(resources, "Só daqui", expected=0, name="faq", kind=PACKAGE)

    assert resources.get_current("org-two", PROMPT, "triagem").version == 0
    assert [each.resource_id for each in resources.list_current("org-two", PACKAGE)] == ["servicos"]
    with pytest.raises(NotFound):
        resources.list_versions("org-two", PACKAGE, "faq")
    assert put(resources, "Outro", expected=0, org="org-two").version == 1
    assert resources.get_current(ORG, PROMPT, "triagem").content == "Um"


@pytest.mark.parametrize("expected", [0, 2, 7])
def test_who_saw_another_version_changes_nothing_and_is_told_the_standing_one(resources, expected):
    first = put(resources, "Um", expected=0)

    with pytest.raises(StaleVersion, match="version 1 stands") as raised:
        put(resources, "Dois", expected=expected)

    assert raised.value.standing == 1
    assert resources.list_versions(ORG, PROMPT, "triagem")[0] == first


def test_what_was_never_changed_stands_in_version_0(resources):
    with pytest.raises(StaleVersion) as raised:
        put(resources, "Um", expected=3)

    assert raised.value.standing == 0
    assert resources.get_current(ORG, PROMPT, "triagem").version == 0


def test_of_sixteen_authors_of_one_version_one_is_heard(resources):
    start = threading.Barrier(16)

    def act(number):
        start.wait()
        try:
            return put(resources, f"Texto {number}", expected=0, author=f"author {number}")
        except StaleVersion:
            return None

    with ThreadPoolExecutor(16) as pool:
        made = [each for each in pool.map(act, range(16)) if each]

    assert len(made) == 1
    assert resources.list_versions(ORG, PROMPT, "triagem")[:-1] == made
    assert resources.get_current(ORG, PROMPT, "triagem") == made[0]


def test_a_change_whose_answer_was_lost_is_made_once(resources, steps, clock):
    def lose(call):
        call()
        raise Uncertain("no answer")

    steps.instead("write", lose)
    with pytest.raises(Uncertain):
        put(resources, "Um", expected=0)
    clock.pass_(2)

    again = put(resources, "Um", expected=0)

    assert (again.version, again.updated_at) == (1, NOW)
    assert len(resources.list_versions(ORG, PROMPT, "triagem")) == 2


def test_a_change_that_is_written_half_does_not_exist(resources, factory):
    table = factory.state_table()
    blocked = keys.resource_version(ORG, PROMPT, "triagem", 1)
    put(resources, "Um", expected=0)
    table.delete(keys.resource(ORG, PROMPT, "triagem"))

    with pytest.raises(StaleVersion):
        put(resources, "Dois", expected=0)

    assert table.get(blocked).attributes["content"] == "Um"
    assert table.get(keys.resource(ORG, PROMPT, "triagem")) is None


def test_a_rollback_is_a_new_version_that_says_the_old_words(resources):
    put(resources, "Um", expected=0)
    put(resources, "Dois", expected=1)

    back = resources.rollback(ORG, PROMPT, "triagem", 1, author="bia", expected_version=2)
    origin = resources.rollback(ORG, PROMPT, "triagem", 0, author="bia", expected_version=3)

    assert (back.version, back.content, back.author) == (3, "Um", "bia")
    assert (origin.version, origin.content) == (4, shipped(PROMPT)["triagem"].content)
    assert resources.get_current(ORG, PROMPT, "triagem") == origin


@pytest.mark.parametrize("target", [-1, 2, 10**6])
def test_a_rollback_to_what_never_was_is_not_found(resources, target):
    put(resources, "Um", expected=0)

    with pytest.raises(NotFound):
        resources.rollback(ORG, PROMPT, "triagem", target, author="bia", expected_version=1)
    assert resources.get_current(ORG, PROMPT, "triagem").version == 1


def test_what_is_deactivated_stays_as_a_version_and_comes_back(resources):
    off = resources.deactivate(ORG, PACKAGE, "servicos", author="ana", expected_version=0)

    assert (off.version, off.active, off.content) == (
        1,
        False,
        shipped(PACKAGE)["servicos"].content,
    )
    assert resources.list_current(ORG, PACKAGE) == [off]
    on = resources.rollback(ORG, PACKAGE, "servicos", 0, author="ana", expected_version=1)
    assert (on.version, on.active) == (2, True)
    with pytest.raises(StaleVersion):
        resources.deactivate(ORG, PACKAGE, "servicos", author="ana", expected_version=1)
    with pytest.raises(NotFound):
        resources.deactivate(ORG, PACKAGE, "faq", author="ana", expected_version=0)


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"kind": "poem"}, Rejected),
        ({"name": "vendas"}, Rejected),
        ({"name": "a#b", "kind": PACKAGE}, Rejected),
        ({"name": "A", "kind": PACKAGE}, Rejected),
        ({"name": "", "kind": PACKAGE}, Rejected),
        ({"name": "x" * 65, "kind": PACKAGE}, Rejected),
        ({"author": ""}, Rejected),
        ({"author": "a\nb"}, Rejected),
        ({"content": " \n"}, Rejected),
        ({"content": "a\x00"}, Rejected),
        ({"content": "a\x1b[2J"}, Rejected),
        ({"content": "a\ud800"}, Rejected),
        ({"content": "é" * (MAX_CONTENT_BYTES // 2 + 1)}, LimitExceeded),
        ({"org": "a#b"}, Rejected),
    ],
)
def test_what_cannot_be_a_resource_is_refused_before_anything_is_written(resources, change, error):
    asked = {"content": "Um", "expected": 0, **change}

    with pytest.raises(error):
        put(resources, asked.pop("content"), **asked)

    assert resources.list_current(ORG, PACKAGE) == [shipped(PACKAGE)["servicos"]]


def test_a_resource_may_be_as_long_as_the_limit(resources):
    text = "é" * (MAX_CONTENT_BYTES // 2)

    assert put(resources, text, expected=0).content == text


@pytest.mark.parametrize("name", ["faq", "a#b", "../triagem"])
def test_what_is_not_there_is_not_found(resources, name):
    for ask in (
        lambda: resources.get_current(ORG, PACKAGE, name),
        lambda: resources.list_versions(ORG, PACKAGE, name),
        lambda: resources.version(ORG, PACKAGE, name, 1),
    ):
        with pytest.raises(NotFound):
            ask()
    with pytest.raises(Rejected):
        resources.get_current(ORG, "poem", "faq")


def test_a_turn_reads_resources_once_in_a_while_and_its_own_changes_at_once(
    resources, steps, clock, factory
):
    elsewhere = Resources(factory.state_table(), clock)
    resources.recent(ORG, PROMPT)
    resources.recent(ORG, PROMPT)
    resources.recent("org-two", PROMPT)
    assert steps.calls["query"] == 2

    put(elsewhere, "Um", expected=0)
    clock.pass_(CACHED_S - 1)
    assert version_of(resources.recent(ORG, PROMPT)) == 0
    clock.pass_(1)
    assert version_of(resources.recent(ORG, PROMPT)) == 1

    put(resources, "Dois", expected=1)
    assert version_of(resources.recent(ORG, PROMPT)) == 2


def test_a_clock_that_was_set_back_keeps_no_old_answer(resources, steps, clock):
    resources.recent(ORG, PROMPT)
    clock.pass_(-3600)

    resources.recent(ORG, PROMPT)

    assert steps.calls["query"] == 2


def version_of(listed, name="triagem"):
    return next(each.version for each in listed if each.resource_id == name)

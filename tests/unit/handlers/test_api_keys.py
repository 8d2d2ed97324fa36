"""A key opens what it is for, for whom it was made, and only as long as it holds."""

import hashlib
import itertools
from collections.abc import Iterator

import pytest

from adapters.sqlite import Factory
from domain import keys
from domain.acceptance import ALL_SOURCES
from domain.errors import Forbidden, InvalidEvent, NotFound, Rejected, Unauthenticated, Unavailable
from domain.ports.storage import StateTable
from handlers.api_keys import DEFAULT_SCOPES, SCOPES, ApiKeys, Credential, everything

BEFORE, CREATED, LATER = (f"2026-03-20T12:00:0{second}.000000Z" for second in range(3))


class Clock:
    def __init__(self) -> None:
        self.time = CREATED

    def __call__(self) -> str:
        return self.time


@pytest.fixture
def table() -> Iterator[StateTable]:
    factory = Factory({"LEADS_DB": ":memory:"})
    yield factory.state_table()
    factory.close()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def api_keys(table, clock) -> ApiKeys:
    return ApiKeys(table, clock, drawing())


def drawing():
    """Bytes that differ at every draw."""
    numbers = itertools.count(1)
    return lambda count: hashlib.sha512(b"%d" % next(numbers)).digest()[:count]


def bearer(key: str) -> str:
    return f"Bearer {key}"


def test_a_key_opens_what_it_was_made_for(api_keys):
    key, made = api_keys.create("org-one", scopes=["events:write"], sources=["hotmart", "shop*"])

    assert api_keys.authenticate(bearer(key)) == Credential(
        organization_id="org-one",
        key_id=made.key_id,
        scopes=frozenset({"events:write"}),
        sources=("hotmart", "shop*"),
    )
    assert key.startswith(f"lk_{made.key_id}_")
    assert len(made.key_id) == 12


def test_a_key_is_for_daily_work_on_all_sources_unless_told_otherwise(api_keys):
    for made in (
        api_keys.create("org-one")[1],
        api_keys.create("org-one", scopes=[], sources=[])[1],
    ):
        assert (made.scopes, made.sources) == (DEFAULT_SCOPES, ALL_SOURCES)


def test_the_scheme_may_be_in_any_case_and_nothing_else_may_differ(api_keys):
    key, _ = api_keys.create("org-one")

    assert api_keys.authenticate(f"bearer {key}").organization_id == "org-one"


def test_the_secret_is_nowhere_in_the_store(api_keys, table):
    key, made = api_keys.create("org-one")
    secret = key.removeprefix(f"lk_{made.key_id}_")
    row = table.get(keys.api_key(made.key_id))

    assert len(secret) == 43
    assert secret not in repr(row)
    assert row.attributes["secretHash"] == hashlib.sha256(secret.encode()).hexdigest()


def test_whatever_is_wrong_with_a_key_the_answer_is_the_same(api_keys, clock):
    key, made = api_keys.create("org-one")
    revoked, revoked_key = api_keys.create("org-one")
    api_keys.revoke("org-one", revoked_key.key_id)
    expired, _ = api_keys.create("org-one", expires_at=LATER)
    clock.time = LATER
    headers = [
        None,
        "",
        "Bearer",
        key,
        f"Basic {key}",
        bearer(key[:-1]),
        bearer(key + "x"),
        bearer(key[:-1] + ("A" if key[-1] != "A" else "B")),
        bearer(key.replace(made.key_id, "a" * 12)),
        bearer(key.replace(made.key_id, revoked_key.key_id)),
        bearer("lk_" + "a" * 5000),
        bearer("lk_\x00"),
        bearer(revoked),
        bearer(expired),
    ]
    answers = set()
    for header in headers:
        with pytest.raises(Unauthenticated) as caught:
            api_keys.authenticate(header)
        answers.add(str(caught.value))

    assert len(answers) == 1
    assert api_keys.authenticate(bearer(key)).key_id == made.key_id


def test_a_key_holds_until_it_expires(api_keys, clock):
    key, made = api_keys.create("org-one", expires_at="2026-03-20T09:00:02-03:00")

    assert made.expires_at == LATER
    assert api_keys.authenticate(bearer(key))
    clock.time = LATER
    with pytest.raises(Unauthenticated):
        api_keys.authenticate(bearer(key))


def test_a_revoked_key_is_refused_by_the_very_next_request(api_keys):
    key, made = api_keys.create("org-one")
    api_keys.authenticate(bearer(key))
    api_keys.revoke("org-one", made.key_id)

    with pytest.raises(Unauthenticated):
        api_keys.authenticate(bearer(key))


def test_the_first_revocation_stands(api_keys, clock):
    _, made = api_keys.create("org-one")
    first = api_keys.revoke("org-one", made.key_id)
    clock.time = LATER

    assert first.revoked_at == CREATED
    assert api_keys.revoke("org-one", made.key_id) == first


def test_of_two_who_revoke_at_once_the_first_stands(table, clock):
    _, made = ApiKeys(table, clock, drawing()).create("org-one")

    class Overtaken:
        """Lets another revocation pass between the read and the write of one."""

        def __init__(self) -> None:
            self.passed = False

        def __getattr__(self, name):
            return getattr(table, name)

        def put(self, row, condition=None):
            if not self.passed:
                self.passed = True
                ApiKeys(table, lambda: BEFORE, drawing()).revoke("org-one", made.key_id)
            return table.put(row, condition)

    answer = ApiKeys(Overtaken(), clock, drawing()).revoke("org-one", made.key_id)

    assert answer.revoked_at == BEFORE


@pytest.mark.parametrize("key_id", ["", "a" * 12, "#", "x" * 3000])
def test_a_key_nobody_has_cannot_be_revoked(api_keys, key_id):
    with pytest.raises(NotFound):
        api_keys.revoke("org-one", key_id)


def test_organizations_do_not_see_each_others_keys(api_keys):
    key, made = api_keys.create("org-one")
    api_keys.create("org-two")

    assert api_keys.list("org-one") == [made]
    with pytest.raises(NotFound):
        api_keys.revoke("org-two", made.key_id)
    assert api_keys.authenticate(bearer(key))


def test_keys_are_listed_oldest_first_with_what_became_of_them(api_keys, clock):
    clock.time = LATER
    young = api_keys.create("org-one")[1]
    clock.time = CREATED
    old = api_keys.create("org-one")[1]
    revoked = api_keys.revoke("org-one", young.key_id)

    assert api_keys.list("org-one") == [old, revoked]


def test_a_long_list_is_whole(api_keys):
    made = {api_keys.create("org-one")[1].key_id for _ in range(230)}

    assert {key.key_id for key in api_keys.list("org-one")} == made


def test_a_taken_id_is_never_overwritten(table, clock):
    api_keys = ApiKeys(table, clock, bytes)
    key, made = api_keys.create("org-one")
    with pytest.raises(Unavailable):
        api_keys.create("org-two")

    assert api_keys.list("org-one") == [made]
    assert api_keys.list("org-two") == []
    assert api_keys.authenticate(bearer(key)).organization_id == "org-one"


@pytest.mark.parametrize(
    ("wrong", "pointer"),
    [
        ({"scopes": ["events:write", "event:read"]}, "/scopes/1"),
        ({"sources": ["hotmart", "Hot Mart"]}, "/sources/1"),
        ({"sources": ["a*b"]}, "/sources/0"),
        ({"expires_at": "2027-01-01T00:00:00"}, "/expiresAt"),
        ({"expires_at": "soon"}, "/expiresAt"),
    ],
)
def test_a_key_that_means_nothing_is_not_made(api_keys, wrong, pointer):
    with pytest.raises(Rejected) as caught:
        api_keys.create("org-one", **wrong)

    assert [field.pointer for field in caught.value.fields] == [pointer]
    assert api_keys.list("org-one") == []


def test_a_key_is_made_for_an_organization_that_keys_can_name(api_keys):
    with pytest.raises(InvalidEvent):
        api_keys.create("org#one")
    with pytest.raises(InvalidEvent):
        everything("org#one")


@pytest.mark.parametrize("scope", SCOPES)
def test_a_scope_that_is_missing_is_forbidden(api_keys, scope):
    others = [other for other in SCOPES if other not in (scope, "admin")]
    credential = api_keys.authenticate(bearer(api_keys.create("org-one", scopes=others)[0]))

    with pytest.raises(Forbidden, match=scope):
        credential.require(scope)
    for other in others:
        credential.require(other)


def test_an_admin_and_who_needs_no_key_may_do_everything(api_keys):
    admin = api_keys.authenticate(bearer(api_keys.create("org-one", scopes=["admin"])[0]))
    for credential in (admin, everything("org-one")):
        for scope in SCOPES:
            credential.require(scope)

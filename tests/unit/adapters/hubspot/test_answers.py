"""What every answer means, verb by verb, over real HTTP. Source: research/crm.md §4.4."""

import pytest

from adapters.hubspot.client import MAX_ANSWER_BYTES
from domain.crm.replies import Kind
from tests.support.http_server import Reply as Answered
from tests.support.hubspot import VERBS, crm_answered, crm_at, error, record, taken
from tests.support.socket_server import answer, answering, socket_server

HTML = b"<html><title>Attention Required</title></html>"
NOT_FOUND = error("OBJECT_NOT_FOUND", "resource not found")
TARGET_GONE = error(subCategory="crm.associations.TO_OBJECT_NOT_FOUND")
SCOPES = error(
    "MISSING_SCOPES",
    "This app hasn't been granted all required scopes to make this call.",
    errors=[{"context": {"requiredGranularScopes": ["crm.objects.deals.write"]}}],
)

TRANSIENT, AMBIGUOUS, ABSENT = Kind.TRANSIENT, Kind.AMBIGUOUS, Kind.ABSENT
BREAKER, PAUSED, REFUSED = Kind.BREAKER, Kind.PAUSED, Kind.REFUSED
CONFLICT, INVALID = Kind.CONFLICT, Kind.INVALID

IN_DOUBT = (TRANSIENT, AMBIGUOUS, AMBIGUOUS)

# Status, body: what it means to a READ, a WRITE and a CREATE, and why.
TABLE = [
    (301, HTML, (BREAKER, BREAKER, AMBIGUOUS), "redirected"),
    (302, HTML, (BREAKER, BREAKER, AMBIGUOUS), "redirected"),
    (304, b"", (BREAKER, BREAKER, AMBIGUOUS), "redirected"),
    (308, HTML, (BREAKER, BREAKER, AMBIGUOUS), "redirected"),
    (400, taken(), (REFUSED, CONFLICT, CONFLICT), None),
    (400, error(), (REFUSED, REFUSED, REFUSED), "validation"),
    (400, HTML, (REFUSED, REFUSED, REFUSED), "validation"),
    (400, TARGET_GONE, (ABSENT, ABSENT, ABSENT), None),
    (401, error("INVALID_AUTHENTICATION"), (BREAKER,) * 3, "token_refused"),
    (401, error("EXPIRED_AUTHENTICATION"), (BREAKER,) * 3, "token_expired"),
    (401, HTML, (BREAKER,) * 3, "token_refused"),
    (402, error("PAYMENT_REQUIRED"), (BREAKER,) * 3, "account_refused"),
    (403, SCOPES, (BREAKER,) * 3, "scopes_missing"),
    (403, error("FORBIDDEN"), (BREAKER,) * 3, "forbidden"),
    (403, HTML, (BREAKER, BREAKER, AMBIGUOUS), "edge_refused"),
    (404, NOT_FOUND, (ABSENT, ABSENT, ABSENT), None),
    (404, TARGET_GONE, (ABSENT, ABSENT, ABSENT), None),
    (404, HTML, (BREAKER,) * 3, "endpoint_gone"),
    (404, error("RESOURCE_GONE"), (BREAKER,) * 3, "endpoint_gone"),
    (404, b"", (BREAKER,) * 3, "endpoint_gone"),
    (405, error(), (REFUSED,) * 3, "request_refused"),
    (408, b"", IN_DOUBT, "request_timeout"),
    (409, error("CONFLICT"), (TRANSIENT, TRANSIENT, CONFLICT), None),
    (409, HTML, (TRANSIENT, TRANSIENT, CONFLICT), None),
    (410, NOT_FOUND, (BREAKER,) * 3, "endpoint_gone"),
    (413, b"", (REFUSED,) * 3, "validation"),
    (414, b"", (REFUSED,) * 3, "request_refused"),
    (415, b"", (REFUSED,) * 3, "request_refused"),
    (422, error(), (REFUSED,) * 3, "validation"),
    (423, error("LOCKED"), (TRANSIENT,) * 3, "locked"),
    (429, error("RATE_LIMITS"), (PAUSED,) * 3, "limit_burst"),
    (429, HTML, (PAUSED,) * 3, "limit_burst"),
    (477, b"", (PAUSED,) * 3, "migration"),
    (500, error("INTERNAL_ERROR"), IN_DOUBT, "server_error"),
    (501, b"", IN_DOUBT, "server_error"),
    (502, HTML, IN_DOUBT, "server_error"),
    (503, b"", IN_DOUBT, "server_error"),
    (504, HTML, IN_DOUBT, "server_error"),
    (520, HTML, IN_DOUBT, "server_error"),
    (521, HTML, (TRANSIENT, TRANSIENT, AMBIGUOUS), "server_error"),
    (522, HTML, IN_DOUBT, "server_error"),
    (523, HTML, (TRANSIENT, TRANSIENT, AMBIGUOUS), "server_error"),
    (524, HTML, IN_DOUBT, "server_error"),
    (525, HTML, (BREAKER, BREAKER, AMBIGUOUS), None),
    (526, HTML, (BREAKER, BREAKER, AMBIGUOUS), None),
    (530, HTML, (BREAKER, BREAKER, AMBIGUOUS), None),
    (599, b"", IN_DOUBT, "server_error"),
]

every_verb = pytest.mark.parametrize("verb", VERBS)


def asked_of(verb, status, body, **headers):
    """Ask once: the reply, and what the server was asked."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    with crm_answered(Answered(status, body, named)) as (crm, server):
        return VERBS[verb](crm), server.asked


@every_verb
@pytest.mark.parametrize(("status", "body", "kinds", "reason"), TABLE)
def test_every_answer_has_its_meaning_and_is_asked_for_once(verb, status, body, kinds, reason):
    reply, asked = asked_of(verb, status, body, Location="/elsewhere")

    assert reply.kind is dict(zip(VERBS, kinds, strict=True))[verb]
    assert reason is None or reply.reason == reason
    assert reply.reason
    assert reply.status == status
    assert len(asked) == 1


@pytest.mark.parametrize("status", [200, 201, 202])
@every_verb
def test_a_success_with_an_id_is_done(verb, status):
    reply, _ = asked_of(verb, status, record("43", dealname="Ana Souza", dealstage="101"))

    assert reply.kind is Kind.DONE
    assert reply.record is not None
    # Another id than was asked for: it was merged.
    assert reply.record.id == "43"
    assert reply.record.properties == {"name": "Ana Souza", "stage": "101"}


@every_verb
@pytest.mark.parametrize(
    "body",
    [
        b"",
        HTML,
        b"\xff",
        b"[" * 100_000,
        None,
        [],
        5,
        {},
        {"id": None},
        {"id": ""},
        {"id": "ana"},
        {"id": True},
        {"id": "1" * 21},
        {"id": "-1"},
        {"results": []},
        {"results": [], "errors": []},
    ],
)
def test_a_success_without_an_id_says_nothing_about_a_creation(verb, body):
    reply, _ = asked_of(verb, 200, body)

    assert reply.kind is dict(zip(VERBS, IN_DOUBT, strict=True))[verb]
    assert reply.reason == "no_record"


@every_verb
def test_a_success_beyond_the_limit_is_not_read(verb):
    body = {**record(), "more": "x" * MAX_ANSWER_BYTES}
    reply, _ = asked_of(verb, 200, body)

    assert reply.kind is dict(zip(VERBS, IN_DOUBT, strict=True))[verb]
    assert reply.reason == "answer_too_large"


def test_a_success_just_within_the_limit_is_read():
    body = {**record(), "more": ""}
    spare = MAX_ANSWER_BYTES - len(Answered(body=body).content)
    reply, _ = asked_of("READ", 200, {**body, "more": "x" * spare})

    assert reply.kind is Kind.DONE


@every_verb
def test_the_header_alone_tells_a_missing_record_from_a_missing_path(verb):
    reply, _ = asked_of(verb, 404, b"", X_HubSpot_NotFound="true")

    assert reply.kind is ABSENT
    assert reply.reason == ("association_target_missing" if verb == "CREATE" else "not_found")


@pytest.mark.parametrize("verb", ["WRITE", "CREATE"])
@pytest.mark.parametrize(
    ("status", "body"),
    [
        (400, taken("77")),
        (400, taken("77", value="on 1. 2 already has that value")),
        (400, error(errors=[{"message": taken("77")["message"], "code": "X"}])),
        (409, error("CONFLICT", "Contact already exists. Existing ID: 77")),
        (409, error("CONTACT_EXISTS", identityProfile={"vid": 77}, linkedVid=[77, 78])),
        (409, error("OBJECT_ALREADY_EXISTS", linkedVid=[77, 78])),
        (400, error("CONTACT_EXISTS", identityProfile={"vid": "77"})),
    ],
)
def test_whose_the_value_is_is_told(verb, status, body):
    reply, _ = asked_of(verb, status, body)

    assert (reply.kind, reply.reason) == (CONFLICT, "unique_value")
    assert reply.holder_id == "77"


def test_a_conflict_names_the_property_by_our_name():
    reply, _ = asked_of("CREATE", 400, taken())

    assert reply.invalid == ("key",)


@pytest.mark.parametrize("vid", [None, True, "ana", -1, 1.5, [], "1" * 21])
def test_a_holder_that_is_no_id_is_none(vid):
    reply, _ = asked_of("CREATE", 409, error("CONTACT_EXISTS", identityProfile={"vid": vid}))

    assert (reply.kind, reply.holder_id) == (CONFLICT, None)


IN_MESSAGE = (
    "Property values were not valid: "
    '[{"isValid":false,"message":"Ana was not one of the allowed options","error":"INVALID_OPTION",'
    '"name":"dealstage"},{"isValid":true,"name":"dealname"}]'
)


@pytest.mark.parametrize("verb", ["WRITE", "CREATE"])
@pytest.mark.parametrize(
    ("body", "names"),
    [
        (
            error(
                errors=[
                    {
                        "message": "Property does not exist",
                        "code": "PROPERTY_DOESNT_EXIST",
                        "context": {"propertyName": ["lead_score", "dealname"]},
                    }
                ]
            ),
            ("lead_score", "name"),
        ),
        (error(errors=[{"message": "no", "code": "INVALID_DATE", "in": "closedate"}]), None),
        (error(message=IN_MESSAGE), ("stage",)),
        (
            error(
                validationResults=[
                    {"isValid": False, "error": "INVALID_OPTION", "name": "pipeline"},
                    {"isValid": False, "error": "INVALID_LONG", "name": "amount"},
                ]
            ),
            ("stage", "amount"),
        ),
        (
            error(
                message="Error creating DEAL. Some required properties were not set.",
                context={"properties": ["lead_source", "lead_score"]},
            ),
            ("lead_source", "lead_score"),
        ),
        (
            error(errors=[{"code": "TOO_LONG", "context": {"propertyName": ["description"]}}]),
            ("segment", "intent", "notes"),
        ),
    ],
)
def test_refused_properties_are_named_in_every_shape(verb, body, names):
    reply, _ = asked_of(verb, 400, body)

    assert (reply.kind, reply.reason) == (INVALID, "validation")
    assert reply.invalid == (names or ("closedate",))


def test_a_reading_that_names_an_unknown_property_is_refused():
    body = error(errors=[{"code": "X", "context": {"propertyName": ["lead_session_id"]}}])
    reply, _ = asked_of("READ", 400, body)

    assert (reply.kind, reply.invalid) == (REFUSED, ("key",))


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("30", 30),
        ("0", 1),
        ("1.2", 2),
        ("999999999", 86_400),
        ("-1", None),
        ("soon", None),
        ("", None),
        ("9" * 12, None),
    ],
)
@pytest.mark.parametrize("status", [429, 477, 503])
def test_how_long_to_wait_is_told_in_seconds(status, header, seconds):
    reply, _ = asked_of("READ", status, b"", Retry_After=header)

    assert reply.wait_s == seconds


@pytest.mark.parametrize(
    ("date", "until", "seconds"),
    [
        ("Fri, 20 Nov 2026 12:00:00 GMT", "Fri, 20 Nov 2026 12:00:45 GMT", 45),
        ("Fri, 20 Nov 2026 12:00:00 GMT", "Fri, 20 Nov 2026 11:59:00 GMT", 1),
        ("Fri, 20 Nov 2026 12:00:00 GMT", "Wed, 20 Jan 2027 12:00:00 GMT", 86_400),
        ("Fri, 20 Nov 2026 12:00:00 GMT", "Fri, 99 Nov 2026 12:00:45 GMT", None),
        ("Fri, 20 Nov 2026 12:00:00", "Fri, 20 Nov 2026 12:00:45 GMT", None),
        ("today", "Fri, 20 Nov 2026 12:00:45 GMT", None),
    ],
)
def test_how_long_to_wait_is_told_as_a_date_whatever_our_clock_says(date, until, seconds):
    said = answer("429 Too Many", b"", f"Date: {date}", f"Retry-After: {until}")
    with socket_server(answering(said)) as server, crm_at(server.url, read_s=2) as crm:
        assert VERBS["READ"](crm).wait_s == seconds


def test_a_locked_record_is_left_alone_for_two_seconds_at_least():
    assert asked_of("WRITE", 423, b"")[0].wait_s == 2
    assert asked_of("WRITE", 423, b"", Retry_After="1")[0].wait_s == 2
    assert asked_of("WRITE", 423, b"", Retry_After="9")[0].wait_s == 9


RECORDED = error("RATE_LIMITS", "You have reached your secondly limit.")
DAILY = error("RATE_LIMITS", "You have reached your daily limit.")


def policy(name):
    return {"errorType": "RATE_LIMIT", "policyName": name, "groupName": "g", "message": "no"}


@pytest.mark.parametrize(
    ("body", "headers", "when_reading", "when_searching"),
    [
        (RECORDED, {}, "limit_burst", "limit_search"),
        (DAILY, {}, "limit_daily", "limit_daily"),
        (policy("TEN_SECONDLY_ROLLING"), {}, "limit_burst", "limit_burst"),
        (policy("SECONDLY"), {}, "limit_burst", "limit_search"),
        (policy("DAILY"), {}, "limit_daily", "limit_daily"),
        (b"", {"X-HubSpot-RateLimit-Daily-Remaining": "0"}, "limit_daily", "limit_daily"),
        (b"", {"X-HubSpot-RateLimit-Daily-Remaining": "9"}, "limit_burst", "limit_search"),
        (b"", {}, "limit_burst", "limit_search"),
    ],
)
def test_which_limit_was_met_is_told_in_both_shapes(body, headers, when_reading, when_searching):
    with crm_answered(Answered(429, body, headers)) as (crm, _):
        read = crm.find_deal(by="id", value="42")
        searched = crm.search_contacts(["5511955550142"])

    assert (read.kind, read.reason, read.wait_s) == (PAUSED, when_reading, None)
    assert (searched.kind, searched.reason, searched.wait_s) == (PAUSED, when_searching, None)


def test_an_answer_is_known_by_hubspots_id_or_by_that_of_the_edge():
    by_body, _ = asked_of("READ", 500, error(), X_HubSpot_Correlation_Id="second")
    by_header, _ = asked_of("READ", 500, HTML, X_HubSpot_Correlation_Id="second", CF_Ray="third")
    by_edge, _ = asked_of("READ", 502, HTML, CF_Ray="8f2-GRU")
    nobody, _ = asked_of("READ", 502, HTML, CF_Ray="not one word")

    assert by_body.correlation == "aeb5f871-7f07-4993-9211-075dc63e7cbf"
    assert (by_header.correlation, by_edge.correlation) == ("second", "8f2-GRU")
    assert nobody.correlation is None

"""Failures that others have met in public when records are created: over real sockets, what must not happen.

Source: research/crm.md §3. Each test has the name of the report, and asserts what stands in the account.
"""

import json
from concurrent.futures import ThreadPoolExecutor

import pytest

from handlers.simulators.hubspot import (
    BURST_LIMITED,
    CONTACTS,
    PHONE_KEY,
    REPLY_LOST,
    SESSION_KEY,
    Answer,
    Drop,
    Late,
    Page,
    Twice,
)
from tests.support.crm_deployment import CONTACTS_PATH, DEALS_PATH, deployed, human_contact
from tests.support.crm_world import PHONE

SEARCHES = "/crm/objects/*/search"
ASSOCIATIONS = "*/associations/*"


def statuses(entries):
    return [each.status for each in entries]


# Row 1: HubSpot/hubspot-api-php#59.
def test_issue_hubspot_api_php_59_a_search_that_is_late_makes_no_second_deal(tmp_path):
    with deployed(tmp_path, lag_s=(600.0, 600.0)) as world:
        world.start()
        world.turn()
        world.hubspot.script(REPLY_LOST, method="POST", path=DEALS_PATH)
        assert world.run().endings == {"uncertain": 1}
        world.pass_time(minutes=1)
        assert world.run().endings == {"synced": 1}

        assert world.asked("POST", "*/deals/search") == []
        assert statuses(world.creations()) == [None]
        assert world.row().deal_id == world.deal().id


# Row 1: HubSpot/hubspot-api-nodejs#545.
@pytest.mark.parametrize("shape", ["unique value", "existing id"])
def test_issue_hubspot_api_nodejs_545_a_conflict_names_who_is_there_already(tmp_path, shape):
    with deployed(tmp_path) as world:
        world.start()
        world.turn()
        if shape == "unique value":
            world.hubspot.script(Twice(), method="POST", path=CONTACTS_PATH)
        else:
            made = world.hubspot.people.create(CONTACTS, firstname="Ana", phone=f"+{PHONE}")
            told = {
                "status": "error",
                "category": "CONFLICT",
                "message": f"Contact already exists. Existing ID: {made}",
            }
            world.hubspot.script(
                Answer(status=409, body=json.dumps(told).encode()),
                method="POST",
                path=CONTACTS_PATH,
            )

        assert world.run().endings == {"synced": 1}
        assert world.contact().values[PHONE_KEY] == f"+{PHONE}"
        assert world.row().contact_id == world.contact().id
        assert len(world.creations(CONTACTS)) == 1


# Row 2: Flagsmith/flagsmith#5739, Flagsmith/flagsmith#5698.
@pytest.mark.parametrize("issue", ["flagsmith_5739_two_at_once", "flagsmith_5698_reply_lost"])
def test_issue_flagsmith_5739_an_index_that_is_late_makes_no_second_contact(tmp_path, issue):
    with deployed(tmp_path, lag_s=(600.0, 600.0)) as world:
        sessions = ["s-1", "s-2"] if issue.endswith("two_at_once") else ["s-1"]
        for session in sessions:
            world.start(session)
            world.turn(session)
        if issue.endswith("reply_lost"):
            world.hubspot.script(REPLY_LOST, method="POST", path=CONTACTS_PATH)
            assert world.run().endings == {"deferred": 1}
            world.pass_time(minutes=1)
        assert set(world.run().endings) == {"synced"}

        # Whoever creates one after a search found nothing says whose phone it is.
        assert len(world.asked("POST", SEARCHES)) == len(world.creations(CONTACTS)) == 1
        assert all(each.document["properties"][PHONE_KEY] for each in world.creations(CONTACTS))
        linked = [world.hubspot.contacts_of(world.deal(each).id) for each in sessions]
        assert linked == [[world.contact().id]] * len(sessions)


# Row 3: linuxfoundation/lfx-self-serve#2086.
@pytest.mark.parametrize(
    "fault",
    [
        Page(status=503),
        Page(status=503, executed=True),
        Drop(reset=True),
        REPLY_LOST,
        Late(after_s=30.0),
        Late(after_s=90.0),
    ],
    ids=str,
)
def test_issue_lfx_self_serve_2086_a_creation_in_doubt_is_settled_without_a_person(tmp_path, fault):
    with deployed(tmp_path) as world:
        world.start()
        world.turn()
        world.hubspot.script(fault, method="POST", path=DEALS_PATH)
        assert world.run().endings == {"uncertain": 1}
        for _ in range(4):
            world.pass_time(minutes=1)
            world.run()

        assert (world.row().status, world.row().deal_id) == ("SYNCED", world.deal().id)
        assert len(world.hubspot.deals()) == 1
        assert world.hubspot.late == 0
        assert world.events("s-1", "crm_operator_action") == []


# Row 3, without the unique property: what nobody can settle waits for a person.
def test_issue_lfx_self_serve_2086_without_a_key_a_person_is_asked(tmp_path):
    with deployed(tmp_path, keys=False) as world:
        world.start()
        world.turn()
        world.hubspot.script(REPLY_LOST, method="POST", path=DEALS_PATH)
        world.run()
        world.pass_time(days=2)

        assert world.run().rows == 0
        assert world.row().last_error["class"] == "creation_result_unknown"
        assert len(world.hubspot.deals()) == len(world.creations()) == 1


# Row 4: breatheco-de/breatheco-de#10934, a later step that fails.
@pytest.mark.parametrize(
    ("method", "path"), [("POST", CONTACTS_PATH), ("POST", DEALS_PATH), ("PUT", ASSOCIATIONS)]
)
def test_issue_breatheco_de_10934_what_was_done_is_not_done_again(tmp_path, method, path):
    with deployed(tmp_path, drop_associations=True) as world:
        world.start()
        world.turn()
        world.hubspot.script(REPLY_LOST, method=method, path=path)
        for _ in range(4):
            world.run()
            world.pass_time(minutes=2)

        assert world.row().status == "SYNCED"
        assert [len(world.creations(kind)) for kind in (CONTACTS, "deals")] == [1, 1]
        assert world.hubspot.contacts_of(world.deal().id) == [world.contact().id]


# Row 4: breatheco-de/breatheco-de#10934, two at once.
def test_issue_breatheco_de_10934_workers_at_once_make_one_deal_a_session(tmp_path):
    sessions = [f"s-{number}" for number in range(6)]
    with deployed(tmp_path) as world:
        for session in sessions:
            world.start(session)
            world.turn(session)
        mirrors = [world.mirror(world.adapter()) for _ in range(3)]
        with ThreadPoolExecutor(len(mirrors)) as pool:
            reports = list(pool.map(world.run, mirrors))
        assert [each.endings["lease_lost"] for each in reports] == [0, 0, 0]
        for _ in range(3):
            world.pass_time(minutes=6)
            world.run()

        assert {world.row(each).status for each in sessions} == {"SYNCED"}
        assert sorted(each.values[SESSION_KEY] for each in world.hubspot.deals()) == [
            f"test:{session}" for session in sessions
        ]
        assert len(world.creations()) == len(sessions)
        assert len(world.hubspot.contacts()) == 1


# Row 5: django-salesforce/django-salesforce#159.
def test_issue_django_salesforce_159_nothing_below_the_mirror_sends_a_creation_again(tmp_path):
    with deployed(tmp_path) as world:
        world.start()
        world.turn()
        hanging = Drop(executed=True, hang_s=60.0)
        world.hubspot.script(hanging, method="POST", path=DEALS_PATH)
        report = world.run(world.mirror(hubspot_timeout_seconds=1, hubspot_retry_max=5))

        assert report.endings == {"uncertain": 1}
        assert [each.executed for each in world.creations()] == [1]
        world.pass_time(minutes=1)
        assert world.run().endings == {"synced": 1}
        assert len(world.creations()) == 1


# Row 6: HubSpot/hubspot-api-python#117.
def test_issue_hubspot_api_python_117_a_creation_that_was_refused_is_sent_once_a_run(tmp_path):
    with deployed(tmp_path) as world:
        world.start()
        world.turn()
        world.hubspot.script(BURST_LIMITED, method="POST", path=DEALS_PATH)
        assert world.run().endings == {"paused": 1}
        assert statuses(world.creations()) == [429]
        assert world.row().attempts == 0
        assert not world.row().creation_started
        assert world.run().stopped == "account"
        assert len(world.creations()) == 1

        world.pass_time(seconds=11)
        assert world.run().endings == {"synced": 1}
        assert statuses(world.creations()) == [429, 201]
        assert world.row().deal_id == world.deal().id


# Row 11: chatwoot/chatwoot#13910.
def test_issue_chatwoot_13910_one_phone_is_one_contact_whatever_else_it_has(tmp_path):
    with deployed(tmp_path) as world:
        made = human_contact(world, phone="(11) 95555-0142", email="contas@example.com")
        world.start(name="Ana Lima")
        world.turn()

        assert world.run().endings == {"synced": 1}
        assert world.creations(CONTACTS) == []
        assert world.row().contact_id == world.contact().id == made
        assert world.contact().values[PHONE_KEY] == f"+{PHONE}"
        assert world.contact().values["email"] == "contas@example.com"
        assert world.hubspot.contacts_of(world.deal().id) == [made]


# Row 11, where a search finds several: nobody is chosen by chance.
def test_issue_chatwoot_13910_two_contacts_of_one_phone_are_for_a_person_to_tell(tmp_path):
    with deployed(tmp_path) as world:
        twins = [human_contact(world, phone=f"+{PHONE}") for _ in range(2)]
        world.start()
        world.turn()

        assert world.run().endings == {"blocked": 1}
        assert world.row().blocked_reason == "contact_ambiguous"
        assert all(twin in world.row().last_error["detail"] for twin in twins)
        assert world.hubspot.deals() == []
        assert [each for each in world.asked() if each.is_write] == []


# Row 12: chatwoot/chatwoot#5840, chatwoot/chatwoot#14657, devlikeapro/waha#1261.
@pytest.mark.parametrize("lead", ["5511985550142", "551185550142"])
@pytest.mark.parametrize(
    "written",
    [
        pytest.param("55 11 9 8555-0142", id="chatwoot_5840"),
        pytest.param("55 11 8555-0142", id="chatwoot_14657"),
        pytest.param("+551185550142", id="waha_1261"),
        pytest.param("(11) 8555-0142", id="waha_1261_national"),
    ],
)
def test_issue_chatwoot_5840_with_and_without_the_ninth_digit_is_one_contact(
    tmp_path, lead, written
):
    with deployed(tmp_path) as world:
        made = human_contact(world, phone=written)
        world.start(phone=lead)
        world.turn()

        assert world.run().endings == {"synced": 1}
        assert world.row().contact_id == world.contact().id == made
        assert world.contact().values[PHONE_KEY] == "+5511985550142"
        assert world.contact().values["phone"] == written, "what a person wrote stays"


# Row 13: glific/glific#5400.
@pytest.mark.parametrize("written", ["919855501423", "+919855501423", "+91 98555-01423"])
def test_issue_glific_5400_a_plus_makes_no_second_contact(tmp_path, written):
    with deployed(tmp_path, country="91") as world:
        made = human_contact(world, phone=written)
        world.start(phone="919855501423")
        world.turn()

        assert world.run().endings == {"synced": 1}
        assert world.row().contact_id == world.contact().id == made
        assert world.contact().values[PHONE_KEY] == "+919855501423"

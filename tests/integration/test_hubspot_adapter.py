"""HubSpot's adapter against the HubSpot that fits on a laptop: every method, and what goes wrong."""

from contextlib import contextmanager
from random import Random

import pytest

from adapters.hubspot.bootstrap import bootstrap
from adapters.hubspot.client import HubSpotClient
from adapters.hubspot.crm import HubSpotCrm
from adapters.hubspot.pacing import Pacer
from domain.crm.replies import Kind, Remote, Reply
from handlers.simulators.hubspot import (
    BURST_LIMITED,
    CONTACTS,
    DAILY_LIMITED,
    DEALS,
    FAILING,
    LOCKED,
    NEVER_SENT,
    REPLY_LOST,
    SEARCH_LIMITED,
    STAGES,
    Access,
    HubSpot,
    Late,
    Mangle,
    Page,
    Setup,
    Shapes,
    VirtualClock,
    migrating,
)
from tests.support.hubspot import CONTACT, EMAIL, PHONE, VERBS

NEW, SERVED = STAGES["novo_lead"], STAGES["atendimento_humano"]
DEAL = {
    "name": "Ana Souza",
    "stage": NEW,
    "key": "prod:session-1",
    "segment": "leite",
    "intent": "compra",
    "notes": "raca: Gir",
}


@contextmanager
def playing(token=None, read_only=False, **setup):
    """An account, its clock, and the adapter that asks it; nobody waits for a turn."""
    clock = VirtualClock()
    told = Setup(**{"burst": 10**6, "searches": 10**6, **setup})
    with HubSpot(told, random=Random(7), now=clock) as account:
        client = HubSpotClient(
            token or account.token,
            base_url=account.url,
            read_s=5,
            pacer=Pacer(lambda: 0.0, lambda _: None),
            read_only=read_only,
        )
        crm = HubSpotCrm(client)
        try:
            yield crm, account, clock
        finally:
            crm.close()


def linked(crm):
    """A contact and its deal, made by the adapter: their ids."""
    contact = crm.create_contact(CONTACT)
    deal = crm.create_deal(DEAL, contact.record.id)
    return contact.record.id, deal.record.id


def test_what_is_written_is_read_back():
    with playing() as (crm, account, _):
        contact_id, deal_id = linked(crm)
        contact = crm.find_contact(by="id", value=contact_id)
        deal = crm.find_deal(by="key", value="prod:session-1")

        assert contact.record == Remote(id=contact_id, properties=CONTACT)
        assert deal.record == Remote(id=deal_id, properties=DEAL, contact_ids=(contact_id,))
        assert account.contacts_of(deal_id) == [contact_id]
        for by, value in (("phone_key", f"+{PHONE}"), ("email", EMAIL)):
            assert crm.find_contact(by=by, value=value).record == contact.record


def test_what_is_changed_leaves_the_rest():
    with playing() as (crm, _, _):
        contact_id, deal_id = linked(crm)
        crm.update_contact(contact_id, {"name": "Ana Lima", "email": ""})
        echo = crm.update_deal(deal_id, {"stage": SERVED, "intent": "venda"})
        deal = crm.find_deal(by="id", value=deal_id)

        assert echo.record.properties["stage"] == SERVED
        assert deal.record.properties == {**DEAL, "stage": SERVED, "intent": "venda"}
        assert crm.find_contact(by="id", value=contact_id).record.properties == {
            "phone": PHONE,
            "phone_key": f"+{PHONE}",
            "name": "Ana Lima",
        }


def test_a_second_creation_is_refused_and_names_the_first():
    for shape in ("coordinates", "validation"):
        with playing(shapes=Shapes(conflict=shape)) as (crm, account, _):
            contact_id, deal_id = linked(crm)
            again = crm.create_deal(DEAL, contact_id)

            assert (again.kind, again.holder_id, again.invalid) == (
                Kind.CONFLICT,
                deal_id,
                ("key",),
            )
            assert len(account.deals()) == 1


@pytest.mark.parametrize("shape", ["message", "identity"])
def test_an_e_mail_of_another_contact_names_it(shape):
    with playing(shapes=Shapes(email=shape)) as (crm, _, _):
        contact_id, _ = linked(crm)
        other = {"email": EMAIL, "name": "Ana", "phone_key": "+5511955550143"}
        again = crm.create_contact(other)

        assert (again.kind, again.holder_id) == (Kind.CONFLICT, contact_id)


def test_a_contact_is_found_by_any_way_of_writing_its_phone_once_it_is_indexed():
    with playing() as (crm, account, clock):
        ana = account.people.create(CONTACTS, firstname="Ana", phone="+55 (11) 95555-0142")
        rui = account.people.create(CONTACTS, firstname="Rui", mobilephone="(11) 5555-0142")
        account.people.create(CONTACTS, firstname="Eva", phone="+5511955550143")
        early = crm.search_contacts([PHONE, "551155550142"])
        clock.advance(60)
        late = crm.search_contacts([PHONE, "551155550142"])

        assert (early.kind, early.records) == (Kind.DONE, ())
        assert {each.id for each in late.records} == {ana, rui}


def test_what_people_deleted_or_merged_is_told():
    with playing() as (crm, account, _):
        contact_id, deal_id = linked(crm)
        twin = account.people.create_deal(
            contact_id, dealname="Ana", dealstage=NEW, pipeline="default"
        )
        left = account.people.merge(DEALS, deal_id, twin)
        merged = crm.find_deal(by="id", value=deal_id)
        changed = crm.update_deal(deal_id, {"stage": SERVED})
        account.people.archive(DEALS, left)
        gone = crm.find_deal(by="id", value=left)
        archived = crm.find_deal(by="id", value=left, archived=True)

        assert left not in (deal_id, twin)
        assert merged.record.id == changed.record.id == left
        assert gone.kind is Kind.ABSENT
        assert archived.record.archived
        assert crm.update_deal(left, {"stage": NEW}).kind is Kind.ABSENT


def test_many_deals_are_read_by_key_and_those_that_are_not_there_are_missing():
    with playing() as (crm, _, _):
        contact_id, deal_id = linked(crm)
        second = crm.create_deal({**DEAL, "key": "prod:session-2"}, contact_id)
        found = crm.find_deals(["prod:session-1", "prod:none", "prod:session-2"])
        nothing = crm.find_deals(["prod:none"])

        assert {each.id for each in found.records} == {deal_id, second.record.id}
        assert (nothing.kind, nothing.records) == (Kind.DONE, ())


def test_a_deal_is_associated_and_twice_changes_nothing():
    with playing(drop_associations=True) as (crm, account, _):
        contact_id, deal_id = linked(crm)
        assert account.contacts_of(deal_id) == []

        assert crm.associate(deal_id, contact_id).kind is Kind.DONE
        assert crm.associate(deal_id, contact_id).kind is Kind.DONE
        assert account.contacts_of(deal_id) == [contact_id]
        assert crm.associate(deal_id, "999").kind is Kind.ABSENT
        assert crm.create_deal({**DEAL, "key": "prod:x"}, "999").kind is Kind.ABSENT


def test_the_stages_of_the_pipeline_are_read():
    with playing() as (crm, account, _):
        assert crm.pipeline().stage_ids == tuple(STAGES.values())
        account.people.remove_stage(SERVED)
        assert SERVED not in crm.pipeline().stage_ids


@pytest.mark.parametrize("shape", ["errors", "message"])
def test_a_stage_that_is_none_is_named(shape):
    with playing(shapes=Shapes(validation=shape)) as (crm, _, _):
        _, deal_id = linked(crm)
        reply = crm.update_deal(deal_id, {"stage": "4711"})

        assert (reply.kind, reply.invalid) == (Kind.INVALID, ("stage",))


def test_what_an_administrator_requires_is_named():
    with playing(required={DEALS: ("dealtype",)}) as (crm, _, _):
        contact = crm.create_contact(CONTACT)
        reply = crm.create_deal(DEAL, contact.record.id)

        assert (reply.kind, reply.invalid) == (Kind.INVALID, ("dealtype",))


def test_the_keys_an_account_needs_are_made_once():
    with playing(keys=False) as (crm, account, _):
        client = HubSpotClient(account.token, base_url=account.url)
        assert crm.has_unique_key("deal") is False
        assert [step.state for step in bootstrap(client)] == ["missing"] * 2
        assert [step.state for step in bootstrap(client, apply=True)] == ["created"] * 2
        assert [step.state for step in bootstrap(client, apply=True)] == ["stands"] * 2
        assert crm.has_unique_key("deal") is True
        assert crm.has_unique_key("contact") is True
        client.close()


@pytest.mark.parametrize(
    ("setup", "token", "reason"),
    [
        ({}, "nobody-was-given-this", "token_refused"),
        ({"access": (Access(expired_at="2026-01-01T00:00:00.000000Z"),)}, None, "token_expired"),
        ({"access": (Access(scopes=frozenset()),)}, None, "scopes_missing"),
        ({"gone": frozenset({"2026-09"})}, None, "endpoint_gone"),
    ],
)
def test_a_fault_of_the_account_is_told_from_one_of_a_record(setup, token, reason):
    with playing(token=token, **setup) as (crm, _, _):
        replies = [act(crm) for act in VERBS.values()]

        assert [(reply.kind, reply.reason) for reply in replies] == [(Kind.BREAKER, reason)] * 3


MAYBE = {"READ": Kind.TRANSIENT, "WRITE": Kind.AMBIGUOUS, "CREATE": Kind.AMBIGUOUS}
PAUSED = dict.fromkeys(VERBS, Kind.PAUSED)


@pytest.mark.parametrize("verb", VERBS)
@pytest.mark.parametrize(
    ("fault", "kinds"),
    [
        (NEVER_SENT, MAYBE),
        (REPLY_LOST, MAYBE),
        (Late(), MAYBE),
        (Mangle(how="cut"), MAYBE),
        (Mangle(how="gzip"), MAYBE),
        (Mangle(how="garbage"), MAYBE),
        (Mangle(how="html"), MAYBE),
        (Mangle(how="empty"), MAYBE),
        (Page(status=502), MAYBE),
        (Page(status=524, executed=True), MAYBE),
        (FAILING, MAYBE),
        (LOCKED, dict.fromkeys(VERBS, Kind.TRANSIENT)),
        (BURST_LIMITED, PAUSED),
        (DAILY_LIMITED, PAUSED),
        (SEARCH_LIMITED, PAUSED),
        (migrating(60), PAUSED),
    ],
)
def test_what_goes_wrong_means_the_same_here_as_there(verb, fault, kinds):
    with playing() as (crm, account, _):
        contact_id, deal_id = linked(crm)
        acts = {
            "READ": lambda: crm.find_deal(by="id", value=deal_id),
            "WRITE": lambda: crm.update_deal(deal_id, {"stage": SERVED}),
            "CREATE": lambda: crm.create_deal({**DEAL, "key": "prod:session-2"}, contact_id),
        }
        before = len(account.journal)
        account.script(fault)
        reply = acts[verb]()

        assert reply.kind is kinds[verb]
        assert len(account.journal) == before + 1


def test_nobody_listening_means_not_sent():
    with playing() as (crm, account, _), account.refusing():
        assert crm.create_contact(CONTACT) == Reply(kind=Kind.NOT_SENT, reason="not_sent")


def test_a_client_that_only_reads_leaves_no_trace():
    with playing(read_only=True) as (crm, account, _):
        refused = [crm.create_contact(CONTACT), crm.update_deal("1", {"stage": NEW})]
        assert {reply.reason for reply in refused} == {"read_only"}
        assert crm.find_deals(["prod:x"]).kind is Kind.DONE
        assert [entry.method for entry in account.journal] == ["POST"]
        assert account.contacts() == []


def test_the_pacer_keeps_below_the_limits_of_the_account():
    clock = VirtualClock()
    with HubSpot(Setup(burst=20, lag_s=(0, 0)), random=Random(7), now=clock) as account:
        time = [0.0]

        def sleep(seconds):
            time[0] += seconds
            clock.advance(seconds)

        client = HubSpotClient(
            account.token, base_url=account.url, pacer=Pacer(lambda: time[0], sleep)
        )
        crm = HubSpotCrm(client)
        reads = [crm.has_unique_key("deal") for _ in range(60)]
        searches = [crm.search_contacts([PHONE]).kind for _ in range(20)]
        crm.close()

        assert reads == [True] * 60
        assert searches == [Kind.DONE] * 20
        assert {entry.status for entry in account.journal} == {200}
        assert time[0] > 0

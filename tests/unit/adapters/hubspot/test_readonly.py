"""A client that only reads sends nothing else, whatever it is told."""

import httpx2
import pytest

from adapters.hubspot.client import HubSpotClient
from adapters.hubspot.readonly import ReadOnly, WriteRefused
from adapters.hubspot.wire import Request, Verb
from domain.crm.replies import Kind, Reply
from tests.support.http_server import Reply as Answered
from tests.support.http_server import http_server
from tests.support.hubspot import CONTACT, DEAL, TOKEN, crm_answered, crm_at, record

REFUSED = Reply(kind=Kind.REFUSED, reason="read_only")

READS = {
    "find_contact": lambda crm: crm.find_contact(by="id", value="31"),
    "search_contacts": lambda crm: crm.search_contacts(["5511955550142"]),
    "find_deal": lambda crm: crm.find_deal(by="key", value="k"),
    "find_deals": lambda crm: crm.find_deals(["k"]),
    "search_deals": lambda crm: crm.search_deals("31"),
    "pipeline": lambda crm: crm.pipeline(),
    "has_unique_key": lambda crm: crm.has_unique_key("deal"),
}
WRITES = {
    "create_contact": lambda crm: crm.create_contact(CONTACT),
    "update_contact": lambda crm: crm.update_contact("31", {"name": "Ana"}),
    "create_deal": lambda crm: crm.create_deal(DEAL, "31"),
    "update_deal": lambda crm: crm.update_deal("42", {"stage": "1"}),
    "associate": lambda crm: crm.associate("42", "31"),
}


@pytest.mark.parametrize("name", WRITES)
def test_nothing_that_changes_something_leaves(name):
    with crm_answered(Answered(200, record()), read_only=True) as (crm, server):
        assert WRITES[name](crm) == REFUSED
    assert server.asked == []


@pytest.mark.parametrize("prefix", ["", "/hub"])
@pytest.mark.parametrize("name", READS)
def test_everything_that_reads_leaves(name, prefix):
    with http_server(Answered(200, record())) as server:
        with crm_at(server.url + prefix, read_only=True) as crm:
            READS[name](crm)

        assert len(server.asked) == 1


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("POST", "/crm/objects/2026-09/deals/batch/upsert"),
        ("POST", "/crm/objects/2026-09/deals/batch/read/../create"),
        ("POST", "/crm/objects/2026-09/deals/batch%2Fread"),
        ("POST", "/crm/objects/2026-09/deals?x=/batch/read"),
        ("POST", "/crm/objects/2026-09/deals/search/"),
        ("POST", "/crm/objects/2026-09/deals/search\n"),
        ("POST", "/crm/properties/2026-09/deals"),
        ("DELETE", "/crm/objects/2026-09/deals/42"),
        ("PUT", "/crm/objects/2026-09/deals/batch/read"),
        ("DELETE", "/crm/objects/2026-09/deals/search"),
        ("PATCH", "/crm/objects/2026-09/deals/search"),
    ],
)
def test_what_only_looks_like_a_reading_does_not_leave(method, path):
    with http_server(Answered(200, record())) as server:
        client = HubSpotClient(TOKEN, base_url=server.url, read_only=True)
        reply = client.ask(Request(verb=Verb.READ, method=method, path=path))
        client.close()

    assert reply in (REFUSED, Reply(kind=Kind.REFUSED, reason="client_bug"))
    assert server.asked == []


def test_the_list_holds_below_the_client_too():
    reached = []

    def carry(request):
        reached.append(request.method)
        return httpx2.Response(200)

    with httpx2.Client(transport=ReadOnly(httpx2.MockTransport(carry))) as http:
        http.get("https://example.com/x")
        with pytest.raises(WriteRefused):
            http.post("https://example.com/crm/objects/2026-09/deals")

    assert reached == ["GET"]

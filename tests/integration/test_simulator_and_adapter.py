"""The WhatsApp adapter against the simulator: each understands what the other one makes."""

from collections import Counter

import pytest

from adapters.whatsapp.client import WhatsAppChannel
from adapters.whatsapp.parsing import parse
from adapters.whatsapp.signature import challenge, verify
from domain.conversation.delivery import (
    Accepted,
    ErrorClass,
    NotAccepted,
    OutboundText,
    Unknown,
)
from domain.conversation.inbound import (
    AddressChange,
    ChannelNotice,
    ConsentChange,
    HistoryMessage,
    InboundMessage,
    MessageChange,
    MessageEcho,
    MessageStatus,
)
from handlers.simulators.whatsapp import (
    PRESETS,
    Break,
    LoseReply,
    Refuse,
    StatusPlan,
    StatusStep,
    WebhookFault,
)
from tests.support.webhook import APP_SECRET, VERIFY_TOKEN, endpoint
from tests.support.whatsapp import ANA, ANA_ID, BRUNO, NOON, PATIENCE_S, TOKEN, send, simulating

ACCOUNT = "109876543210987"


@pytest.fixture
def service():
    with endpoint() as own:
        yield own


@pytest.fixture
def simulator(service):
    with simulating(service.url) as own:
        yield own


@pytest.fixture
def channel(simulator):
    own = WhatsAppChannel(TOKEN, version="v23.0", base_url=simulator.url, read_s=5)
    yield own
    own.close()


def items_of(service):
    """What the adapter reads in everything that came; all of it must be genuine."""
    read = []
    for webhook in service.webhooks:
        assert verify(webhook.body, webhook.signature, [APP_SECRET.encode()])
        delivery = parse(webhook.body, NOON)
        assert delivery.problem is None
        read += delivery.items
    return read


def outbound(text="Olá!", to=ANA, outbound_id="out_1"):
    return OutboundText(outbound_id=outbound_id, account=ACCOUNT, to=to, text=text)


def everything(simulator, ana):
    """Do all a person and a business can do."""
    ana.say("Oi", quoting="wamid.1")
    for kind in ("image", "video", "document", "sticker", "audio"):
        ana.media(kind, "legenda" if kind in {"image", "video", "document"} else None)
    ana.location(-23.5, -46.25)
    ana.card("Bruno Exemplo", BRUNO)
    ana.order("whey_1kg", 2, 89.9)
    ana.press("Sim")
    ana.choose("Whey", description="1 kg")
    ana.answer_form({"nome": "Ana"})
    ana.reply_to_template("Quero")
    ana.arrive_from_ad("Vi o anúncio", "clique-1")
    ana.say_in_group("120363000000000000", "Oi, grupo")
    ana.say("em outro lugar", elsewhere=True)
    ana.react("wamid.1")
    ana.react("wamid.1", None)
    ana.edit("wamid.1", "dois")
    ana.revoke("wamid.1")
    ana.unsupported()
    ana.prefer("stop")
    simulator.echo(ANA, "Aqui é o dono")
    simulator.history(ANA, "Oi", "Olá")
    simulator.notify("account_update", {"event": "VERIFIED_ACCOUNT"})
    simulator.customer(ANA_ID).say("sem telefone")
    ana.change_user_id("BR.999")
    ana.change_number("5521955550142")
    send(simulator, to=BRUNO)


def test_every_shape_the_simulator_makes_is_understood(simulator, service):
    with simulator.paused():
        everything(simulator, simulator.customer(ANA, name="Ana Exemplo"))
    assert simulator.settle(PATIENCE_S)
    items = items_of(service)

    assert Counter(type(item) for item in items) == {
        InboundMessage: 17,
        MessageChange: 4,
        ChannelNotice: 2,
        ConsentChange: 1,
        MessageEcho: 1,
        HistoryMessage: 2,
        AddressChange: 2,
        MessageStatus: 3,
    }
    assert not [item for item in items if isinstance(item, ChannelNotice) and item.strange]
    assert len({item.external_event_id for item in items}) == len(items)
    assert {item.account for item in items} <= {ACCOUNT, ""}
    messages = [item for item in items if isinstance(item, InboundMessage)]
    assert [item.text for item in messages if item.media_type == "text"] == [
        *("Oi", "Vi o anúncio", "Oi, grupo", "em outro lugar", "sem telefone")
    ]
    assert [item.reply_to for item in messages if item.text == "sem telefone"] == [ANA_ID]
    assert [item.held_elsewhere for item in messages].count(True) == 1
    statuses = [item for item in items if isinstance(item, MessageStatus)]
    assert [item.status for item in statuses] == ["sent", "delivered", "read"]
    assert {item.outbound_id for item in statuses} == {"out_1"}


@pytest.mark.parametrize("layout", ["messages", "changes", "entries"])
def test_no_item_of_a_batch_is_lost_and_copies_are_the_same_items(simulator, service, layout):
    ana = simulator.customer(ANA)
    with simulator.paused(), simulator.together(layout):
        everything(simulator, ana)
    simulator.next_webhook(WebhookFault(copies=2))
    ana.say("de novo")
    assert simulator.settle(PATIENCE_S)
    ids = [item.external_event_id for item in items_of(service)]

    assert len(ids) == 32 + 2
    assert len(set(ids)) == 32 + 1


def test_under_many_faults_everything_said_is_read_once_or_more(service):
    with simulating(service.url, faults=PRESETS["many"]) as simulator:
        said = {simulator.say(ANA, str(number)) for number in range(50)}
        assert simulator.settle(PATIENCE_S)
        read = [item.external_event_id for item in items_of(service)]

        assert set(read) == said


def test_a_failed_status_tells_its_class(simulator, service):
    failed = StatusStep(status="failed", error_code=131026)
    simulator.next_statuses(StatusPlan(steps=(failed,)))
    send(simulator)
    assert simulator.settle(PATIENCE_S)

    (item,) = items_of(service)
    assert isinstance(item, MessageStatus)
    assert (item.status, item.error_class, item.error_code) == (
        "failed",
        ErrorClass.RECIPIENT,
        131026,
    )


def test_the_challenge_the_adapter_gives_is_the_one_asked_for(simulator):
    asked, _ = simulator.ask_challenge()
    query = {"hub.mode": "subscribe", "hub.verify_token": VERIFY_TOKEN, "hub.challenge": asked}

    assert challenge(query, VERIFY_TOKEN) == asked


def test_the_channel_sends_to_a_phone_and_to_a_user_id(simulator, channel):
    to_phone = channel.send(outbound("Olá 😀"))
    to_user_id = channel.send(outbound(to=ANA_ID, outbound_id="out_2"))

    assert isinstance(to_phone, Accepted)
    assert isinstance(to_user_id, Accepted)
    (received,) = simulator.received(ANA)
    assert (received.text, received.outbound_id) == ("Olá 😀", "out_1")
    assert received.message_id == to_phone.message_id
    assert (to_phone.wa_id, to_user_id.wa_id, to_user_id.user_id) == (ANA, None, ANA_ID)
    assert [each.outbound_id for each in simulator.received(ANA_ID)] == ["out_2"]


def test_the_channel_shows_that_it_types(simulator, channel):
    message_id = simulator.say(ANA, "Oi")
    channel.typing(ACCOUNT, message_id)

    assert [(each.message_id, each.typing) for each in simulator.reads] == [(message_id, True)]


@pytest.mark.parametrize(
    ("fault", "error_class"),
    [
        (Refuse(code=131056), ErrorClass.PAIR),
        (Refuse(code=130429), ErrorClass.THROUGHPUT),
        (Refuse(code=131016), ErrorClass.TRANSIENT),
        (Refuse(code=131047), ErrorClass.WINDOW),
        (Refuse(code=190), ErrorClass.ACCOUNT),
    ],
)
def test_the_channel_knows_what_was_certainly_not_sent(simulator, channel, fault, error_class):
    simulator.next_send(fault)
    result = channel.send(outbound())

    assert isinstance(result, NotAccepted)
    assert (result.error_class, result.error_code) == (error_class, fault.code)
    assert simulator.received(ANA) == []


@pytest.mark.parametrize("fault", [LoseReply(), Break(delivered=True), Break(delivered=False)])
def test_the_channel_says_when_it_does_not_know(simulator, service, channel, fault):
    simulator.next_send(fault)
    result = channel.send(outbound())
    assert simulator.settle(PATIENCE_S)

    assert isinstance(result, Unknown)
    arrived = len(simulator.received(ANA))
    assert arrived == (fault == LoseReply() or fault.delivered)
    told = [item for item in items_of(service) if isinstance(item, MessageStatus)]
    assert {item.outbound_id for item in told} == ({"out_1"} if arrived else set())

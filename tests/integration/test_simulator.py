"""The WhatsApp simulator, over real sockets on loopback, as the service and a client see it."""

import json
import threading
from itertools import pairwise
from random import Random

import pytest

from handlers.simulators.whatsapp import (
    PRESETS,
    Break,
    Faults,
    LoseReply,
    Number,
    Person,
    Received,
    Refuse,
    Setup,
    Simulator,
    StatusPlan,
    StatusStep,
    WebhookFault,
)
from handlers.simulators.whatsapp.webhooks import GIVE_UP_S
from tests.support.webhook import endpoint
from tests.support.whatsapp import (
    ANA,
    ANA_ID,
    BRUNO,
    NOON,
    PATIENCE_S,
    TOKEN,
    HandClock,
    call,
    post,
    send,
    simulating,
)

NOON_S = "1774008000"


@pytest.fixture
def service():
    with endpoint() as own:
        yield own


@pytest.fixture
def simulator(service):
    with simulating(service.url) as own:
        yield own


@pytest.fixture
def ana(simulator):
    return simulator.customer(ANA, name="Ana Exemplo")


def settled(simulator):
    assert simulator.settle(PATIENCE_S)


def test_a_text_comes_signed_and_in_the_shape_of_a_webhook(simulator, service, ana):
    message_id = ana.say("Olá 😀 https://exemplo.com/a@b.c")
    settled(simulator)

    (webhook,) = service.webhooks
    assert webhook.genuine
    assert b"https:\\/\\/exemplo.com" in webhook.body
    assert webhook.document == {
        "object": "whatsapp_business_account",
        "entry": [
            {
                "id": "201234567890123",
                "changes": [
                    {
                        "field": "messages",
                        "value": {
                            "messaging_product": "whatsapp",
                            "metadata": {
                                "display_phone_number": "551155550100",
                                "phone_number_id": "109876543210987",
                            },
                            "contacts": [
                                {
                                    "profile": {"name": "Ana Exemplo"},
                                    "wa_id": ANA,
                                    "user_id": ana.person.user_id,
                                }
                            ],
                            "messages": [
                                {
                                    "from": ANA,
                                    "from_user_id": ana.person.user_id,
                                    "id": message_id,
                                    "timestamp": NOON_S,
                                    "type": "text",
                                    "text": {"body": "Olá 😀 https://exemplo.com/a@b.c"},
                                }
                            ],
                        },
                    }
                ],
            }
        ],
    }
    (posted,) = simulator.deliveries
    assert (posted.body, posted.signature) == (webhook.body, webhook.signature)
    assert (posted.attempt, posted.answer.status) == (1, 200)
    assert posted.item_ids == (message_id,)


MESSAGES = {
    "image": lambda ana: ana.image("o comprovante"),
    "audio": lambda ana: ana.media("audio"),
    "document": lambda ana: ana.media("document", filename="exemplo.pdf"),
    "location": lambda ana: ana.location(-23.5, -46.25),
    "contacts": lambda ana: ana.card("Bruno Exemplo", BRUNO),
    "order": lambda ana: ana.order("whey_1kg", 2, 89.5),
    "interactive": lambda ana: ana.press("Sim", quoting="wamid.1"),
    "button": lambda ana: ana.reply_to_template("Quero"),
    "reaction": lambda ana: ana.react("wamid.1", "👍"),
    "edit": lambda ana: ana.edit("wamid.1", "na verdade, dois"),
    "revoke": lambda ana: ana.revoke("wamid.1"),
    "unsupported": lambda ana: ana.unsupported("poll"),
}


@pytest.mark.parametrize("kind", MESSAGES)
def test_every_kind_of_message_is_signed_and_says_its_kind(simulator, service, ana, kind):
    message_id = MESSAGES[kind](ana)
    settled(simulator)

    (webhook,) = service.webhooks
    assert webhook.genuine
    (item,) = webhook.items()
    assert (item["id"], item["type"], item["from"]) == (message_id, kind, ANA)
    assert item["timestamp"] == NOON_S
    assert kind in item


def test_the_parts_of_each_kind_say_what_was_done(simulator, service, ana):
    ana.image("o comprovante")
    ana.image()
    ana.press("Sim", key="yes", quoting="wamid.1")
    ana.choose("Whey", key="whey_1kg")
    ana.choose("Whey", key="whey_1kg", description="1 kg")
    ana.answer_form({"nome": "Ana"})
    ana.react("wamid.1", None)
    ana.edit("wamid.1", "na verdade, dois")
    ana.say_in_group("120363000000000000", "Oi, grupo")
    ana.arrive_from_ad("Vi o anúncio", "clique-1")
    settled(simulator)
    captioned, plain, button, row, described, form, reaction, edit, group, ad = service.items()

    assert captioned["image"]["caption"] == "o comprovante"
    assert "caption" not in plain["image"]
    assert captioned["image"]["id"] != plain["image"]["id"]
    assert button["interactive"]["button_reply"] == {"id": "yes", "title": "Sim"}
    assert button["context"] == {"from": "551155550100", "id": "wamid.1"}
    assert row["interactive"] == {
        "type": "list_reply",
        "list_reply": {"id": "whey_1kg", "title": "Whey"},
    }
    assert described["interactive"]["list_reply"]["description"] == "1 kg"
    assert json.loads(form["interactive"]["nfm_reply"]["response_json"]) == {"nome": "Ana"}
    assert reaction["reaction"] == {"message_id": "wamid.1"}
    assert edit["edit"] == {
        "original_message_id": "wamid.1",
        "message": {"type": "text", "text": {"body": "na verdade, dois"}},
    }
    assert group["group_id"] == "120363000000000000"
    assert ad["referral"]["ctwa_clid"] == "clique-1"


def test_a_person_without_a_phone_is_known_by_its_user_id_alone(simulator, service):
    simulator.customer(ANA_ID, name="Ana Exemplo").say("Oi")
    sent = send(simulator, to=None, recipient=ANA_ID)
    settled(simulator)

    assert service.webhooks[0].values[0]["contacts"] == [
        {"profile": {"name": "Ana Exemplo"}, "user_id": ANA_ID}
    ]
    (item,) = service.items()
    assert "from" not in item
    assert item["from_user_id"] == ANA_ID
    assert sent.document["contacts"] == [{"input": ANA_ID, "user_id": ANA_ID}]
    for status in service.items("statuses"):
        assert "recipient_id" not in status
        assert status["recipient_user_id"] == ANA_ID
    assert [each.text for each in simulator.received(ANA_ID)] == ["Olá!"]


def test_a_person_from_before_user_ids_has_none(simulator, service):
    simulator.introduce(Person(phone=ANA, user_id=None, name="Ana Exemplo")).say("Oi")
    settled(simulator)

    assert "from_user_id" not in service.items()[0]
    assert "user_id" not in service.webhooks[0].values[0]["contacts"][0]


def test_who_changes_its_number_is_reached_at_the_new_one(simulator, service, ana):
    ana.say("Oi")
    old_id = ana.person.user_id
    ana.change_number("5521955550142")
    ana.say("Sou eu, com outro número")
    settled(simulator)
    _, change, after = service.items()

    assert (change["from"], change["system"]["type"]) == (ANA, "user_changed_number")
    assert change["system"]["wa_id"] == "5521955550142"
    assert change["system"]["previous_user_id"] == old_id
    assert change["system"]["user_id"] == after["from_user_id"] != old_id
    assert after["from"] == "5521955550142"
    assert "contacts" not in service.webhooks[1].values[0]
    send(simulator, to="5521955550142", text="para o novo")
    send(simulator, to=ANA, text="para o velho")
    assert [each.text for each in ana.received] == ["para o novo"]


def test_a_user_id_can_change_alone(simulator, service, ana):
    old_id = ana.person.user_id
    ana.change_user_id("BR.999")
    settled(simulator)
    send(simulator)

    (item,) = service.items()
    assert item["system"]["type"] == "user_changed_user_id"
    assert item["system"]["user_id"] == ana.person.user_id == "BR.999"
    assert ana.person.phone == ANA
    assert len(simulator.received("BR.999")) == 1
    assert simulator.received(old_id) == []


def test_what_is_not_a_message_comes_under_its_own_field(simulator, service, ana):
    ana.prefer("stop")
    echo_id = simulator.echo(ANA, "Aqui é o dono")
    past = simulator.history(ANA, "Oi", "Olá, Ana", "Preço?")
    ana.say("Oi", elsewhere=True)
    simulator.notify("account_update", {"event": "VERIFIED_ACCOUNT"})
    settled(simulator)

    assert all(webhook.genuine for webhook in service.webhooks)
    changes = [webhook.document["entry"][0]["changes"][0] for webhook in service.webhooks]
    assert [change["field"] for change in changes] == [
        *("user_preferences", "smb_message_echoes", "history", "standby", "account_update")
    ]
    preference, echo, history, standby, notice = (change["value"] for change in changes)
    assert preference["user_preferences"][0]["value"] == "stop"
    assert preference["user_preferences"][0]["timestamp"] == int(NOON_S)
    (echoed,) = echo["message_echoes"]
    assert (echoed["from"], echoed["to"], echoed["id"]) == ("551155550100", ANA, echo_id)
    assert echoed["text"] == {"body": "Aqui é o dono"}
    (thread,) = history["history"][0]["threads"]
    assert [message["id"] for message in thread["messages"]] == past
    assert [message["from"] for message in thread["messages"]] == [ANA, "551155550100", ANA]
    assert standby["messages"][0]["text"] == {"body": "Oi"}
    assert notice == {"event": "VERIFIED_ACCOUNT"}


@pytest.mark.parametrize("layout", ["messages", "changes", "entries"])
def test_what_is_done_together_comes_in_one_post(simulator, service, ana, layout):
    with simulator.together(layout):
        first = ana.say("um")
        second = simulator.say(BRUNO, "dois")
    settled(simulator)

    (webhook,) = service.webhooks
    assert webhook.genuine
    assert [item["id"] for item in webhook.items()] == [first, second]
    entries = webhook.document["entry"]
    shape = (len(entries), len(entries[0]["changes"]), len(webhook.values[0]["messages"]))
    assert shape == {"messages": (1, 1, 2), "changes": (1, 2, 1), "entries": (2, 1, 1)}[layout]


def test_an_item_held_back_shares_the_post_of_the_next(simulator, service, ana):
    with simulator.paused():
        simulator.next_webhook(WebhookFault(layout="messages"))
        first = ana.say("um")
        second = ana.say("dois")
    settled(simulator)
    simulator.next_webhook(WebhookFault(layout="messages"))
    third = ana.say("três")
    settled(simulator)

    assert [[item["id"] for item in each.items()] for each in service.webhooks] == [
        [first, second],
        [third],
    ]


def test_a_message_and_the_statuses_of_another_can_share_a_value(simulator, service, ana):
    with simulator.paused():
        simulator.next_webhook(WebhookFault(layout="messages"))
        ana.say("um")
        send(simulator)
    settled(simulator)

    (value,) = service.webhooks[0].values
    assert len(value["messages"]) == len(value["statuses"]) == 1


def test_a_webhook_comes_again_until_it_is_answered_with_2xx(simulator, service, ana):
    service.answers.extend([500, None, 401, 302, 404])
    message_id = ana.say("Oi")
    settled(simulator)

    assert len(service.webhooks) == 6
    assert len({(webhook.body, webhook.signature) for webhook in service.webhooks}) == 1
    assert [each.answer.status for each in simulator.deliveries] == [500, None, 401, 302, 404, 200]
    assert [each.attempt for each in simulator.deliveries] == [1, 2, 3, 4, 5, 6]
    assert {each.item_ids for each in simulator.deliveries} == {(message_id,)}
    assert simulator.given_up == 0


def test_a_service_that_never_answers_is_given_up_after_seven_days(ana, simulator):
    simulator.aim("http://127.0.0.1:1/nobody")
    ana.say("Oi")
    settled(simulator)

    tries = simulator.deliveries
    assert {each.answer.error for each in tries} == {"ConnectionRefusedError"}
    # Doubling from a second to an hour, then every hour.
    assert len(tries) == 1 + 12 + (GIVE_UP_S - (2**12 - 1)) // 3600
    assert simulator.given_up == 1


def test_a_slow_service_counts_as_one_that_did_not_answer(service):
    release = threading.Event()
    take = service.take

    def slow(webhook):
        answer = take(webhook)
        if len(service.webhooks) == 1:
            release.wait(PATIENCE_S)
        return answer

    service.take = slow
    with simulating(service.url, timeout_s=0.1) as simulator:
        simulator.say(ANA, "Oi")
        settled(simulator)
        release.set()

        assert [each.answer.error for each in simulator.deliveries] == ["TimeoutError", ""]


def test_a_copy_has_the_same_items_in_other_bytes(simulator, service, ana):
    simulator.next_webhook(WebhookFault(copies=3))
    ana.say("Oi")
    settled(simulator)

    first, second, third = service.webhooks
    assert first.genuine
    assert second.genuine
    assert first.document == second.document == third.document
    assert first.body != second.body
    assert len({each.delivery for each in simulator.deliveries}) == 3


def test_what_is_delayed_is_overtaken_with_the_time_it_was_said(service):
    clock = HandClock()
    with simulating(service.url, clock=clock) as simulator:
        ana = simulator.customer(ANA)
        with simulator.paused():
            simulator.next_webhook(WebhookFault(delay_s=30))
            first = ana.say("um")
            clock.pass_by(seconds=5)
            second = ana.say("dois")
        settled(simulator)

        items = service.items()
        assert [item["id"] for item in items] == [second, first]
        assert int(items[0]["timestamp"]) - int(items[1]["timestamp"]) == 5


def test_a_fault_can_be_for_one_person(simulator, service, ana):
    simulator.next_webhook(WebhookFault(lost=True), of=BRUNO)
    ana.say("Oi")
    simulator.say(BRUNO, "Oi")
    simulator.say(BRUNO, "Oi?")
    settled(simulator)

    assert [item["from"] for item in service.items()] == [ANA, BRUNO]


def test_the_handshake_tells_who_gives_the_challenge(simulator):
    assert simulator.handshake()
    assert not simulator.handshake("errado")
    challenge, answer = simulator.ask_challenge()
    assert answer.body == challenge.encode()


def test_a_text_reaches_the_phone_and_is_answered_as_the_api_does(simulator, ana):
    answer = send(simulator, text="Olá, Ana!", outbound_id="out_7")

    assert answer.status == 200
    assert answer.document == {
        "messaging_product": "whatsapp",
        "contacts": [{"input": ANA, "wa_id": ANA, "user_id": ana.person.user_id}],
        "messages": [{"id": answer.message_id}],
    }
    assert answer.message_id.startswith("wamid.")
    (received,) = simulator.received(ANA)
    assert (received.text, received.outbound_id) == ("Olá, Ana!", "out_7")
    assert (received.message_id, received.at) == (answer.message_id, NOON)
    assert ana.received == [received]


def test_what_the_api_would_refuse_reaches_nobody(simulator):
    number = "/v23.0/999/messages"

    assert send(simulator, token="errado").error == 190
    assert send(simulator, token=None).status == 401
    assert call("POST", simulator.url + number, {}, token=TOKEN).error == 33
    assert send(simulator, text="a" * 4097).error == 100
    assert send(simulator, to=None).error == 131008
    assert post(simulator, b"{").error == 100
    assert call("GET", simulator.url + number).status == 404
    assert simulator.received(ANA) == []


def test_typing_is_shown_for_a_message_that_a_person_wrote(simulator, ana):
    receipt = {
        "messaging_product": "whatsapp",
        "status": "read",
        "message_id": ana.say("Oi"),
        "typing_indicator": {"type": "text"},
    }

    assert post(simulator, receipt).document == {"success": True}
    assert [(each.message_id, each.typing) for each in simulator.reads] == [
        (receipt["message_id"], True)
    ]
    assert post(simulator, {**receipt, "message_id": "wamid.nobodys"}).error == 131009


def test_statuses_follow_the_answer_in_order_and_give_our_id_back(simulator, service):
    answer = send(simulator, outbound_id="out_7")
    settled(simulator)

    statuses = service.items("statuses")
    assert service.statuses == ["sent", "delivered", "read"]
    assert {status["id"] for status in statuses} == {answer.message_id}
    assert {status["biz_opaque_callback_data"] for status in statuses} == {"out_7"}
    assert {status["recipient_id"] for status in statuses} == {ANA}
    times = [int(status["timestamp"]) for status in statuses]
    assert [later - earlier for earlier, later in pairwise(times)] == [1, 1]
    assert all(webhook.genuine for webhook in service.webhooks)


def test_statuses_come_as_the_script_says(simulator, service):
    steps = (
        StatusStep(status="read", after_s=1),
        StatusStep(status="sent", after_s=3),
        StatusStep(status="sent", after_s=2),
    )
    simulator.next_statuses(StatusPlan(steps=steps, tracked=False))
    send(simulator)
    settled(simulator)

    assert service.statuses == ["read", "sent", "sent"]
    assert not any("biz_opaque_callback_data" in each for each in service.items("statuses"))
    times = [int(status["timestamp"]) for status in service.items("statuses")]
    assert times[0] - times[1] == 2


def test_a_failure_says_why_in_its_status(simulator, service):
    failed = StatusStep(status="failed", error_code=131026)
    simulator.next_statuses(StatusPlan(steps=(failed,)), to=ANA)
    send(simulator)
    settled(simulator)

    (status,) = service.items("statuses")
    (error,) = status["errors"]
    assert (error["code"], error["title"]) == (131026, "Message undeliverable")
    assert "conversation" not in status


def test_a_status_can_come_before_the_answer(simulator, service):
    simulator.next_statuses(StatusPlan(before_answer=True))
    with simulator.paused():
        send(simulator)
        early = list(service.statuses)
    settled(simulator)

    assert early == ["sent"]
    assert service.statuses == ["sent", "delivered", "read"]


def test_a_lost_reply_closes_the_connection_and_the_text_is_there(simulator, service):
    simulator.next_send(LoseReply())
    lost = send(simulator, text="chegou", outbound_id="out_7")
    settled(simulator)

    assert lost.status is None
    assert [(each.text, each.outbound_id) for each in simulator.received(ANA)] == [
        ("chegou", "out_7")
    ]
    assert service.statuses == ["sent", "delivered", "read"]
    assert {each["biz_opaque_callback_data"] for each in service.items("statuses")} == {"out_7"}


def test_a_reply_that_hangs_outlasts_the_client(simulator):
    simulator.next_send(LoseReply(hang_s=PATIENCE_S))
    body = {
        "messaging_product": "whatsapp",
        "to": ANA,
        "text": {"body": "chegou"},
    }

    assert post(simulator, body, timeout=0.2).status is None
    assert [each.text for each in simulator.received(ANA)] == ["chegou"]


def test_a_refused_send_reaches_nobody_and_has_no_status(simulator, service):
    simulator.next_send(Refuse(code=131056))
    simulator.next_send(Refuse(code=130429, retry_after_s=7), to=ANA)
    simulator.next_send(Refuse(code=131000, http_status=503))
    pair, rate, transient = (send(simulator) for _ in range(3))
    settled(simulator)

    assert (pair.status, pair.error) == (400, 131056)
    assert (rate.status, rate.error, rate.headers["Retry-After"]) == (429, 130429, "7")
    assert (transient.status, transient.error) == (503, 131000)
    assert simulator.received(ANA) == []
    assert service.webhooks == []
    assert send(simulator).status == 200


@pytest.mark.parametrize("delivered", [True, False])
def test_a_broken_answer_is_no_json_and_leaves_open_what_happened(simulator, service, delivered):
    simulator.next_send(Break(http_status=503, delivered=delivered))
    broken = send(simulator)
    settled(simulator)

    assert broken.status == 503
    assert broken.body.startswith(b"<!DOCTYPE")
    assert len(simulator.received(ANA)) == delivered
    assert bool(service.statuses) is delivered


def test_who_has_not_written_for_a_day_is_not_written_to(service):
    clock = HandClock()
    with simulating(service.url, clock=clock, enforce_window=True) as simulator:
        assert send(simulator).error == 131047
        simulator.say(ANA, "Oi")
        clock.pass_by(hours=23, minutes=59)
        assert send(simulator).status == 200
        clock.pass_by(minutes=1)
        assert send(simulator).error == 131047
        assert send(simulator, to=BRUNO).error == 131047
        assert len(simulator.received(ANA)) == 1


def test_each_number_has_people_and_an_account_of_its_own(service):
    other = Number(
        phone_number_id="109876543210988",
        display_phone_number="551155550200",
        account_id="209999999999999",
    )
    with simulating(service.url, numbers=(Number(), other)) as simulator:
        simulator.customer(ANA, number=other).say("Oi")
        settled(simulator)

        (entry,) = service.webhooks[0].document["entry"]
        assert entry["id"] == other.account_id
        metadata = entry["changes"][0]["value"]["metadata"]
        assert metadata["phone_number_id"] == other.phone_number_id
        url = f"{simulator.url}/v23.0/{other.phone_number_id}/messages"
        body = {"messaging_product": "whatsapp", "to": ANA, "text": {"body": "Oi"}}
        assert call("POST", url, body, token=TOKEN).status == 200
        (received,) = simulator.received(ANA)
        assert received.phone_number_id == other.phone_number_id


def story(seed, faults):
    """What happens to two people under faults, told without what differs between two runs."""
    with endpoint() as service, simulating(service.url, seed=seed, faults=faults) as simulator:
        answers = []
        for number in range(8):
            with simulator.paused():
                for address in (ANA, BRUNO):
                    simulator.say(address, f"mensagem {number}")
                    answer = send(simulator, to=address, text=str(number), outbound_id=str(number))
                    answers.append((answer.status, answer.body))
            settled(simulator)
        return answers, [webhook.body for webhook in service.webhooks]


def test_one_seed_tells_one_story():
    many = PRESETS["many"]

    assert story(7, many) == story(7, many)
    assert story(7, many) != story(8, many)


def test_under_many_faults_no_message_is_lost_on_its_way_to_the_service(service):
    with simulating(service.url, faults=PRESETS["many"], posts_at_once=4) as simulator:
        service.answers.extend([503] * 20)
        said = {
            simulator.say(f"55119555501{person:02d}", f"{number}")
            for person in range(10)
            for number in range(10)
        }
        settled(simulator)

        arrived = [item["id"] for item in service.items()]
        assert set(arrived) == said
        assert len(arrived) > len(said)
        assert all(webhook.genuine for webhook in service.webhooks)


def test_faults_by_chance_reach_the_client(service):
    with simulating(service.url, faults=Faults(reply_lost=0.4, send_refused=0.3)) as simulator:
        outcomes = [send(simulator, outbound_id=str(number)) for number in range(60)]
        settled(simulator)

        reached = {received.outbound_id for received in simulator.received(ANA)}
        by_status = {outcome.status is None: outcome for outcome in outcomes}
        assert set(by_status) == {True, False}
        for number, outcome in enumerate(outcomes):
            refused = outcome.status is not None and outcome.status != 200
            assert (str(number) in reached) is not refused
        assert 0 < len(reached) < 60


def test_ids_of_another_start_are_others_whatever_the_seed(service):
    with simulating(service.url) as first:
        one = first.say(ANA, "Oi")
    with simulating(service.url) as same:
        assert same.say(ANA, "Oi") == one
    clock = HandClock()
    clock.pass_by(minutes=1)
    with simulating(service.url, clock=clock) as later:
        assert later.say(ANA, "Oi") != one


def test_another_process_can_say_and_see_over_http(simulator, service):
    root = f"{simulator.url}/_simulator"
    said = call("POST", f"{root}/say", {"from": ANA, "text": "Oi", "name": "Ana Exemplo"})
    send(simulator, text="Olá, Ana!", outbound_id="out_7")
    settled(simulator)

    assert said.status == 202
    (item,) = service.items()
    assert (item["id"], item["text"]["body"]) == (said.document["messageId"], "Oi")
    assert service.webhooks[0].values[0]["contacts"][0]["profile"]["name"] == "Ana Exemplo"
    phone = call("GET", f"{root}/phones/{ANA}").document
    assert [(each["text"], each["outboundId"]) for each in phone["received"]] == [
        ("Olá, Ana!", "out_7")
    ]
    overview = call("GET", root).document
    assert overview["webhooks"] == {"posted": 4, "answered": 4, "retries": 0, "givenUp": 0}
    assert overview["phones"] == {ANA: 1}
    assert call("GET", f"{root}/phones/{BRUNO}").document["received"] == []


def test_a_foreign_page_can_neither_say_nor_see(simulator):
    root = f"{simulator.url}/_simulator"
    body = {"from": ANA, "text": "Oi"}

    rebound = {"Host": "exemplo.com"}
    assert call("GET", root, headers=rebound).status == 403
    assert call("POST", f"{root}/say", body, headers=rebound).status == 403
    assert call("POST", f"{root}/say", body, headers={"Content-Type": "text/plain"}).status == 415
    assert call("POST", f"{root}/say", {"from": ANA}).status == 422
    assert call("POST", f"{root}/say", b"[").status == 422
    assert call("GET", f"{root}/nothing").status == 404
    settled(simulator)
    assert simulator.deliveries == []


def test_a_body_without_end_is_not_read(simulator):
    number = simulator.setup.numbers[0].phone_number_id
    url = f"{simulator.url}/v23.0/{number}/messages"

    assert call("POST", url, b"a" * (1 << 20) + b"a", token=TOKEN).status in {413, None}
    assert call("POST", url, token=TOKEN, headers={"Transfer-Encoding": "chunked"}).status == 411


def test_without_a_secret_webhooks_are_unsigned(service):
    setup = Setup(webhook=service.url, app_secret="", token=TOKEN)
    with Simulator(setup, random=Random(7), now=HandClock()) as simulator:
        simulator.say(ANA, "Oi")
        settled(simulator)

    assert service.webhooks[0].signature is None


def test_who_waits_for_texts_gets_them_when_they_come(simulator, ana):
    heard: list[Received] = []
    simulator.phones.listener = heard.append
    threading.Timer(0.01, send, [simulator], {"text": "Olá!"}).start()

    assert [each.text for each in ana.wait_for(1, PATIENCE_S)] == ["Olá!"]
    assert ana.wait_for(2, 0.05) == ana.received
    assert heard == ana.received

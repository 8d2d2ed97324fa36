import pytest

from domain.crm.content import compare, mark, marks, moves, restated
from domain.crm.desired import STAGES

IDS = {name: f"id-{name}" for name in STAGES}


@pytest.mark.parametrize(
    ("there", "shadow", "ours", "written"),
    [
        ("novo", "velho", (), False),
        ("", "", (), True),
        ("velho", "velho", (), True),
        ("", "velho", (), False),
        ("de alguém", "velho", (), False),
        ("de alguém", "", (), False),
        ("enviado", "velho", (mark("deal.name", "enviado"),), True),
        ("enviado", "velho", (mark("contact.name", "enviado"),), False),
        (" novo\t", "velho", (), False),
    ],
)
def test_a_value_is_ours_to_change_only_if_we_put_it_there(there, shadow, ours, written):
    change = compare("deal", {"name": "novo"}, {"name": there}, {"deal.name": shadow}, ours)

    assert change.write == ({"name": "novo"} if written else {})
    assert bool(change.kept) == (not written and there.strip() != "novo")


def test_notes_are_ours_whatever_stands():
    change = compare("deal", {"notes": "a"}, {"notes": "de alguém"}, {}, ())

    assert change == ({"notes": "a"}, ())


@pytest.mark.parametrize(("there", "written"), [("", True), ("+55 11 2", False)])
def test_a_phone_is_filled_in_and_never_rewritten(there, written):
    change = compare("contact", {"phone": "55111"}, {"phone": there}, {}, ())

    assert bool(change.write) == written
    assert change.kept == ()


def test_what_is_not_desired_stays():
    assert compare("deal", {}, {"segment": "X"}, {"deal.segment": "X"}, ()) == ({}, ())


def test_a_mark_says_nothing_and_spaces_do_not_count():
    assert mark("deal.name", "Ana  Lima") == mark("deal.name", " Ana Lima ")
    assert "Ana" not in mark("deal.name", "Ana")
    assert marks("deal", {"name": "Ana", "notes": "x", "stage": "s"}) == {mark("deal.name", "Ana")}


@pytest.mark.parametrize(
    ("desired", "standing", "expected"),
    [
        ("em_triagem", "id-em_triagem", None),
        ("em_triagem", "id-novo_lead", True),
        ("em_triagem", "id-atendimento_humano", False),
        ("em_triagem", "", True),
        ("em_triagem", "somebody-elses", False),
        ("finalizado", "somebody-elses", False),
        ("finalizado", "id-atendimento_humano", True),
        ("finalizado", "id-perdido", False),
        ("atendimento_humano", "id-finalizado", False),
    ],
)
def test_a_stage_moves_only_forward(desired, standing, expected):
    assert moves(IDS, desired, standing) is expected


def test_of_two_stages_with_one_id_the_higher_counts():
    stages = {**IDS, "novo_lead": IDS["atendimento_humano"]}

    assert moves(stages, "em_triagem", IDS["atendimento_humano"]) is False


def test_what_a_request_may_write_again_is_what_stands_and_is_ours():
    there = {"name": "Ana", "segment": "da pessoa", "intent": "um", "notes": "x"}
    shadow = {"deal.name": "velho", "deal.segment": "nosso", "deal.intent": "um"}

    assert restated("deal", {"name": "Ana"}, there, shadow, ()) == {"name": "Ana", "intent": "um"}
    sent = (mark("deal.segment", "da pessoa"),)
    assert restated("deal", {}, there, shadow, sent) == {"segment": "da pessoa", "intent": "um"}
    assert restated("deal", {"segment": "novo"}, there, shadow, ()) == {"intent": "um"}
    assert restated("deal", {}, {}, {}, ()) == {"name": "", "segment": "", "intent": ""}

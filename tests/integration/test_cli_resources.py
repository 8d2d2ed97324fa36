"""What agents are told, read and changed from the command line."""

import pytest

from handlers.resources import shipped

TEXT = "Você é a atendente.\nSeja breve.\n"


@pytest.fixture
def filled(leads):
    """The command line on a store that is there."""
    leads.app().close()
    return leads


@pytest.fixture
def text(leads):
    path = leads.folder / "prompt.txt"
    path.write_text(TEXT, encoding="utf-8")
    return path


def put(leads, source, *more, name="triagem", kind="prompt", stdin=None):
    return leads("resources", "put", kind, name, source, "--json", *more, stdin=stdin)


def listed(leads, *more):
    found = leads("resources", "list", "--json", *more).document["resources"]
    return {(each["type"], each["id"]): each for each in found}


def test_what_ships_is_listed_and_shown_word_for_word(filled):
    table = filled("resources", "list")
    shown = filled("resources", "show", "prompt", "qualificacao")

    assert table.code == shown.code == 0
    assert table.out.splitlines()[0] == "type\tid\tversion\tactive\tauthor\tupdated\tbytes"
    assert [line.split("\t")[:4] for line in table.out.splitlines()[1:]] == [
        ["prompt", "cadastro", "0", "yes"],
        ["prompt", "qualificacao", "0", "yes"],
        ["prompt", "triagem", "0", "yes"],
        ["package", "servicos", "0", "yes"],
    ]
    assert shown.out == shipped("prompt")["qualificacao"].content
    assert "qualificacao@0" in shown.err
    assert set(listed(filled, "package")) == {("package", "servicos")}


def test_a_text_that_was_put_is_the_next_version_and_what_was_seen_is_put_back(filled, text):
    first = put(filled, text, "--author", "ana")
    shown = filled("resources", "show", "prompt", "triagem")
    second = put(filled, "-", stdin=shown.out.encode() + b"Despe\xc3\xa7a-se.\n")

    assert (first.code, second.code) == (0, 0), first.err + second.err
    assert shown.out == TEXT
    document = first.document
    assert document.pop("updatedAt")
    assert document == {
        "type": "prompt",
        "id": "triagem",
        "version": 1,
        "active": True,
        "author": "ana",
        "size": len(TEXT.encode()),
    }
    assert (second.document["version"], second.document["author"]) == (2, "cli")
    now = filled("resources", "show", "prompt", "triagem", "--json").document
    assert (now["version"], now["content"]) == (2, TEXT + "Despeça-se.\n")
    before = filled("resources", "show", "prompt", "triagem", "--version", "1", "--json").document
    assert before["content"] == TEXT
    assert "triagem@2 stands" in second.err


def test_who_did_not_see_what_stands_changes_nothing(filled, text):
    put(filled, text)

    stale = put(filled, text, "--expect-version", "0", "--author", "bia")
    back = filled("resources", "rollback", "prompt", "triagem", "0", "--expect-version", "7")

    assert (stale.code, back.code) == (4, 4)
    assert "version 1 stands" in stale.err
    assert listed(filled)["prompt", "triagem"]["version"] == 1
    assert put(filled, text, "--expect-version", "1").document["version"] == 2


def test_versions_are_listed_newest_first_and_one_of_them_is_said_again(filled, text):
    put(filled, text, "--author", "ana")
    put(filled, "-", stdin=b"Outro texto.")

    back = filled("resources", "rollback", "prompt", "triagem", "1", "--json", "--author", "bia")
    versions = filled("resources", "show", "prompt", "triagem", "--versions", "--json").document
    table = filled("resources", "show", "prompt", "triagem", "--versions")

    assert back.code == 0
    assert [(each["version"], each["author"]) for each in versions["versions"]] == [
        (3, "bia"),
        (2, "cli"),
        (1, "ana"),
        (0, "leads"),
    ]
    assert versions["versions"][0]["content"] == TEXT
    assert table.out.splitlines()[1].endswith("Você é a atendente.")
    assert filled("resources", "rollback", "prompt", "triagem", "9").code == 3
    shipped_again = filled("resources", "rollback", "prompt", "triagem", "0", "--json")
    assert shipped_again.document["version"] == 4


def test_a_package_is_made_taken_out_of_use_and_listed_as_such(filled):
    made = put(filled, "-", kind="package", name="precos", stdin=b"Sob consulta.")
    off = filled("resources", "deactivate", "package", "precos", "--json")
    shown = filled("resources", "show", "package", "precos")

    assert (made.document["version"], off.document["version"]) == (1, 2)
    assert not listed(filled)["package", "precos"]["active"]
    assert shown.out == "Sob consulta.\n"
    assert "not active" in shown.err


def test_resources_of_another_organization_are_its_own(filled, text):
    put(filled, text, "--org", "one")

    assert listed(filled, "--org", "one")["prompt", "triagem"]["version"] == 1
    assert listed(filled, "--org", "two")["prompt", "triagem"]["version"] == 0


@pytest.mark.parametrize(
    ("arguments", "stdin", "code"),
    [
        (["show", "poem", "triagem"], None, 2),
        (["show", "package", "nobody"], None, 3),
        (["show", "prompt", "triagem", "--version", "5"], None, 3),
        (["list", "poem"], None, 2),
        (["put", "prompt", "vendas", "-"], b"x", 2),
        (["put", "package", "A#b", "-"], b"x", 2),
        (["put", "prompt", "triagem", "-"], b" \n", 2),
        (["put", "prompt", "triagem", "-"], b"\xff", 2),
        (["put", "prompt", "triagem", "-"], "é".encode() * 40_000, 2),
        (["put", "prompt", "triagem", "-", "--author", ""], b"x", 2),
        (["put", "prompt", "triagem", "-", "--expect-version", "-1"], b"x", 2),
        (["put", "prompt", "triagem", "missing.txt"], None, 2),
        (["rollback", "prompt", "triagem", "-1"], None, 2),
        (["deactivate", "package", "nobody"], None, 3),
    ],
)
def test_what_cannot_be_done_says_so_and_changes_nothing(filled, arguments, stdin, code):
    before = listed(filled)

    answer = filled("resources", *arguments, stdin=stdin)

    assert answer.code == code, answer.err
    assert "Traceback" not in answer.err
    assert listed(filled) == before


@pytest.mark.parametrize("letter", ["a", "é"])
def test_a_text_that_is_too_long_is_refused_for_its_length(filled, letter):
    answer = put(filled, "-", stdin=letter.encode() * (64 * 1024 + 1))

    assert answer.code == 2
    assert "/problems/limit-exceeded" in answer.err


def test_reading_makes_no_store(leads):
    assert leads("resources", "list").code == 3
    assert list(leads.folder.iterdir()) == []

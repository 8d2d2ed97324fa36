"""What is told to a person who has to choose: ids, what is named alike first, never a name."""

from domain.conversation.states import State
from domain.crm.choosing import Candidate, advice, candidates
from domain.crm.replies import Remote
from domain.crm.sync import CrmSync

NAME = "Ana Lima"
ROW = CrmSync(
    session_id="s-1",
    organization_id="default",
    state=State.TRIAGE,
    contact={"phone": "", "name": NAME},
)


def deal(deal_id: str, name: str, *, archived: bool = False) -> Remote:
    return Remote(id=deal_id, properties={"name": name}, archived=archived)


def test_what_is_named_as_ours_would_be_comes_first_and_what_is_archived_not_at_all():
    deals = [deal("7", "Outra"), deal("9", " Ana  Lima "), deal("8", NAME, archived=True)]
    assert candidates(ROW, deals) == (Candidate("9", True), Candidate("7", False))


def test_no_more_are_named_than_a_person_reads_and_none_by_name():
    told = advice(candidates(ROW, [deal(str(number), NAME) for number in range(100, 110)]))
    assert told.count("(named alike)") == 8
    assert "and 2 more" in told
    assert NAME not in told


def test_it_is_told_apart_whether_nothing_was_found_or_nobody_looked():
    assert "A search found no deal" in advice(())
    assert advice(None).startswith("Search the CRM")

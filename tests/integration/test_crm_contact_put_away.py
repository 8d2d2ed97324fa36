"""A contact that people archived keeps its phone: its lead waits for people, and goes on after them."""

from handlers.simulators.hubspot import CONTACTS, Answer
from tests.support.crm_deployment import DEALS_PATH, deployed


def test_a_contact_that_was_put_away_blocks_its_lead_instead_of_being_asked_for_ever(tmp_path):
    with deployed(tmp_path) as world:
        world.start()
        world.turn()
        locked = Answer(status=423, body=b'{"status": "error", "category": "LOCKED"}')
        world.hubspot.script(locked, method="POST", path=DEALS_PATH)
        world.run()
        contact = world.row().contact_id
        world.hubspot.people.archive(CONTACTS, contact)

        for _ in range(12):
            world.pass_time(hours=1)
            world.run()

        row = world.row()
        assert (row.status, row.blocked_reason) == ("BLOCKED", "contact_key_held")
        assert len(world.creations(CONTACTS)) <= 8
        assert world.hubspot.deals() == []

        world.hubspot.people.restore(CONTACTS, contact)
        world.act("s-1", "retry")
        world.run()

        assert world.row().status == "SYNCED"
        assert world.hubspot.contacts_of(world.deal().id) == [contact]

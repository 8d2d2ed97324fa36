"""More callers at once than the client has connections."""

import threading
from concurrent.futures import ThreadPoolExecutor

from adapters.dynamodb.wire import CONNECTIONS
from domain import keys
from domain.records import Identity, Refused
from tests.support import make
from tests.support.dynamodb import on_ministack

THREADS = 50
PHONE = keys.identity("org-one", "whatsapp", "5511900000000")


def test_of_fifty_first_messages_of_one_person_one_lead_is_made_and_all_learn_which(
    ministack, account
):
    start = threading.Barrier(THREADS)

    def post(number):
        record = make.record(1, lead=f"lead-{number}", external_event_id="one-message")
        receipt = make.receipt(record, nonce=f"nonce-{number}")
        claim = Identity(PHONE, f"lead-{number}")
        commit = make.commit([record], receipts=(receipt,), identities=(claim,))
        start.wait()
        try:
            factory.recorder.insert_events([record], commit=commit)
        except Refused as refused:
            return (*refused.receipts, *refused.identities)
        return (receipt, claim)

    with on_ministack(ministack, account) as factory, ThreadPoolExecutor(THREADS) as pool:
        answers = set(pool.map(post, range(THREADS)))
        leads = factory.recorder.leads("org-one", limit=THREADS).items

    assert THREADS > CONNECTIONS
    ((receipt, claim),) = answers
    assert receipt.lead == claim.lead
    assert leads == [claim.lead]

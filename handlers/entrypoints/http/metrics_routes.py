"""The route that whoever watches the service collects its numbers from."""

from fastapi import APIRouter, Request
from starlette.responses import Response

from handlers.conversations import numbers
from handlers.conversations.ground import Conversations
from handlers.crm.metrics import of_account, of_standing
from handlers.crm.standing import look
from handlers.entrypoints.http import examples
from handlers.entrypoints.http.doors import Doors, MetricsReader, doors
from handlers.entrypoints.http.exposition import MEDIA_TYPE, exposed
from handlers.measures import Histogram, Measure

router = APIRouter(tags=["service"])


@router.get("/metrics", responses=examples.METRICS)
async def metrics(request: Request, credential: MetricsReader) -> Response:
    """Tell how the key's organization stands, and what this process did, in Prometheus' format.

    Numbers alone: no lead, no session and no text of anybody is in here.
    """
    own = doors(request)
    text = await own.run(_numbers, own, credential.organization_id)
    return Response(text, media_type=MEDIA_TYPE, headers={"Cache-Control": "no-store"})


def _numbers(own: Doors, organization_id: str) -> str:
    app, mirror = own.app, own.mirror
    talking = numbers.measure(Conversations(app.log), [organization_id], app.now())
    text = exposed("leads_", talking)
    if mirror is None:
        return text
    mirrored: list[Measure | Histogram] = [
        *of_standing(look(mirror.control, [organization_id])),
        *of_account(mirror.crm),
        *mirror.tally.measures(),
        *mirror.tally.histograms(),
    ]
    return text + exposed("leads_crm_", mirrored)

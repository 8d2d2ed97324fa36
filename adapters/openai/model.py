"""The model port over OpenAI's SDK."""

import threading
import time
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from adapters.openai import outcomes
from adapters.openai.completions import (
    Form,
    body_of,
    document_of,
    model_of,
    text_of,
    usage_of,
)
from adapters.openai.costs import CURRENCY, Prices, cost_micros
from domain.conversation.model import ModelAnswer, ModelRequest, ModelUnavailable

if TYPE_CHECKING:
    from openai import OpenAI

OPENAI: Final = "https://api.openai.com/v1"

TIMEOUT_S: Final = 25.0
"""For one answer. Source: research/whatsapp.md §6.4; a customer reads "typing" meanwhile."""

_CONNECT_S: Final = 5.0
_MAX_BYTES: Final = 4 * 1024 * 1024
_MAYBE_THE_FORM: Final = frozenset((400, 422))


class OpenAIModel:
    """One model behind one base URL, for all threads.

    A server that refuses `json_schema` (400, 422) is asked for a JSON object, and at last with the
    schema in words alone; the first form that it answers is kept as long as the process lives.
    """

    def __init__(
        self,
        *,
        model: str,
        api_key: str,
        base_url: str = OPENAI,
        timeout_s: float = TIMEOUT_S,
        prices: Prices | None = None,
    ) -> None:
        """Describe the endpoint; nothing is loaded or connected yet.

        Args:
            model: its name, as the endpoint knows it.
            api_key: empty for a server that asks for none.
            base_url: with its version, as in `OPENAI`.
            timeout_s: from the question to the last byte of the answer, all tries together.
            prices: without them answers have no cost.
        """
        self._model = model
        self._api_key = api_key or "none"
        self._base_url = base_url
        self._timeout_s = timeout_s
        self._prices = prices
        self._form = Form.SCHEMA
        self._client: OpenAI | None = None
        self._gate = threading.Lock()

    def answer(self, request: ModelRequest) -> ModelAnswer:
        """Ask once. The text is not read here: it may be cut off, or no JSON at all.

        Raises:
            ModelRefused: content_filter, refusal or too_long.
            ModelUnavailable: see `outcomes`.
        """
        started = time.monotonic()
        document = self._ask(request, started + self._timeout_s)
        usage = usage_of(document)
        return ModelAnswer(
            text=text_of(document),
            model=model_of(document, self._model),
            input_tokens=usage.input_tokens,
            output_tokens=usage.output_tokens,
            cost_micros=None if self._prices is None else cost_micros(usage, self._prices),
            cost_currency=None if self._prices is None else CURRENCY,
            latency_ms=round((time.monotonic() - started) * 1000),
        )

    def close(self) -> None:
        """Close the connections."""
        with self._gate:
            client, self._client = self._client, None
        if client is not None:
            client.close()

    def _ask(self, request: ModelRequest, deadline: float) -> Mapping[str, Any]:
        """Return the completion, in the first form that the server takes."""
        failure: ModelUnavailable | None = None
        for form in Form:
            if form < self._form:
                continue
            try:
                document = self._exchange(body_of(request, self._model, form), deadline)
            except _NotTaken as error:
                failure = error.meaning
            else:
                self._form = form
                return document
        raise failure or ModelUnavailable("configuration")

    def _exchange(self, body: dict[str, Any], deadline: float) -> Mapping[str, Any]:
        """Send one request and return the completion that answers it.

        Raises:
            _NotTaken: the server does not take such a request.
        """
        import openai  # noqa: PLC0415 - takes a second, and only who asks a model pays it

        client = self._connected()
        left = max(deadline - time.monotonic(), 0.001)
        timeout = openai.Timeout(left, connect=min(left, _CONNECT_S))
        create = client.chat.completions.with_streaming_response.create
        try:
            with create(**body, timeout=timeout) as response:
                raw = _read(response.iter_bytes(), deadline)
        except ModelUnavailable:
            raise
        except openai.APIStatusError as error:
            meaning = outcomes.answered(error.status_code, error.body, error.response.headers)
            if error.status_code in _MAYBE_THE_FORM and isinstance(meaning, ModelUnavailable):
                raise _NotTaken(meaning) from None
            raise meaning from None
        except Exception as error:  # noqa: BLE001 - of whatever HTTP client the SDK stands on
            raise outcomes.broken(error) from None
        return document_of(raw)

    def _connected(self) -> "OpenAI":
        """Return the one client, whose own retries are off: who asks decides what is tried again."""
        from openai import OpenAI  # noqa: PLC0415 - see above

        with self._gate:
            if self._client is None:
                self._client = OpenAI(api_key=self._api_key, base_url=self._base_url, max_retries=0)
            return self._client


class _NotTaken(Exception):
    """The server does not take this form of request, or the request in any form."""

    def __init__(self, meaning: ModelUnavailable) -> None:
        super().__init__(meaning.reason)
        self.meaning = meaning


def _read(parts: Iterable[bytes], deadline: float) -> bytes:
    """Read a body to its end. The SDK's timeout begins anew with every byte; this one does not."""
    raw = bytearray()
    for part in parts:
        raw += part
        if len(raw) > _MAX_BYTES:
            raise ModelUnavailable("bad_response")
        if time.monotonic() > deadline:
            raise ModelUnavailable("timeout")
    return bytes(raw)

"""A way out on which nothing can be changed: what is not on the list of readings never leaves."""

import re
from typing import Final

import httpx2

_READING: Final = re.compile(
    r"/crm/objects/[0-9A-Za-z-]+/(?:contacts|deals)/(?:search|batch/read)", re.ASCII
)
"""What is read by POST."""


class WriteRefused(Exception):
    """Raised in place of a request that is not on the list."""


class ReadOnly(httpx2.BaseTransport):
    """Passes readings on to another transport.

    Args:
        transport: what carries them.
        prefix: the path of the base URL.
    """

    def __init__(self, transport: httpx2.BaseTransport, prefix: str = "") -> None:
        self._transport = transport
        self._prefix = prefix

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Carry one request.

        Raises:
            WriteRefused: it is not on the list.
        """
        path = request.url.raw_path.decode("ascii").partition("?")[0].removeprefix(self._prefix)
        reads = request.method == "GET" or (
            request.method == "POST" and _READING.fullmatch(path) is not None
        )
        if not reads:
            raise WriteRefused
        return self._transport.handle_request(request)

    def close(self) -> None:
        """Close the transport below."""
        self._transport.close()

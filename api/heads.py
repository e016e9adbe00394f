"""uvicorn's protocol with a bound on what of a request is not its body: the parser itself keeps a header of any length."""

from __future__ import annotations

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

MAX_HEAD = 2**16
"""Bytes of request line and headers; what one read from the socket brings (256 KiB at most) may go beyond it."""

FRAMING = 2**24
"""Bytes that the marks between the pieces of a body may take besides: five for each piece, which may be a byte long."""


class HeadLimit(HttpToolsProtocol):
    """Refuses a request whose head does not end, and ends a connection whose trailers do not. Nobody has shown a key by then."""

    _fed = 0
    _body = 0

    def on_message_begin(self) -> None:
        """A request begins."""
        self._fed = self._body = 0
        super().on_message_begin()

    def on_body(self, body: bytes) -> None:
        """A piece of its body."""
        self._body += len(body)
        super().on_body(body)

    def data_received(self, data: bytes) -> None:
        """What came from the socket."""
        self._fed += len(data)
        super().data_received(data)
        beside = self._fed - self._body
        if beside > MAX_HEAD + min(8 * self._body, FRAMING) and not self.transport.is_closing():
            if self.cycle is None or self.cycle.response_complete:
                self.send_400_response("The head of the request is too large.")
            else:
                self.transport.abort()

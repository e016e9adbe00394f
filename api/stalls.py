"""uvicorn's protocols with an end to patience: a client that takes nothing of what it was sent is cut off.

uvicorn stops whoever sends while a client's buffer is full, which bounds what it holds, and waits for the client for ever: closing
such a connection waits for its buffer too.
"""

from __future__ import annotations

from asyncio import AbstractEventLoop, TimerHandle, Transport
from typing import Any

from uvicorn.protocols.websockets.websockets_sansio_impl import WebSocketsSansIOProtocol

from api.heads import HeadLimit


class _Stalling:
    """Ends a connection whose buffer is full and of which nothing was taken for `patience` seconds."""

    patience: float
    loop: AbstractEventLoop
    transport: Transport
    _timer: TimerHandle | None = None
    _left = 0

    def pause_writing(self) -> None:
        """The buffer is full."""
        super().pause_writing()  # type: ignore[misc]
        self._wait()

    def resume_writing(self) -> None:
        """There is room again."""
        self._rest()
        super().resume_writing()  # type: ignore[misc]

    def connection_lost(self, exc: Exception | None) -> None:
        """It has ended."""
        self._rest()
        super().connection_lost(exc)  # type: ignore[misc]

    def _wait(self) -> None:
        self._left = self.transport.get_write_buffer_size()
        self._timer = self.loop.call_later(self.patience, self._look)

    def _look(self) -> None:
        # A slow client takes a little; pings may add a few bytes for one that takes nothing.
        if self.transport.get_write_buffer_size() >= self._left:
            self._timer = None
            self.transport.abort()
        else:
            self._wait()

    def _rest(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None


class StallingHttp(_Stalling, HeadLimit):
    """HTTP, with Server-Sent Events."""


class StallingSocket(_Stalling, WebSocketsSansIOProtocol):
    """Web sockets."""


def protocols(patience: float) -> dict[str, Any]:
    """uvicorn's settings for a service that ends a subscription after `patience` seconds: its connection after twice as long.

    A client that takes nothing answers no ping either; what a slow one is told last must not be cut off by that before.
    """
    http, socket = (type(kind.__name__, (kind,), {"patience": 2 * patience}) for kind in (StallingHttp, StallingSocket))
    return {"http": http, "ws": socket, "ws_ping_timeout": max(20.0, 2 * patience)}

"""When a connection is cut: only where nothing at all was taken of what it was sent."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from api.stalls import _Stalling, protocols


class Silent:
    """A protocol that does nothing by itself."""

    def pause_writing(self) -> None:
        """The buffer is full."""

    def resume_writing(self) -> None:
        """There is room."""

    def connection_lost(self, exc: Exception | None) -> None:
        """It has ended."""


class Transport:
    """A connection with so many bytes in its buffer."""

    def __init__(self, left: list[int]) -> None:
        self.left = left
        self.aborted = False

    def get_write_buffer_size(self) -> int:
        return self.left.pop(0) if len(self.left) > 1 else self.left[0]

    def abort(self) -> None:
        self.aborted = True


class Stalling(_Stalling, Silent):
    """What is tested, of little patience."""

    patience = 0.01


async def stalling(*left: int) -> tuple[Any, Transport]:
    found: Any = Stalling()
    found.loop, found.transport = asyncio.get_running_loop(), Transport(list(left))
    found.pause_writing()
    return found, found.transport


@pytest.mark.parametrize("left", [(100, 100), (100, 106), (100, 90, 80, 80)])
def test_who_takes_nothing_is_cut(left: tuple[int, ...]) -> None:
    async def run() -> None:
        _, transport = await stalling(*left)
        async with asyncio.timeout(30):
            while not transport.aborted:
                await asyncio.sleep(0.005)

    asyncio.run(run())


@pytest.mark.parametrize("then", ["resume_writing", "connection_lost"])
def test_who_takes_a_little_is_waited_for_and_what_has_ended_is_left_alone(then: str) -> None:
    async def run() -> None:
        found, transport = await stalling(*range(1000, 0, -1))
        while len(transport.left) > 990:
            await asyncio.sleep(0.005)
        assert not transport.aborted
        getattr(found, then)(*([None] if then == "connection_lost" else []))
        transport.left = [1]
        await asyncio.sleep(0.05)
        assert not transport.aborted

    asyncio.run(run())


def test_a_connection_outlasts_the_subscription_that_it_tells_of() -> None:
    spoken = protocols(30)
    assert (spoken["http"].patience, spoken["ws"].patience, spoken["ws_ping_timeout"]) == (60, 60, 60)
    assert protocols(1)["ws_ping_timeout"] == 20

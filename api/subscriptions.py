"""What subscriptions share: values that are looked at again and again for all who follow them together, and events that run in threads."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Collection, Mapping
from functools import partial
from typing import Any, Generic, TypeVar

from anyio import CapacityLimiter, to_thread
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext

from ontology.errors import Overloaded

Key = TypeVar("Key")
Value = TypeVar("Value")

PAUSE = 0.25
"""Seconds between two looks at what is followed."""
SHARE = 5
"""A look that took long is followed by a pause of so many times as long: looking takes at most a sixth of a thread."""


class _Followed(Generic[Value]):
    """What is known of one key. `changed` is set, and put aside for a new one, when there is something to tell."""

    def __init__(self) -> None:
        self.followers = 0
        self.asked = 0
        self.look = 0
        self.value: Value | None = None
        self.failure: Exception | None = None
        self.changed = asyncio.Event()

    def tell(self, look: int, value: Value | None, failure: Exception | None) -> None:
        """What a look saw."""
        first, told = self.look < self.asked, self.value
        self.look, self.value, self.failure = look, value, failure
        if first or failure is not None or value != told:
            self.changed.set()
            self.changed = asyncio.Event()


class Watch(Generic[Key, Value]):
    """Looks at values for all who follow them: one look at a time, in a thread, however many follow. For one event loop.

    `read` gives the values of some keys; a key that it leaves out has none.
    """

    def __init__(self, read: Callable[[Collection[Key]], Mapping[Key, Value]], *, pause: float = PAUSE) -> None:
        self._read = read
        self._pause = pause
        self._followed: dict[Key, _Followed[Value]] = {}
        self._look = 0
        self._asked = asyncio.Event()
        self._task: asyncio.Task[None] | None = None
        self._threads = CapacityLimiter(1)
        self._closing = False

    @property
    def closing(self) -> bool:
        """Whether all that follow are being ended."""
        return self._closing

    @property
    def followers(self) -> int:
        """How many follow something."""
        return sum(each.followers for each in self._followed.values())

    async def follow(self, key: Key) -> AsyncGenerator[Value | None, None]:
        """The value as it is at once or later, then whenever it has changed; of quick changes the last. None: there is none.

        Raises what reading raised, and Overloaded once it is closed.
        """
        mine = self._followed.setdefault(key, _Followed())
        mine.followers += 1
        # A look that is under way may have begun before what the follower knows of.
        needed = mine.asked = self._look + 1
        self._asked.set()
        if self._task is None:
            self._task = asyncio.create_task(self._run())
        try:
            told: Value | None = None
            first = True
            while True:
                if self._closing:
                    raise Overloaded("the service stops; subscribe again", retry_after=1)
                if mine.look >= needed and mine.failure is not None:
                    raise mine.failure
                if mine.look >= needed and (first or mine.value != told):
                    first, told = False, mine.value
                    yield told
                else:
                    await mine.changed.wait()
        finally:
            mine.followers -= 1
            if not mine.followers and self._followed.get(key) is mine:
                del self._followed[key]

    def close(self) -> None:
        """End all that follow."""
        self._closing = True
        for each in self._followed.values():
            each.changed.set()

    async def _run(self) -> None:
        try:
            loop = asyncio.get_running_loop()
            due = 0.0
            while self._followed:
                self._asked.clear()
                asked = {key for key, each in self._followed.items() if each.look < each.asked}
                every = loop.time() >= due
                keys = set(self._followed) if every else asked
                if keys:
                    took = await self._take_a_look(keys)
                    due = loop.time() + max(self._pause, SHARE * took) if every else due
                await self._rest(due - loop.time())
        finally:
            self._task = None

    async def _rest(self, seconds: float) -> None:
        if seconds > 0:
            try:
                async with asyncio.timeout(seconds):
                    await self._asked.wait()
            except TimeoutError:
                return

    async def _take_a_look(self, keys: Collection[Key]) -> float:
        """Look at some keys and tell their followers; the seconds that it took."""
        loop = asyncio.get_running_loop()
        self._look += 1
        look, start = self._look, loop.time()
        values: Mapping[Key, Value] = {}
        failure: Exception | None = None
        try:
            values = await to_thread.run_sync(self._read, keys, limiter=self._threads)
        except Exception as raised:
            failure = raised
        for key in keys:
            if key in self._followed:
                self._followed[key].tell(look, values.get(key), failure)
        return loop.time() - start


def in_threads(limiter: CapacityLimiter) -> type[StrawberryGraphQLCoreExecutionContext]:
    """An executor that resolves each event of a subscription in a thread: resolvers block on the graph, the event loop never does."""

    class EventsInThreads(StrawberryGraphQLCoreExecutionContext):
        _event = False

        def build_per_event_executor(self, payload: Any) -> EventsInThreads:
            executor = super().build_per_event_executor(payload)
            assert isinstance(executor, EventsInThreads)
            executor._event = True
            return executor

        def execute_operation(self, serially: bool | None = None) -> Any:
            run = super().execute_operation
            return to_thread.run_sync(partial(run, serially), limiter=limiter) if self._event else run(serially)

    return EventsInThreads

"""Watching: one look at a time for all who follow, at once and then on every change, and nothing is left behind."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable, Collection
from contextlib import aclosing

import pytest

from api.subscriptions import Watch
from ontology.errors import Overloaded


class Numbers:
    """What is watched: a number for each name."""

    def __init__(self, pause: float = 0.01) -> None:
        self.values: dict[str, int] = {"a": 1}
        self.looks: list[frozenset[str]] = []
        self.takes = 0.0
        self.failure: Exception | None = None
        self.at_a_time = self.most = 0
        self.threads: set[int] = set()
        self.watch: Watch[str, int] = Watch(self.read, pause=pause)

    def read(self, keys: Collection[str]) -> dict[str, int]:
        self.at_a_time += 1
        self.most = max(self.most, self.at_a_time)
        self.threads.add(threading.get_ident())
        self.looks.append(frozenset(keys))
        time.sleep(self.takes)
        self.at_a_time -= 1
        if self.failure is not None:
            raise self.failure
        return {key: self.values[key] for key in keys if key in self.values}


async def until(done: Callable[[], bool]) -> None:
    async with asyncio.timeout(10):
        while not done():
            await asyncio.sleep(0.005)


def run(test: Callable[[Numbers], Awaitable[None]], pause: float = 0.01) -> Numbers:
    numbers = Numbers(pause)

    async def main() -> None:
        await test(numbers)

    asyncio.run(main())
    return numbers


def test_the_value_comes_at_once_and_then_each_change_but_never_the_same_twice() -> None:
    async def test(numbers: Numbers) -> None:
        async with aclosing(numbers.watch.follow("a")) as values:
            assert await anext(values) == 1
            following = asyncio.ensure_future(anext(values))
            await until(lambda: len(numbers.looks) > 5)
            assert not following.done()
            numbers.values["a"] = 2
            assert await following == 2
            del numbers.values["a"]
            assert await anext(values) is None

    numbers = run(test)
    assert threading.get_ident() not in numbers.threads


def test_many_followers_cost_no_more_looks_than_one() -> None:
    seen: list[list[int | None]] = [[] for _ in range(500)]

    async def test(numbers: Numbers) -> None:
        async def one(mine: list[int | None]) -> None:
            async with aclosing(numbers.watch.follow("a")) as values:
                async for value in values:
                    mine.append(value)
                    if value == 3:
                        return

        tasks = [asyncio.create_task(one(mine)) for mine in seen]
        await until(lambda: all(seen))
        assert numbers.watch.followers == 500
        before = len(numbers.looks)
        numbers.values["a"] = 3
        await asyncio.gather(*tasks)
        assert len(numbers.looks) - before < 10

    numbers = run(test)
    assert all(mine == [1, 3] for mine in seen)
    assert numbers.most == 1


def test_a_follower_is_told_nothing_older_than_its_beginning() -> None:
    async def test(numbers: Numbers) -> None:
        async with aclosing(numbers.watch.follow("a")) as first:
            await anext(first)
            numbers.takes = 0.05
            for value in range(10, 20):
                # A look may be under way that has read the number before.
                await asyncio.sleep(0.02)
                numbers.values["a"] = value
                async with aclosing(numbers.watch.follow("a")) as later:
                    assert await anext(later) == value

    run(test)


def test_one_who_begins_does_not_wait_for_the_pause() -> None:
    async def test(numbers: Numbers) -> None:
        numbers.values["b"] = 5
        async with aclosing(numbers.watch.follow("a")) as first, aclosing(numbers.watch.follow("b")) as second:
            async with asyncio.timeout(10):
                assert (await anext(first), await anext(second)) == (1, 5)
        assert numbers.looks == [{"a"}, {"b"}]

    run(test, pause=60)


def test_looks_that_take_long_are_made_less_often() -> None:
    async def test(numbers: Numbers) -> None:
        numbers.takes = 0.04
        async with aclosing(numbers.watch.follow("a")) as values:
            await anext(values)
            before = len(numbers.looks)
            await asyncio.sleep(0.5)
            assert len(numbers.looks) - before <= 3

    run(test, pause=0.001)


def test_nothing_is_left_behind_by_those_who_leave() -> None:
    async def test(numbers: Numbers) -> None:
        async def endless() -> None:
            async with aclosing(numbers.watch.follow("a")) as values:
                async for _ in values:
                    pass

        tasks = [asyncio.create_task(endless()) for _ in range(20)]
        await until(lambda: numbers.watch.followers == 20)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        assert numbers.watch.followers == 0
        await until(lambda: len(asyncio.all_tasks()) == 1)
        looks = len(numbers.looks)
        await asyncio.sleep(0.05)
        assert len(numbers.looks) == looks

    run(test)


def test_what_reading_raises_ends_all_who_follow_and_none_who_come_later() -> None:
    async def test(numbers: Numbers) -> None:
        async with aclosing(numbers.watch.follow("a")) as first, aclosing(numbers.watch.follow("a")) as second:
            await anext(first), await anext(second)
            numbers.failure = ValueError("the ledger is gone")
            for values in (first, second):
                with pytest.raises(ValueError, match="the ledger is gone"):
                    await anext(values)
            numbers.failure = None
            async with aclosing(numbers.watch.follow("a")) as third:
                assert await anext(third) == 1

    run(test)


def test_closing_ends_all_and_lets_nobody_in() -> None:
    async def test(numbers: Numbers) -> None:
        async with aclosing(numbers.watch.follow("a")) as values:
            await anext(values)
            following = asyncio.ensure_future(anext(values))
            await asyncio.sleep(0)
            numbers.watch.close()
            with pytest.raises(Overloaded):
                await following
            with pytest.raises(Overloaded):
                await anext(numbers.watch.follow("a"))

    run(test, pause=60)

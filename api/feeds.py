"""Following the feed of changes: each subscriber reads its own pages when it is behind, so that nothing waits for anybody in memory.

A subscriber that takes nothing is not waited for: the generator is not resumed while an event waits to be sent, so when it is, it
looks at how long that took. One that never takes anything again is cut off by its connection (`api.stalls`).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Collection, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from functools import partial

from anyio import CapacityLimiter, to_thread

from api.settings import PATIENCE
from api.subscriptions import PAUSE, Watch
from graph.drift import Changes, ChangeView
from graph.views import Positions, StatementFilter, Want
from ontology.errors import Overloaded

PAGE = 100
"""Most changes that are held for one subscriber."""
READERS = 4
"""Pages that are read at a time."""


@dataclass(frozen=True, slots=True)
class Fed:
    """A namespace whose changes are followed."""

    changes: Changes
    namespace: str


@dataclass(frozen=True, slots=True)
class Asked:
    """What a subscriber wants: which changes, and which parts of their statements."""

    filter: StatementFilter
    want: frozenset[Want]


class Behind(Overloaded):
    """A subscription that ends here; `position` is where it goes on."""

    def __init__(self, message: str, position: Positions | None) -> None:
        super().__init__(message, retry_after=1)
        self.position = position


def _latest(keys: Collection[Fed]) -> Mapping[Fed, int]:
    found: dict[Fed, int] = {}
    for changes in {key.changes for key in keys}:
        names = {key.namespace for key in keys if key.changes is changes}
        found |= {Fed(changes, name): number for name, number in changes.latest(names).items()}
    return found


class Feeds:
    """The followers of changes of one application. One look at a time tells all of them that there is something new."""

    def __init__(self, *, pause: float = PAUSE, patience: float = PATIENCE) -> None:
        self._watch: Watch[Fed, int] = Watch(_latest, pause=pause)
        self._patience = patience
        self._readers = CapacityLimiter(READERS)

    @property
    def followers(self) -> int:
        """How many follow."""
        return self._watch.followers

    @property
    def reading(self) -> int:
        """How many pages are being read."""
        return self._readers.borrowed_tokens

    def close(self) -> None:
        """End all that follow."""
        self._watch.close()

    async def follow(self, fed: Fed, after: Positions | None, asked: Asked) -> AsyncGenerator[tuple[ChangeView, Positions], None]:
        """Every change after a position, with its own, as it is committed.

        Raises Behind for a subscriber that left an event untaken for too long, and once this is closed.
        """
        loop = asyncio.get_running_loop()
        position = after
        read = partial(fed.changes.page, fed.namespace, first=PAGE, filter=asked.filter, want=asked.want)
        try:
            async with aclosing(self._watch.follow(fed)) as looks:
                async for _ in looks:
                    behind = True
                    while behind:
                        page = await to_thread.run_sync(partial(read, after=position), limiter=self._readers)
                        for view, place in zip(page.items, page.positions, strict=True):
                            # Answering it counts too, which takes a thousandth of anybody's patience.
                            handed = loop.time()
                            yield view, place
                            position = place
                            if loop.time() - handed > self._patience:
                                raise Behind(_slow(self._patience), position)
                            if self._watch.closing:
                                raise Behind(_STOPS, position)
                        # Beyond the last one lies what the filter left out.
                        position = page.end if page.end is not None else position
                        behind = page.has_next
        except Overloaded as failure:
            raise failure if isinstance(failure, Behind) else Behind(_STOPS, position) from failure


_STOPS = "the service stops; subscribe again after the cursor in `extensions`"


def _slow(patience: float) -> str:
    return f"no event was taken for {patience:g} seconds; subscribe again after the cursor in `extensions`"

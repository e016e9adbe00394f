"""The follower: keeps a graph up with the ledger, and rebuilds it where it cannot."""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING

from graph.store.feed import Feed
from graph.store.files import GraphFiles
from graph.store.port import BatchRefused, GraphClosed, GraphGivenUp, GraphUnreadable
from graph.store.settings import GraphSettings

if TYPE_CHECKING:
    from graph.store.kuzu_engine import KuzuStore

log = logging.getLogger(__name__)

_LONGEST_PAUSE = 60.0
_WAY_OUT = "give it more memory (ERSTWHILE_GRAPH_LOAD_POOL_MB) or another engine (ERSTWHILE_GRAPH_ENGINE) and restart, or ask for a rebuild"


class Follower:
    """Owns the graph's files and a thread that is woken by `notify`.

    While there is no readable graph `store` is None and `degraded` says why; whoever reads asks the ledger instead. One lock
    is held by whoever opens, applies, rebuilds or closes; readers never wait for it.
    """

    def __init__(self, feed: Feed, files: GraphFiles, settings: GraphSettings) -> None:
        self._feed, self._files, self._settings = feed, files, settings
        self._work = threading.RLock()
        self._changed = threading.Condition()
        self._woken = False
        self._awaited = 0
        self._closing = False
        self._failures = 0
        self._distrusted: str | None = None
        self._given_up = False
        self.store: KuzuStore | None = None
        self.degraded: str | None = "the graph is being opened; the ledger answers"
        self._thread = threading.Thread(target=self._run, name="graph-follower", daemon=True)

    def start(self) -> None:
        """Open what is there and follow in the background. Raises DataFolderBusy where another process has it open."""
        with self._work:
            try:
                if self._files.live.exists():
                    self._open()
            except GraphUnreadable as failure:
                self._distrusted = str(failure)
                self.degraded = f"the graph will be rebuilt ({failure}); the ledger answers"
        self._wake()
        self._thread.start()

    def _wake(self) -> None:
        with self._changed:
            self._woken = True
            self._changed.notify_all()

    def notify(self, transaction: int) -> None:
        """The ledger has this transaction now."""
        store = self.store
        if store is None or store.watermark() < transaction:
            self._wake()

    def watermark(self) -> int:
        """The graph's last transaction; 0 without a graph."""
        store = self.store
        return store.watermark() if store is not None else 0

    def wait_for(self, transaction: int, timeout: float) -> bool:
        """Whether, within `timeout` seconds, the graph followed to a transaction or stopped being what answers."""
        with self._changed:
            self._awaited += 1
            self._changed.notify_all()
            try:
                return self._changed.wait_for(lambda: self.store is None or self._closing or self.watermark() >= transaction, timeout)
            finally:
                self._awaited -= 1

    def distrust(self, store: KuzuStore, why: str) -> None:
        """A read failed: take the graph out of service and rebuild it in the background."""
        with self._changed:
            if self.store is not store or self._closing:
                return
            self._distrusted = why
        self._wake()

    def catch_up(self) -> None:
        """Follow to the ledger's last transaction; rebuild first where the graph is unreadable or not of this ledger.

        Nothing where the graph was given up: then the ledger alone answers.
        """
        with self._work:
            if self._closing or self._given_up:
                return
            try:
                if self._distrusted is not None:
                    raise GraphUnreadable(self._distrusted)
                self._follow()
            except (GraphUnreadable, BatchRefused) as failure:
                try:
                    self._rebuild(f"{failure}")
                except GraphGivenUp as deaths:
                    self._give_up(f"{deaths}")
                    return
                self._follow()

    def _give_up(self, why: str) -> None:
        self._given_up = True
        log.error("the graph is given up: %s; %s", why, _WAY_OUT)
        self._put(None, f"the graph is given up ({why}); the ledger answers; {_WAY_OUT}")

    def _follow(self) -> None:
        store = self.store
        if store is None:
            if not self._files.live.exists() and self._feed.statements() >= self._settings.copy_from:
                raise GraphUnreadable("there is no graph yet")
            store = self._open()
        self._compare(store)
        for batch in self._feed.batches(store.watermark()):
            if self._closing:
                return
            store.apply(batch)
            with self._changed:
                self._changed.notify_all()

    def _open(self) -> KuzuStore:
        # Not at the top: nobody loads Arrow who has no graph.
        from graph.store.kuzu_engine import KuzuStore

        with self._files.opening():
            store = KuzuStore(self._files.live, self._feed.keys, self._settings)
        try:
            self._compare(store)
        except GraphUnreadable:
            store.close()
            raise
        self._put(store, None)
        self._files.discard_others()
        return store

    def _compare(self, store: KuzuStore) -> None:
        """Raise GraphUnreadable where the graph has followed something that this ledger does not say."""
        mark = store.mark()
        if mark.ledger != self._feed.ledger:
            raise GraphUnreadable("the graph belongs to another ledger")
        at = self._feed.time_of(mark.transaction)
        if at is None:
            raise GraphUnreadable(
                f"the graph is ahead of the ledger: it has transaction {mark.transaction}, the ledger ends at {self._feed.last()}"
            )
        if at != mark.at:
            raise GraphUnreadable(f"the graph followed another history: transaction {mark.transaction} has another time in the ledger")

    def _put(self, store: KuzuStore | None, degraded: str | None) -> None:
        with self._changed:
            self.store, self.degraded = store, degraded
            self._changed.notify_all()

    def rebuild(self) -> None:
        """Build the graph anew from the ledger; the old one answers meanwhile if it can."""
        with self._work:
            if not self._closing:
                self._files.forget_loads()
                self._build()
                self._given_up = False
                self._follow()

    def _rebuild(self, why: str) -> None:
        log.warning("the graph is rebuilt from the ledger: %s", why)
        self._take_down(f"the graph is being rebuilt ({why}); the ledger answers")
        self._files.set_aside()
        self._distrusted = None
        self._build()

    def _take_down(self, degraded: str) -> None:
        store = self.store
        self._put(None, degraded)
        if store is not None:
            store.close()

    def _build(self) -> None:
        """Fill a new file, then let it take the place of the live one: a kill at any step leaves either or none."""
        from graph.store.kuzu_engine import KuzuStore

        started = time.perf_counter()
        self._files.discard_building()
        upto = self._feed.last()
        roomy = self._settings.model_copy(update={"buffer_pool_mb": max(self._settings.buffer_pool_mb, self._settings.load_pool_mb)})
        with self._files.loading(roomy.buffer_pool_mb):
            building = KuzuStore(self._files.building, self._feed.keys, roomy)
            try:
                for part in self._feed.whole(upto):
                    if self._closing:
                        return
                    building.load_part(part)
                building.finish_load(upto, self._feed.time_of(upto) or 0)
            finally:
                building.close()
        self._take_down("the rebuilt graph is being opened; the ledger answers")
        if self._files.live.exists():
            self._files.set_aside()
        self._files.promote()
        self._open()
        log.info("the graph is rebuilt to transaction %d in %.1f s", upto, time.perf_counter() - started)

    def _run(self) -> None:
        while self._sleep():
            try:
                self.catch_up()
                self._failures = 0
            except GraphClosed:
                log.debug("the graph was closed while it followed")
            except Exception as failure:
                # Whatever it is - a full disk, a busy database - the ledger answers, and the next attempt may succeed.
                self._failures += 1
                log.exception("the graph cannot follow the ledger; next attempt in %.0f s", self._pause())
                if self.store is None:
                    self._put(None, f"the graph cannot be built ({failure}); the ledger answers")

    def _pause(self) -> float:
        """Seconds until the next attempt after failures: longer each time."""
        return min(_LONGEST_PAUSE, float(1 << min(self._failures, 10)) / 2)

    def _sleep(self) -> bool:
        """Until there is work; False at the end."""
        with self._changed:
            if self._failures:
                self._changed.wait_for(lambda: self._closing, self._pause())
            else:
                self._changed.wait_for(lambda: self._closing or self._woken)
                # Gather what is committed meanwhile into one batch, unless somebody waits: following each commit at once would
                # take the time that the next one needs.
                self._changed.wait_for(lambda: self._closing or self._awaited > 0, self._settings.linger_seconds)
            self._woken = False
            return not self._closing

    def close(self) -> None:
        """Stop after the batch at hand and release the files."""
        with self._changed:
            self._closing = True
            self._changed.notify_all()
        if self._thread.ident is not None:
            self._thread.join()
        with self._work:
            self._take_down("the graph is closed")

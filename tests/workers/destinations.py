"""A place to import to without a graph: it keeps what it takes, has a clock of its own, and fails when it is told to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event, Lock

from ontology.episode import EpisodeDraft
from ontology.errors import ErstwhileError
from workers.bulk import Tally, import_drafts
from workers.feed import FedSink, Feed
from workers.journal import Anchor, Journal
from workers.readers import Draft, ReadOptions, ReadReport, StatedEpisode


@dataclass
class Destination:
    """`took` is every draft that came, `times` those of its transactions. One whose text holds `refuse` is refused."""

    took: list[EpisodeDraft] = field(default_factory=list)
    times: list[int] = field(default_factory=list)
    most: int | None = None
    asleep: bool = False
    lock: Lock = field(default_factory=Lock)

    def take(self, drafts: Sequence[Draft]) -> Tally:
        """A batch, one transaction."""
        tally = Tally()
        with self.lock:
            if self.most is not None and len(self.took) + len(drafts) > self.most:
                raise ErstwhileError("the power is cut")
            for each in drafts:
                draft = each.episode if isinstance(each, StatedEpisode) else each
                if "refuse" in draft.content:
                    tally.fail(str(draft.external_id), "refused")
                else:
                    self.took.append(draft)
                    tally.accepted += 1
            self.times.append((self.times[-1] if self.times else 1_700_000_000_000_000) + 10)
        return tally

    def last(self) -> Anchor:
        """The last transaction."""
        if self.asleep:
            raise ErstwhileError("no answer")
        return Anchor(len(self.times), self.times[-1] if self.times else 0)

    def last_by(self, at: int) -> int:
        """The last one by a time."""
        return sum(time <= at for time in self.times)

    @property
    def texts(self) -> list[str]:
        """What it took, sorted."""
        return sorted(draft.content for draft in self.took)


@dataclass
class Importer:
    """Imports paths into a destination with a journal, each `run` as a process of its own would."""

    destination: Destination
    path: Path
    options: ReadOptions = field(default_factory=ReadOptions)
    report: ReadReport = field(default_factory=ReadReport)
    opened: list[Journal] = field(default_factory=list)

    def journal(self) -> Journal:
        """The journal as a new process opens it."""
        self.opened.append(Journal(self.path, "default", self.destination))
        return self.opened[-1]

    def close(self) -> None:
        """Close what was left open."""
        for journal in self.opened:
            journal.close()

    def run(self, *paths: Path, stop: Event | None = None, threads: int = 2, batch: int = 4) -> Tally:
        """One run to its end; what it raises leaves the journal as a kill would."""
        self.report, tally = ReadReport(), Tally()
        journal = self.journal()
        feed = Feed(paths, self.options, self.report, tally, journal=journal, stop=stop)
        import_drafts(feed.items(), FedSink(self.destination, feed), threads=threads, batch=batch, stop=feed.stop, tally=tally)
        journal.close()
        return tally

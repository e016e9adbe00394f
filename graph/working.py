"""Jobs and the backlog of one ledger."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import TypeVar

from sqlalchemy import Connection, Engine

from graph.ledger import deliveries, jobs
from graph.ledger.committing import Clock, Commit
from graph.ledger.jobs import Item
from graph.ledger.preparing import PreparedEpisode, Preparer
from graph.ledger.schema import OPEN
from graph.ledger.sources import episode_views
from graph.ledger.writing import Writer
from graph.views import Page, Positions, Receipt
from graph.work import BULK, BacklogView, Extracted, Failed, JobFailureView, JobView, Offered, OfferedStatements, WaitingEpisode
from ontology.errors import IdempotencyConflict, InvalidInput, NotFound
from ontology.instant import Instant
from ontology.names import Keys, checked_namespace
from ontology.vocabulary import Vocabulary

T = TypeVar("T")
PreparerOf = Callable[[str], Preparer]
Notify = Callable[[int], None]

CANCELLED = "the job was cancelled"


class LedgerBacklog:
    """Implements `graph.work.Backlog`."""

    def __init__(self, engine: Engine, writer: Writer, vocabulary: Vocabulary, preparer: PreparerOf, notify: Notify) -> None:
        self._engine, self._writer, self._vocabulary = engine, writer, vocabulary
        self._preparer, self._notify = preparer, notify

    def unsent(self, queue: str, limit: int) -> list[WaitingEpisode]:
        """Episodes of a queue that are not handed out, oldest first."""
        with self._engine.connect() as connection:
            return deliveries.unsent(connection, queue, limit)

    def overdue(self, before: Instant, limit: int) -> list[WaitingEpisode]:
        """Episodes that were handed out at `before` or earlier and still wait, the longest first."""
        with self._engine.connect() as connection:
            return deliveries.overdue(connection, before, limit)

    def find(self, rows: Collection[int]) -> dict[int, WaitingEpisode]:
        """Those of some episodes that still wait, by row."""
        with self._engine.connect() as connection:
            return deliveries.waiting_among(connection, set(rows))

    def waiting_copies(self, namespace: str, key: str) -> list[WaitingEpisode]:
        """The copies of an episode that wait, oldest first."""
        with self._engine.connect() as connection:
            return deliveries.waiting_copies(connection, namespace, key)

    def extracted_in(self, namespace: str, key: str) -> int:
        """The transaction in which a copy of an episode was last extracted; 0 where none was."""
        with self._engine.connect() as connection:
            return deliveries.extracted_in(connection, namespace, key)

    def note_sent(self, rows: Collection[int], at: Instant | None) -> None:
        """Some episodes were handed out."""
        self._writer.note(lambda connection: deliveries.sent(connection, rows, at))

    def unsend_all(self) -> None:
        """Nothing is handed out."""
        self._writer.note(deliveries.unsend_all)

    def note_starts(self, rows: Sequence[int]) -> None:
        """Some episodes were begun."""
        self._writer.note(lambda connection: deliveries.started(connection, rows))

    def note_problems(self, problems: Mapping[int, str]) -> None:
        """What went wrong with some episodes."""
        self._writer.note(lambda connection: deliveries.problem(connection, dict(problems)))

    def complete(self, found: Sequence[Extracted]) -> dict[int, Receipt]:
        """Commit what was found."""
        results = {each.row: each for each in found}
        receipts: dict[int, Receipt] = {}
        for namespace, waiting in self._by_namespace(results).items():
            preparer = self._preparer(namespace)
            prepared = [
                preparer.extracted(each.draft, results[each.row].claims, each.flags, results[each.row].extractor, "EXTRACTED")
                for each in waiting
            ]
            made = self._writer.record(namespace, prepared, self._vocabulary, kind="ingest", actor="local")
            receipts |= {each.row: receipt for each, receipt in zip(waiting, made, strict=True)}
            self._notify(max((receipt.transaction for receipt in made if not receipt.deduplicated), default=0))
        return receipts

    def give_up(self, lost: Sequence[Failed]) -> int:
        """Make dead letters of episodes."""
        reasons = {each.row: each for each in lost}
        given_up = 0
        for namespace, waiting in self._by_namespace(reasons).items():
            mine = [reasons[each.row] for each in waiting]

            def act(connection: Connection, commit: Commit, mine: Sequence[Failed] = mine) -> tuple[int, int]:
                number = deliveries.give_up(connection, commit.number, mine)
                commit.needed = number > 0
                return number, commit.number if commit.needed else 0

            number, transaction = self._writer.change(namespace, self._vocabulary, act, kind="fail", actor="local", reason=None)
            given_up += number
            # It changes no statement, and yet what follows the ledger counts as behind until it has seen it.
            self._notify(transaction)
        return given_up

    def _by_namespace(self, rows: Collection[int]) -> dict[str, list[WaitingEpisode]]:
        found: dict[str, list[WaitingEpisode]] = defaultdict(list)
        for each in sorted(self.find(rows).values(), key=lambda each: each.row):
            found[each.namespace].append(each)
        return found

    def view(self) -> BacklogView:
        """How much waits."""
        with self._engine.connect() as connection:
            return deliveries.backlog(connection)

    def queues(self) -> dict[str, int]:
        """How many episodes wait, by their queue."""
        with self._engine.connect() as connection:
            return deliveries.by_queue(connection)

    def dead_letters(self) -> dict[str, int]:
        """Episodes that are given up now, counted by reason."""
        with self._engine.connect() as connection:
            return deliveries.open_failures(connection)


class LedgerJobs:
    """Implements `graph.work.Jobs`."""

    def __init__(
        self, engine: Engine, keys: Keys, writer: Writer, vocabulary: Vocabulary, preparer: PreparerOf, notify: Notify, clock: Clock
    ) -> None:
        self._engine, self._keys, self._writer, self._vocabulary = engine, keys, writer, vocabulary
        self._preparer, self._notify, self._clock = preparer, notify, clock

    def accept(self, namespace: str, items: Sequence[Offered], *, actor: str = "local", trace: str | None = None) -> JobView:
        """Record episodes to be extracted."""
        preparer = self._preparer(namespace)

        def prepared(item: Offered) -> PreparedEpisode:
            if item.quarantined:
                return preparer.extracted(item.draft, [], item.flags, "none", "QUARANTINED")
            return preparer.pending(item.draft, item.flags)

        handed_in = [(_at(place, prepared, item), item.idempotency_key) for place, item in enumerate(items)]
        return self._record(namespace, handed_in, "accept", actor, trace)

    def state(self, namespace: str, items: Sequence[OfferedStatements], *, actor: str = "local", trace: str | None = None) -> JobView:
        """Record episodes with their statements."""
        preparer = self._preparer(namespace)

        def prepared(item: OfferedStatements) -> PreparedEpisode:
            return preparer.stated(item.draft, item.claims, item.flags, drop_bad_dates=item.drop_bad_dates)

        handed_in = [(_at(place, prepared, item), item.idempotency_key) for place, item in enumerate(items)]
        return self._record(namespace, handed_in, "assert", actor, trace)

    def _record(
        self, namespace: str, handed_in: Sequence[tuple[PreparedEpisode, str | None]], kind: str, actor: str, trace: str | None
    ) -> JobView:
        def act(connection: Connection, commit: Commit) -> tuple[int, int]:
            refused: dict[int, Item] = {}
            taken: list[PreparedEpisode] = []
            for place, (episode, key) in enumerate(handed_in):
                try:
                    if key is not None:
                        commit.claim_key(key, episode)
                except IdempotencyConflict as conflict:
                    first = commit.claimed(conflict.idempotency_key)
                    refused[place] = Item(*first, refused=conflict.message)
                except InvalidInput as failure:
                    raise failure.under(str(place)) from failure
                else:
                    taken.append(episode)
            receipts = commit.record(taken, queue=BULK, trace=trace)
            names = iter(zip(taken, receipts, strict=True))
            items = []
            for place in range(len(handed_in)):
                if place in refused:
                    items.append(refused[place])
                    continue
                episode, receipt = next(names)
                items.append(Item(episode.row["key"], episode.row["revision"], receipt.deduplicated))
            row = jobs.create(connection, self._keys, namespace, kind, actor, trace, commit.at, items)
            return row, commit.number if commit.needed else 0

        row, transaction = self._writer.change(namespace, self._vocabulary, act, kind=kind, actor=actor, reason=None)
        self._notify(transaction)
        return self._view(row)

    def job(self, namespace: str, id: str) -> JobView | None:
        """A job by its ID."""
        checked_namespace(namespace)
        with self._engine.connect() as connection:
            row = jobs.named(connection, namespace, id)
            return None if row is None else jobs.views(connection, [row])[0]

    def jobs(self, namespace: str, *, first: int = 20, after: Positions | None = None) -> Page[JobView]:
        """Jobs, newest first."""
        checked_namespace(namespace)
        with self._engine.connect() as connection:
            rows = jobs.newest(connection, namespace, None if after is None else int(after[0]), first + 1)
            views = jobs.views(connection, rows[:first])
        return Page(tuple(views), tuple((row.row,) for row in rows[:first]), len(rows) > first)

    def failures(self, namespace: str, id: str, *, first: int = 20, after: Positions | None = None) -> Page[JobFailureView]:
        """Failed episodes of a job, in the order of the call."""
        with self._engine.connect() as connection:
            row = jobs.named(connection, namespace, id)
            if row is None:
                raise NotFound("there is no such job in this namespace", id=id)
            found = jobs.failed(connection, row.row, -1 if after is None else int(after[0]), first + 1)
            shown = episode_views(connection, [(each.key, each.revision) for each in found[:first]], OPEN - 1)
        views = tuple(
            JobFailureView(shown[each.key, each.revision], each.refused or each.reason or "", each.attempts or 0) for each in found[:first]
        )
        return Page(views, tuple((each.place,) for each in found[:first]), len(found) > first)

    def waiting(self, namespace: str, id: str) -> list[WaitingEpisode]:
        """Episodes of a job that wait."""
        with self._engine.connect() as connection:
            row = jobs.named(connection, namespace, id)
            if row is None:
                raise NotFound("there is no such job in this namespace", id=id)
            return list(deliveries.waiting_among(connection, jobs.episodes_of(connection, row.row, "PENDING")).values())

    def cancel(self, namespace: str, id: str, *, actor: str = "local") -> JobView:
        """Give up what still waits."""

        def act(connection: Connection, commit: Commit, job: int) -> None:
            lost = [Failed(row, CANCELLED) for row in jobs.episodes_of(connection, job, "PENDING")]
            if deliveries.give_up(connection, commit.number, lost):
                commit.needed = True
                jobs.set_cancelled(connection, job, commit.at)

        return self._change(namespace, id, "cancel", actor, act)

    def retry(self, namespace: str, id: str, *, actor: str = "local", trace: str | None = None) -> JobView:
        """Let the failed episodes wait again."""

        def act(connection: Connection, commit: Commit, job: int) -> None:
            rows = jobs.episodes_of(connection, job, "FAILED")
            deliveries.try_again(connection, rows, commit.number, commit.at, BULK, trace)
            if rows:
                commit.needed = True
                jobs.set_cancelled(connection, job, None)

        return self._change(namespace, id, "retry", actor, act)

    def _change(self, namespace: str, id: str, kind: str, actor: str, act: Callable[[Connection, Commit, int], None]) -> JobView:
        checked_namespace(namespace)

        def change(connection: Connection, commit: Commit) -> tuple[int, int]:
            row = jobs.named(connection, namespace, id)
            if row is None:
                raise NotFound("there is no such job in this namespace", id=id)
            act(connection, commit, row.row)
            return int(row.row), commit.number if commit.needed else 0

        row, transaction = self._writer.change(namespace, self._vocabulary, change, kind=kind, actor=actor, reason=None)
        self._notify(transaction)
        return self._view(row)

    def _view(self, row: int) -> JobView:
        with self._engine.connect() as connection:
            return jobs.views(connection, [jobs.by_row(connection, row)])[0]


def _at(place: int, prepare: Callable[[T], PreparedEpisode], item: T) -> PreparedEpisode:
    """One item prepared; what is wrong with it is named by its place."""
    try:
        return prepare(item)
    except InvalidInput as failure:
        raise failure.under(str(place)) from failure
    except NotFound as failure:
        raise InvalidInput(failure.message, path=(str(place),), reason="NOT_FOUND") from failure

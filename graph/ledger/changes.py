"""The feed of changes: what every commit opened, closed and joined, in pages that go on from a position and remember nothing."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, islice

from sqlalchemy import Connection, Engine, bindparam, func, select

from graph.drift import ChangeKind, ChangeView, shown_at
from graph.ledger.change_filter import ChangeFilter
from graph.ledger.change_steps import RANGES, Position, Rank, Step, checked, last_row, steps
from graph.ledger.details import Beforehand, Describer, VocabularyAt
from graph.ledger.history import transaction_times
from graph.ledger.identity_changes import changed_entities
from graph.ledger.known_identity import IdentityCache
from graph.ledger.names_between import NamesBetween
from graph.ledger.schema import transactions
from graph.views import EVERYTHING, Basis, Page, Positions, StatementFilter, StatementView, Want
from ontology.errors import InvalidInput
from ontology.instant import UNBOUNDED_PAST, Instant
from ontology.names import Keys, checked_namespace

MOST = 1000
"""Changes of one page."""
LOOKED_THROUGH = 2000
"""Changes that one page looks through for those that match a filter."""
WEIGHED = 200
"""Of how many of them a page weighs the evidence, where what they cite decides."""

_LAST = select(func.max(transactions.c.number)).where(transactions.c.namespace == bindparam("namespace"))
_KINDS = {Rank.CLOSED: ChangeKind.CLOSED, Rank.OPENED: ChangeKind.OPENED, Rank.IDENTITY: ChangeKind.IDENTITY}


class LedgerChanges:
    """Implements `graph.drift.Changes` on one ledger."""

    def __init__(self, engine: Engine, keys: Keys, vocabulary_at: VocabularyAt, identities: IdentityCache) -> None:
        self._engine = engine
        self._keys = keys
        self._vocabulary_at = vocabulary_at
        self._identities = identities

    def page(
        self,
        namespace: str,
        *,
        after: Positions | None = None,
        first: int = 100,
        filter: StatementFilter = EVERYTHING,
        want: frozenset[Want] = frozenset(),
    ) -> Page[ChangeView]:
        """The changes after a position. Where much has to be looked through, it comes back short, and `end` has moved on.

        Raises InvalidInput for a position behind the last transaction, and for what cannot be asked of changes.
        """
        checked_namespace(namespace)
        if filter.include_invalidated:
            raise InvalidInput(
                "changes tell of all statements, also of those that hold no more: includeInvalidated means nothing here",
                path=("filter", "includeInvalidated"),
                reason="UNSUPPORTED",
            )
        if not 1 <= first <= MOST:
            raise InvalidInput(f"first is 1 to {MOST}, not {first}", path=("first",), reason="OUT_OF_RANGE")
        start = None if after is None else checked(after)
        with self._engine.connect() as connection:
            if start is not None and start[0] > (last := self.last_transaction(connection, namespace)):
                # From there on it would leave out what is recorded until then.
                raise InvalidInput(
                    f"the cursor stands on transaction {start[0]}, behind the last one here, {last}: it is of another ledger or namespace, "
                    "or of this one before an older backup of it was restored; follow from the beginning",
                    path=("after",),
                    reason="INVALID_CURSOR",
                )
            reading = _Reading(self, connection, namespace)
            return reading.page(start, first, filter, want)

    def last(self, namespace: str) -> Position | None:
        """The position of the last change; None before the first."""
        checked_namespace(namespace)
        with self._engine.connect() as connection:
            return _Reading(self, connection, namespace).last()

    def latest(self, namespaces: Collection[str]) -> dict[str, int]:
        """The last transactions of some namespaces; of one that has none, 0."""
        with self._engine.connect() as connection:
            return {namespace: self.last_transaction(connection, namespace) for namespace in namespaces}

    def describer(
        self, connection: Connection, namespace: str, transaction: int, at: Instant, valid_at: Instant, beforehand: Beforehand | None = None
    ) -> Describer:
        """What describes statements as of a transaction."""
        basis = Basis(namespace, valid_at, at, transaction)
        return Describer(connection, self._keys, self._vocabulary_at, basis, self._identities, beforehand=beforehand)

    @staticmethod
    def last_transaction(connection: Connection, namespace: str) -> int:
        """The last one of a namespace; before the first 0."""
        return connection.scalar(_LAST, {"namespace": namespace}) or 0

    def moments(self, connection: Connection, namespace: str) -> Sequence[int]:
        """The transactions that changed who is who."""
        last = self.last_transaction(connection, namespace)
        known = self._identities.changes(connection, namespace, last)
        # Another reader, which began later, may know of more than this one sees.
        return known if not known or known[-1] <= last else [number for number in known if number <= last]


class _Reading:
    """One reading of the feed, all on one state of the ledger."""

    def __init__(self, feed: LedgerChanges, connection: Connection, namespace: str) -> None:
        self._feed = feed
        self._connection = connection
        self._namespace = namespace
        self._moments = feed.moments(connection, namespace)
        self._times: dict[int, Instant] = {}

    def last(self) -> Position | None:
        """The position of the last change."""
        found = [last for rank in RANGES if (last := last_row(self._connection, self._namespace, rank)) is not None]
        if self._moments:
            *_, last_moved = [("", ()), *self._entities(self._moments[-1])]
            found.append((self._moments[-1], int(Rank.IDENTITY), last_moved[0]))
        return max(found, key=lambda each: each[:2], default=None)

    def page(self, start: Position | None, first: int, filter: StatementFilter, want: frozenset[Want]) -> Page[ChangeView]:
        """The page after a position."""
        wanted = None if filter == EVERYTHING else ChangeFilter(filter)
        batch = first + 1 if wanted is None else WEIGHED
        walk = self._walk(start, batch)
        kept: list[Step] = []
        end, looked = start, 0
        over = False
        while len(kept) <= first and (wanted is None or (looked < LOOKED_THROUGH and wanted.weighed < WEIGHED)):
            found = list(islice(walk, batch))
            if found:
                self._note_times(found)
                kept += found if wanted is None else self._matching(found, wanted)
                end, looked = found[-1].position, looked + len(found)
            if len(found) < batch:
                over = True
                break
        if len(kept) > first:
            kept, over = kept[:first], False
            end = kept[-1].position
        return Page(tuple(self._views(kept, want, wanted)), tuple(step.position for step in kept), not over, end)

    def _walk(self, start: Position | None, chunk: int) -> Iterator[Step]:
        for step in steps(self._connection, self._namespace, start, self._moments, chunk):
            if step.rank is not Rank.IDENTITY:
                yield step
                continue
            behind = start[2] if start is not None and start[:2] == (step.transaction, Rank.IDENTITY) else ""
            for key, members in self._entities(step.transaction):
                if key > str(behind):
                    yield replace(step, row=key, members=members)

    def _entities(self, transaction: int) -> list[tuple[str, tuple[str, ...]]]:
        """Whom a transaction joined or parted, by key."""
        now = self._feed.describer(self._connection, self._namespace, transaction, 0, 0)
        before = now.identity_at(transaction - 1)
        found = changed_entities(self._connection, self._namespace, transaction, before, now.identity)
        return [(key, tuple(sorted(members))) for key, members in sorted(found.items())]

    def _note_times(self, found: Collection[Step]) -> None:
        numbers = {step.transaction for step in found} | {step.rectangle.tx_from for step in found if step.rectangle is not None}
        self._times |= transaction_times(self._connection, numbers - self._times.keys())

    def _describer(self, transaction: int, valid_at: Instant = UNBOUNDED_PAST, beforehand: Beforehand | None = None) -> Describer:
        return self._feed.describer(self._connection, self._namespace, transaction, self._times[transaction], valid_at, beforehand)

    def _matching(self, found: Sequence[Step], wanted: ChangeFilter) -> list[Step]:
        """Those of some changes that match; who is who passes every filter."""
        kept: list[Step] = []
        joined = bool(self._moments) and self._moments[0] <= found[-1].transaction
        every = [step.rectangle for step in found if step.rectangle is not None]
        spoken = None if joined else wanted.worth_weighing(self._connection, every)
        for transaction, group in groupby(found, key=lambda step: step.transaction):
            each = list(group)
            rows = [step.rectangle for step in each if step.rectangle is not None]
            rows = rows if spoken is None else [row for row in rows if row.base in spoken]
            matching = wanted.among(self._describer(transaction), rows) if rows else set()
            kept += [step for step in each if step.rectangle is None or step.rectangle in matching]
        return kept

    def _views(self, kept: Sequence[Step], want: frozenset[Want], wanted: ChangeFilter | None) -> list[ChangeView]:
        beforehand = self._beforehand(kept)
        views: list[ChangeView] = []
        for transaction, group in groupby(kept, key=lambda step: step.transaction):
            each = list(group)
            shown = self._statements(transaction, each, want, wanted, beforehand)
            views += [
                ChangeView(
                    _KINDS[step.rank],
                    str(step.row) if step.rectangle is None else step.rectangle.proposition,
                    shown.get(step.row),
                    transaction,
                    self._times[transaction],
                    step.members,
                )
                for step in each
            ]
        return views

    def _statements(
        self, transaction: int, each: Sequence[Step], want: frozenset[Want], wanted: ChangeFilter | None, beforehand: Beforehand | None
    ) -> dict[int | str, StatementView]:
        """Views of the statements of one transaction's changes, by row."""
        groups: dict[Instant, list[Step]] = {}
        for step in each:
            row = step.rectangle
            if row is not None:
                at = shown_at(row.v_from, row.v_to, self._times[transaction])
                # Evidence is weighed at the first instant of a statement that does not hold when it is asked about: so most share a basis.
                # What took a statement's place is weighed at the basis' own.
                groups.setdefault(UNBOUNDED_PAST if at == row.v_from and Want.INVALIDATION not in want else at, []).append(step)
        found: dict[int | str, StatementView] = {}
        for at, together in groups.items():
            describer = self._describer(transaction, at, beforehand)
            rows = [step.rectangle for step in together if step.rectangle is not None]
            turned = frozenset[str]() if wanted is None else wanted.turned(describer, rows)
            views = describer.views(rows, want, turned, sided=wanted is not None and wanted.sided)
            found |= {step.row: view for step, view in zip(together, views, strict=True)}
        return found

    def _beforehand(self, kept: Sequence[Step]) -> Beforehand | None:
        """What is looked up once for a whole page."""
        if not kept:
            return None
        members: set[str] = set()
        for transaction, group in groupby(kept, key=lambda step: step.transaction):
            identity = self._describer(transaction).identity
            keys = {key for step in group if step.rectangle is not None for key in (step.rectangle.subject, step.rectangle.object)}
            identity.load(keys)
            members |= {member for key in keys for member in identity.members(key)}
        names = NamesBetween(self._connection, members, kept[0].transaction, kept[-1].transaction)
        return Beforehand(names, self._times)

"""The feed: what the ledger's tables say happened in a range of transactions, as batches for a graph.

Every batch is read in one database transaction. A row that the ledger closed after the batch's last transaction is open in
it; so a history gives the same graph however it is divided.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator

from sqlalchemy import Column, ColumnElement, Connection, Engine, and_, exists, func, or_, select

from graph.belief.traits import traits_of
from graph.ledger.details import VocabularyAt
from graph.ledger.following import Followed
from graph.ledger.schema import OPEN, claims, components, episodes, statements, things, transactions
from graph.store.endings import Endings
from graph.store.entities import entities
from graph.store.evidence import Evidence
from graph.store.port import Batch, EpisodeRow, MembershipRow, Part, SlotRow, StatementRow, WithdrawalRow, ledger_of
from graph.store.sql_engine import keys_of
from ontology.instant import Instant

_EVENTS: tuple[Column[int], ...] = (
    statements.c.tx_from,
    statements.c.tx_to,
    episodes.c.tx_recorded,
    things.c.tx_from,
    claims.c.tx_from,
    claims.c.tx_to,
    components.c.tx_from,
    components.c.tx_to,
)
"""Where a change of each kind of row is dated."""


class Feed(Followed):
    """Reads one ledger. Raises LookupError on construction where it has no secret, and so no identity."""

    def __init__(self, engine: Engine, vocabulary_at: VocabularyAt, *, batch_rows: int = 20_000, load_rows: int = 200_000) -> None:
        super().__init__(engine, _EVENTS, batch_rows)
        self._load_rows = load_rows
        with engine.connect() as connection:
            keys = keys_of(connection)
        if keys is None:
            raise LookupError("the ledger has no secret yet: open it for writing first")
        self.keys = keys
        """What makes the ledger's keys."""
        self.ledger = ledger_of(keys)
        """Identity of the ledger."""

        def one_valued(predicate: str, transaction: int) -> bool:
            return traits_of(vocabulary_at(transaction).predicate(predicate)).one_valued

        self._evidence = Evidence(keys, vocabulary_at)
        self._endings = Endings(one_valued)

    def statements(self) -> int:
        """How many statements the ledger holds, about: its greatest row number."""
        with self._engine.connect() as connection:
            return connection.scalar(select(func.coalesce(func.max(statements.c.row), 0))) or 0

    def batches(self, after: int, upto: int | None = None) -> Iterator[Batch]:
        """Batches of the transactions `(after, upto]`, in order, each of bounded size unless one transaction alone is larger."""
        upto = self.last() if upto is None else upto
        while after < upto:
            with self._engine.connect() as connection:
                end = self._end(connection, after, upto)
                if end is None:
                    return
                yield self._batch(connection, after, end)
            after = end

    def _batch(self, connection: Connection, after: int, upto: int) -> Batch:
        ours = and_(statements.c.tx_from > after, statements.c.tx_from <= upto)
        opened, slots = _opened(connection, ours, upto)
        in_range = (statements.c.tx_to > after, statements.c.tx_to <= upto, statements.c.tx_from <= after)
        closed = connection.execute(select(statements.c.row, statements.c.tx_to).where(*in_range).order_by(statements.c.row))
        assertions = self._evidence.of_statements(connection, ours, upto)
        return Batch(
            after,
            upto,
            _time(connection, upto),
            entities(connection, after, upto),
            slots,
            _episodes(connection, after, upto),
            opened,
            [(row, tx_to) for row, tx_to in closed],
            assertions + self._evidence.of_claims(connection, after, upto),
            _withdrawn(connection, after, upto),
            self._endings.of(connection, opened, after, upto),
            _memberships(connection, components.c.tx_from > after, components.c.tx_from <= upto, upto=upto),
            _memberships(connection, components.c.tx_from <= after, components.c.tx_to > after, components.c.tx_to <= upto, upto=upto),
        )

    def whole(self, upto: int) -> Generator[Part, None, None]:
        """The history up to a transaction as parts of bounded size, nodes before what refers to them. Read in a thread, one part ahead."""
        # Not at the top: nobody loads Arrow who has no graph.
        from graph.store.history import read_ahead

        yield from read_ahead(self._parts(upto))

    def _parts(self, upto: int) -> Generator[Part, None, None]:
        from graph.store.history import History

        with self._engine.connect() as connection:
            yield from History(connection, upto, self._load_rows, self._evidence, self._endings).parts(_time(connection, upto))


def _time(connection: Connection, transaction: int) -> Instant:
    return connection.scalar(select(transactions.c.at).where(transactions.c.number == transaction)) or 0


def _opened(connection: Connection, ours: ColumnElement[bool], upto: int) -> tuple[list[StatementRow], list[SlotRow]]:
    """Statements as they stand at `upto`, in order of (tx_from, row), and the slots that begin with them."""
    columns = [statements.c[name] for name in StatementRow._fields]
    query = select(*columns).where(ours).order_by(statements.c.tx_from, statements.c.row)
    opened = [StatementRow._make(row) for row in connection.execute(query).all()]
    opened = [row if row.tx_to <= upto or row.tx_to == OPEN else row._replace(tx_to=OPEN) for row in opened]
    earlier = statements.alias()
    before = or_(
        earlier.c.tx_from < statements.c.tx_from, and_(earlier.c.tx_from == statements.c.tx_from, earlier.c.row < statements.c.row)
    )
    first = ~exists().where(earlier.c.slot == statements.c.slot, before)
    slots = select(*[statements.c[name] for name in ("slot", "namespace", "subject", "predicate", "qualifier")]).where(ours, first)
    return opened, [SlotRow._make(row) for row in connection.execute(slots).all()]


def _memberships(connection: Connection, *conditions: ColumnElement[bool], upto: int) -> list[MembershipRow]:
    """Who belongs to whom, as it stands at `upto`."""
    columns = (components.c.member, components.c.root, components.c.namespace, components.c.tx_from, components.c.tx_to)
    rows = map(MembershipRow._make, connection.execute(select(*columns).where(*conditions).order_by(components.c.row)).all())
    return [row if row.tx_to <= upto else row._replace(tx_to=OPEN) for row in rows]


def _episodes(connection: Connection, after: int, upto: int) -> list[EpisodeRow]:
    recorded = episodes.c.tx_recorded
    query = select(episodes.c.row, episodes.c.key, episodes.c.namespace, episodes.c.said).where(recorded > after, recorded <= upto)
    return [EpisodeRow._make(row) for row in connection.execute(query.order_by(episodes.c.row)).all()]


def _withdrawn(connection: Connection, after: int, upto: int) -> list[WithdrawalRow]:
    query = (
        select(episodes.c.row, claims.c.row, claims.c.tx_to)
        .join(episodes, and_(episodes.c.key == claims.c.episode, episodes.c.revision == claims.c.revision))
        .where(claims.c.tx_to > after, claims.c.tx_to <= upto, claims.c.tx_from <= after, claims.c.believed)
    )
    return [WithdrawalRow._make(row) for row in connection.execute(query.order_by(claims.c.row)).all()]

"""The engines Kuzu and Ladybug: one graph, written and asked in one way, by the driver that the settings name."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

from graph.store.cypher_paths import GraphLinks
from graph.store.cypher_patterns import match
from graph.store.kuzu_members import FIRST_JOINS, SCAN_FROM, Members
from graph.store.kuzu_schema import EDGES, FORMAT, NODES, TABLES, changes, creations, tables
from graph.store.kuzu_session import Run, Session
from graph.store.path_search import shortest_paths
from graph.store.pattern_plan import Found, Plan
from graph.store.port import Batch, BatchRefused, GraphBasis, GraphUnreadable, Mark, Part, ledger_of
from graph.store.settings import GraphSettings
from graph.store.walk import Apart, Who, members_of, walk
from ontology.echo import echo
from ontology.instant import Instant
from ontology.names import Keys

T = TypeVar("T")

_HOLDS = "s.namespace = $namespace AND s.v_from <= $at AND $at < s.v_to AND s.tx_from <= $tx AND $tx < s.tx_to"

_IN_SLOT = f"MATCH (:Slot {{key: $key}})<-[:IN_SLOT]-(s:Statement) WHERE {_HOLDS} RETURN s.row"
_ABOUT = f"MATCH (:Entity {{key: $key}})<-[:SUBJECT|OBJECT]-(s:Statement) WHERE {_HOLDS} RETURN DISTINCT s.row"
_NEAR = (
    f"MATCH (:Entity {{key: $key}})<-[:SUBJECT|OBJECT]-(s:Statement) WHERE {_HOLDS} AND s.polarity AND NOT s.literal "
    "RETURN s.subject, s.object"
)
_NEAR_MANY = (
    f"MATCH (e:Entity)<-[:SUBJECT|OBJECT]-(s:Statement) WHERE e.key IN $keys AND {_HOLDS} AND s.polarity AND NOT s.literal "
    "RETURN s.subject, s.object"
)
_COPY = "COPY {} FROM $rows"
_MARK = "MATCH (m:Meta {id: 0}) RETURN m.format, m.ledger, m.watermark, m.at"
_FOLLOWED = "MATCH (m:Meta {id: 0}) SET m.watermark = $upto, m.at = $at RETURN 1"


class KuzuStore:
    """Implements GraphStore over one file of the ledger that `keys` belong to, made where there is none.

    Raises DataFolderBusy where it is open elsewhere, GraphUnreadable where it cannot be read or is of another format.
    """

    def __init__(self, path: Path, keys: Keys, settings: GraphSettings) -> None:
        new = not path.exists()
        self.engine: str = settings.engine
        self._settings = settings
        self._keys = keys
        self._unfinished = path.with_name(f"{path.name}.unfinished")
        if self._unfinished.exists():
            raise GraphUnreadable(f"the process died while copying into {path.name}")
        self._session = Session(path, settings)
        self._unsaved = 0
        try:
            if new:
                self._create(ledger_of(keys))
            self._mark = self._read_mark()
            with self._session.reading() as run:
                self._predicates = {name for (name,) in run.once("MATCH (p:Predicate) RETURN p.name")}
                self._first_joins: dict[str, int] = dict(run.once(FIRST_JOINS))
        except RuntimeError as failure:
            self._session.close()
            raise GraphUnreadable(f"{path.name} does not answer: {failure}") from failure
        except BaseException:
            self._session.close()
            raise

    def _create(self, ledger: str) -> None:
        with self._session.writing() as run:
            for table in TABLES:
                run.once(table)
            meta = {"format": FORMAT, "ledger": ledger}
            run.once("CREATE (:Meta {id: 0, format: $format, ledger: $ledger, watermark: 0, at: 0})", meta)

    def _read_mark(self) -> Mark:
        with self._session.reading() as run:
            found = run.once(_MARK)
        if len(found) != 1 or found[0][0] != FORMAT:
            raise GraphUnreadable(f"the graph is not of format {FORMAT}")
        return Mark(*found[0][1:])

    def mark(self) -> Mark:
        """How far it has followed which ledger."""
        return self._mark

    def watermark(self) -> int:
        """The last transaction applied."""
        return self._mark.transaction

    def ping(self) -> None:
        """Ask the files for the watermark. Raises GraphUnreadable, GraphClosed."""
        self._rows(_MARK, {})

    def apply(self, batch: Batch) -> None:
        """A large batch goes in by COPY, a small one by prepared statements, either in one transaction with the watermark."""
        bulk = batch.size() - batch.changed() >= self._settings.copy_from
        with self._failing(), self._copying(bulk):
            with self._session.writing() as run:
                if batch.after != self._mark.transaction or batch.upto <= batch.after:
                    raise BatchRefused(f"({batch.after}, {batch.upto}] does not follow {self._mark.transaction}")
                mark = Mark(self._mark.ledger, batch.upto, batch.at)
                self._write(run, batch, bulk)
                _expect(run, _FOLLOWED, {"upto": batch.upto, "at": batch.at})
            self._unsaved += batch.size()
            # COPY checkpoints whatever the settings say; the next must find a fresh Database object.
            if bulk or self._unsaved >= self._settings.checkpoint_rows:
                self.checkpoint()
            self._note_joins((joined.namespace, joined.tx_from) for joined in batch.joined)
            self._mark = mark

    @contextmanager
    def _copying(self, bulk: bool) -> Iterator[None]:
        """Notes in a file beside the graph that a COPY is on its way.

        Within one process COPY is part of its transaction. A kill between its commit and the end of the checkpoint that it
        forces, though, leaves a file that opens and holds the watermark without the rows, or the other way round: measured in
        4 of 9 kills. So a graph that was being copied into when the process died is not believed.
        """
        if not bulk:
            yield
            return
        with self._unfinished.open("wb") as note:
            os.fsync(note.fileno())
        try:
            yield
        finally:
            # An exception is no kill: the transaction was rolled back.
            self._unfinished.unlink()

    def load(self, parts: Iterable[Part]) -> None:
        """One COPY transaction a part; the watermark moves with the last, so a load cut short is an empty graph with rows in it."""
        last: Part | None = None
        for last in parts:
            self.load_part(last)
        if last is not None:
            self.finish_load(last.upto, last.at)

    def load_part(self, part: Part) -> None:
        """The next part of a load. Raises BatchRefused where the graph has a watermark."""
        if self._mark.transaction:
            raise BatchRefused("only an empty graph can be loaded")
        with self._failing():
            with self._session.writing() as run:
                run.once(_COPY.format(part.table), {"rows": part.rows})
            self._session.renew()
        if part.table == "Predicate":
            self._predicates.update(part.rows["name"].to_pylist())
        elif part.table == "MEMBER_OF":
            firsts = part.rows.group_by("namespace").aggregate([("tx_from", "min")])
            self._note_joins(zip(firsts["namespace"].to_pylist(), firsts["tx_from_min"].to_pylist(), strict=True))

    def finish_load(self, upto: int, at: Instant) -> None:
        """The parts were all that there is up to a transaction."""
        with self._failing(), self._session.writing() as run:
            _expect(run, _FOLLOWED, {"upto": upto, "at": at})
        self._mark = Mark(self._mark.ledger, upto, at)

    def _write(self, run: Run, batch: Batch, bulk: bool) -> None:
        for query, parameters in changes(batch):
            if query.endswith("RETURN 1"):
                _expect(run, query, parameters)
            else:
                run.rows(query, parameters)
        if bulk:
            self._copy(run, batch)
            return
        predicates = self._new_predicates(batch)
        for query, parameters in creations(batch, predicates):
            _expect(run, query, parameters)
        self._predicates.update(predicates)

    def _copy(self, run: Run, batch: Batch) -> None:
        predicates = self._new_predicates(batch)
        for table, rows in tables(batch, predicates):
            run.once(_COPY.format(table), {"rows": rows})
        self._predicates.update(predicates)

    def _new_predicates(self, batch: Batch) -> list[str]:
        return sorted({statement.predicate for statement in batch.opened} - self._predicates)

    def _note_joins(self, joins: Iterable[tuple[str, int]]) -> None:
        for namespace, transaction in joins:
            self._first_joins[namespace] = min(self._first_joins.get(namespace, transaction), transaction)

    def _who(self, basis: GraphBasis) -> Who:
        """Who is who on a basis; nothing is asked of the graph where nobody was joined by then."""
        first = self._first_joins.get(basis.namespace)
        return Apart() if first is None or basis.transaction < first else Members(self._rows, basis.transaction)

    def checkpoint(self) -> None:
        """Move what was written into the main file; readers wait meanwhile."""
        self._session.reopen()
        self._unsaved = 0

    def neighbors(self, basis: GraphBasis, entity: str, depth: int, limit: int) -> list[tuple[str, int]]:
        """Breadth first from primary key to primary key."""

        def adjacent(keys: Collection[str]) -> set[str]:
            if len(keys) < SCAN_FROM:
                ends = [end for key in keys for end in self._rows(_NEAR, _bind(basis, key=key))]
            else:
                ends = self._rows(_NEAR_MANY, _bind(basis, keys=list(keys)))
            return {key for pair in ends for key in pair}

        return walk(self._who(basis), entity, depth, limit, adjacent)

    def statements_in_slot(self, basis: GraphBasis, subject: str, predicate: str, qualifier: str = "") -> list[int]:
        """From the Slot node of each key of the subject."""
        slots = [self._keys.slot(basis.namespace, key, predicate, qualifier) for key in members_of(self._who(basis), subject)]
        return sorted(row for slot in slots for (row,) in self._rows(_IN_SLOT, _bind(basis, key=slot)))

    def statements_about(self, basis: GraphBasis, entity: str) -> list[int]:
        """From the Entity node of each key of the entity."""
        members = members_of(self._who(basis), entity)
        return sorted({row for key in members for (row,) in self._rows(_ABOUT, _bind(basis, key=key))})

    def match(self, basis: GraphBasis, plan: Plan, first: int, after: Sequence[Any] | None = None) -> list[Found]:
        """One pattern query, after its parts were counted."""
        return match(self._rows, self._who(basis), basis, plan, first, after)

    def paths(self, basis: GraphBasis, start: str, end: str, max_hops: int, limit: int) -> list[list[int]]:
        """Breadth first from both ends, from primary key to primary key."""
        return shortest_paths(self._who(basis), start, end, max_hops, limit, GraphLinks(self._rows, basis))

    def query(self, cypher: str, parameters: Mapping[str, Any] | None = None) -> list[list[Any]]:
        """Rows of a pattern query that reads. Anchor it at a primary key: there are no other indexes."""
        return self._rows(cypher, parameters or {})

    def counts(self) -> dict[str, int]:
        """Rows of every table, nodes and edges."""
        nodes = {name: self._rows(f"MATCH (n:{name}) RETURN count(*)", {})[0][0] for name in NODES}
        return nodes | {name: self._rows(f"MATCH ()-[r:{name}]->() RETURN count(*)", {})[0][0] for name in EDGES}

    def _rows(self, query: str, parameters: Mapping[str, Any]) -> list[list[Any]]:
        return self._read(lambda run: run.rows(query, parameters))

    def _read(self, ask: Callable[[Run], T]) -> T:
        with self._failing():
            try:
                with self._session.reading() as run:
                    return ask(run)
            except RuntimeError:
                # Once more on a fresh connection: an earlier error may have left this one unusable.
                with self._session.reading() as run:
                    return ask(run)

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """Errors of the driver as GraphUnreadable."""
        try:
            yield
        except (RuntimeError, IndexError, MemoryError) as failure:
            raise GraphUnreadable(f"{self.engine} failed: {failure}") from failure

    def close(self) -> None:
        """Checkpoint and release the file."""
        self._session.close()


def _expect(run: Run, query: str, parameters: Mapping[str, Any]) -> None:
    """Run a statement that must touch something: one whose MATCH finds nothing creates nothing, and says nothing."""
    if not run.rows(query, parameters):
        raise GraphUnreadable(f"nothing in the graph matches {echo(query)}")


def _bind(basis: GraphBasis, **parameters: Any) -> dict[str, Any]:
    return parameters | {"namespace": basis.namespace, "at": basis.valid_at, "tx": basis.transaction}

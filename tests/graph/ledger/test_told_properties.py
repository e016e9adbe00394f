"""What the claims said by an instant make of a whole namespace: for each proposition what resolving it alone says."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import pytest
from hypothesis import strategies as st
from sqlalchemy import Connection, select

from graph.belief.traits import traits_of
from graph.ledger import told
from graph.ledger.arrivals import arrivals
from graph.ledger.details import Describer
from graph.ledger.identity import place_of
from graph.ledger.known_identity import IdentityCache
from graph.ledger.rectangles import COLUMNS, Rectangle, read_as, rectangle, replayed
from graph.ledger.resolutions import Resolutions
from graph.ledger.schema import claims, statements
from graph.ledger.standing import believed_at
from graph.ledger.told import AS_STORED
from graph.service import LedgerGraph
from graph.views import Basis
from ontology.instant import Instant
from ontology.vocabulary import Vocabulary
from tests.graph.ledger.identity_checks import QUICK, Twins, begun, drawn, examined, two_ledgers
from tests.graph.ledger.identity_operations import Divided, Merged, Operation, said_at
from tests.graph.ledger.identity_worlds import Story
from tests.graph.ledger.strategies import Told

Row = tuple[str, frozenset[str], bool, Instant, Instant]
"""(positive proposition, subject and object, polarity, from, to)."""


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory, vocabulary: Vocabulary, empty_ledger: Path) -> Iterator[Twins]:
    yield from two_ledgers(tmp_path_factory.mktemp("told"), vocabulary, empty_ledger)


class Reading:
    """A namespace at a transaction under a limit, by its resolution and by resolving each proposition alone."""

    def __init__(self, graph: LedgerGraph, connection: Connection, namespace: str, transaction: int, until: Instant) -> None:
        self.graph, self.connection, self.namespace, self.transaction = graph, connection, namespace, transaction
        self.until = until
        identities = IdentityCache()
        self.under = Describer(connection, graph.keys, graph._vocabulary_at, Basis(namespace, 0, 0, transaction, until), identities)
        self.stored = Describer(
            connection, graph.keys, graph._vocabulary_at, Basis(namespace, 0, 0, transaction, None), identities
        ).identity
        self.resolution = Resolutions(graph.keys, graph._vocabulary_at, identities).at(connection, namespace, transaction, until)

    def resolved(self) -> Counter[Row]:
        """What is stored but for what is gone, and what stands in its place."""
        query = select(*COLUMNS).where(statements.c.namespace == self.namespace, believed_at(statements, self.transaction))
        kept = [row for row in map(rectangle, self.connection.execute(query)) if row.base not in self.resolution.gone]
        self.stored.load({key for row in kept for key in (row.subject, row.object)})
        self.under.identity.load({key for row in kept for key in (row.subject, row.object)})
        for row in kept:
            assert read_as(self.stored, row) == read_as(self.under.identity, row)
            assert not self.resolution.renamed & {row.subject, row.object}
        found = [*(read_as(self.stored, row) for row in kept), *self.resolution.rectangles]
        for row in self.resolution.rectangles:
            assert row.proposition == (row.base if row.polarity else self.graph.keys.denial(row.base))
            assert (row.tx_from, row in found) == (self.transaction, True)
        return Counter((row.base, frozenset({row.subject, row.object}), row.polarity, row.v_from, row.v_to) for row in found)

    def alone(self) -> Counter[Row]:
        """The same by what answers about single propositions."""
        rows = self.replayed()
        return Counter((row.base, frozenset({row.subject, row.object}), row.polarity, row.v_from, row.v_to) for row in rows)

    def replayed(self) -> list[Rectangle]:
        """What is believed of every proposition that a claim ever spoke of, with the transactions that first said so."""
        told = list(self.connection.execute(select(claims).where(claims.c.namespace == self.namespace, claims.c.believed)))
        identity = self.under.identity
        identity.load({key for row in told for key in (row.subject, row.object)})
        places = {place.proposition: place for place in (place_of(identity.settled(row)) for row in told)}
        by = (self.connection, self.graph.keys, self.graph._vocabulary_at(self.transaction), list(places.values()))
        return [row for row in replayed(*by, self.transaction, self.until, self.under.identity_at) if row.tx_to > self.transaction]

    def began_when_a_replay_says(self) -> None:
        """All together and each alone, and not outside of what the claims' coming and going leaves possible."""
        rows = self.replayed()
        assert self.under.begun(rows) == {row: row.tx_from for row in rows}
        for row in rows:
            alone = Describer(self.connection, self.graph.keys, self.graph._vocabulary_at, self.under.basis)
            assert alone.begun([row]) == {row: row.tx_from}
        known = arrivals(self.connection, self.namespace, self.transaction, self.until)
        vocabulary = self.graph.vocabulary()
        for row in rows:
            predicate = vocabulary.predicate(row.predicate)
            sides = (predicate, vocabulary.predicate(predicate.inverse or predicate.name))
            single, other = (traits_of(side).one_valued for side in sides)
            first, last = known.between(row.base, single=single, other_single=other)
            assert first <= row.tx_from <= last

    def names_are_read_right(self) -> None:
        """Each visible claim stands where the resolution says, or where the tables say."""
        mine = (claims.c.namespace == self.namespace, claims.c.believed, believed_at(claims, self.transaction))
        for row in self.connection.execute(select(claims).where(*mine, claims.c.tx_from < claims.c.tx_to, claims.c.said <= self.until)):
            keys = {row.subject, row.object}
            self.under.identity.load(keys)
            self.stored.load(keys)
            expected = self.under.identity.settled(row).proposition
            assert (row.row in self.resolution.read) == bool(self.resolution.renamed & keys)
            assert self.resolution.read.get(row.row, self.stored.settled(row).proposition) == expected


def said(graph: LedgerGraph, namespace: str) -> list[Instant]:
    """When claims were said, and just before."""
    with graph._engine.connect() as connection:
        found = set(connection.scalars(select(claims.c.said).where(claims.c.namespace == namespace)))
    return sorted(at + beside for at in found for beside in (-1, 0)) or [0]


def each_proposition_is_as_it_is_alone(twins: Twins, data: st.DataObject) -> None:
    """At any transaction, under any limit, with everything that may happen to a ledger."""
    story = begun(twins, data, drawn(twins, data, largest=6))
    numbers = sorted({one.transaction for one in story.done} - {0}) or [0]
    instants = said(twins.one, story.namespace)
    with twins.one._engine.connect() as connection:
        for transaction in data.draw(st.lists(st.sampled_from(numbers), min_size=1, max_size=2, unique=True)) + numbers[-1:]:
            for until in data.draw(st.lists(st.sampled_from(instants), min_size=2, max_size=3, unique=True)):
                reading = Reading(twins.one, connection, story.namespace, transaction, until)
                assert reading.resolved() == reading.alone()
                reading.names_are_read_right()


def what_is_believed_began_when_a_replay_says(twins: Twins, data: st.DataObject) -> None:
    """At any transaction, under any limit, without a replay."""
    story = begun(twins, data, drawn(twins, data, largest=6))
    numbers = sorted({one.transaction for one in story.done} - {0}) or [0]
    instants = said(twins.one, story.namespace)
    with twins.one._engine.connect() as connection:
        for transaction in data.draw(st.lists(st.sampled_from(numbers), min_size=1, max_size=1)) + numbers[-1:]:
            for until in [data.draw(st.sampled_from(instants)), instants[-1]]:
                Reading(twins.one, connection, story.namespace, transaction, until).began_when_a_replay_says()


def what_is_said_later_does_not_count(twins: Twins, data: st.DataObject) -> None:
    """The answer is that of a ledger that was only ever given what was said by the limit."""
    operations = [one for one in drawn(twins, data, largest=6) if not (isinstance(one, Told) and one.draft.revised_at)]
    until = data.draw(st.sampled_from([said_at(one) + beside for one in operations if isinstance(one, Told) for beside in (-1, 0)]))
    story, other = begun(twins, data), Story(twins.other)
    other.namespace = story.namespace
    for one in operations:
        story.do(one)
        if not _later(one, until):
            other.do(one)
    with twins.one._engine.connect() as mine, twins.other._engine.connect() as theirs:
        last, whole_last = (each.snapshot().basis.transaction for each in (story, other))
        found = Reading(twins.one, mine, story.namespace, last, until).resolved()
        whole = Reading(twins.other, theirs, story.namespace, whole_last, 2**62)
        assert whole.resolution == AS_STORED and found == whole.resolved()


def _later(one: Operation, until: Instant) -> bool:
    """Merges and splits are said when they are made, long after all that the episodes say."""
    return isinstance(one, Merged | Divided) or (isinstance(one, Told) and said_at(one) > until)


CHECKS: Sequence[Callable[[Twins, st.DataObject], None]] = (
    each_proposition_is_as_it_is_alone,
    what_is_believed_began_when_a_replay_says,
    what_is_said_later_does_not_count,
)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_of_random_stories(check: Callable[[Twins, st.DataObject], None], twins: Twins, monkeypatch: pytest.MonkeyPatch) -> None:
    # So few that what they bear on is found from several sides.
    monkeypatch.setattr(told, "TOGETHER", 2)
    examined(check, twins, QUICK)


@pytest.mark.deep
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_of_very_many_random_stories(check: Callable[[Twins, st.DataObject], None], twins: Twins, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(told, "TOGETHER", 2)
    examined(check, twins, 400)

"""What the feed says of evidence, endings and the size of batches."""

from __future__ import annotations

import itertools
import threading

import pytest
from sqlalchemy import delete
from sqlalchemy.pool import QueuePool

from graph.ledger.schema import OPEN, settings
from graph.store.feed import Feed
from graph.store.port import Batch, EndingRow, WithdrawalRow
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST
from tests.graph.store.ledgers import LedgerBuilder, Proposition, vocabulary_at

ACME = Proposition("Ann", "works_at", "Acme")
INITECH = Proposition("Ann", "works_at", "Initech")
NOT_ACME = Proposition("Ann", "works_at", "Acme", False)
SINCE_0 = [(0, UNBOUNDED_FUTURE)]


def batch(feed: Feed, after: int = 0) -> Batch:
    """All that happened after a transaction, as one batch."""
    (only,) = feed.batches(after)
    return only


def test_a_value_that_takes_over_supersedes_in_a_one_valued_slot(ledger: LedgerBuilder, feed: Feed) -> None:
    ledger.commit({ACME: SINCE_0})
    ledger.commit({ACME: [(0, 5)], INITECH: [(5, UNBOUNDED_FUTURE)]})
    assert batch(feed).endings == [EndingRow(2, 1, None, None), EndingRow(2, 3, "SUPERSEDED", "functional-slot")]
    assert batch(feed, 1).endings == batch(feed).endings


def test_values_of_a_many_valued_slot_do_not_end_each_other(ledger: LedgerBuilder, feed: Feed) -> None:
    ledger.commit({Proposition("Ann", "uses", "vim"): [(0, 5)], Proposition("Ann", "uses", "emacs"): [(5, 9)]})
    assert batch(feed).endings == []


def test_a_denial_contradicts_what_it_follows(ledger: LedgerBuilder, feed: Feed) -> None:
    for predicate in ("works_at", "uses"):
        yes, no = Proposition("Ann", predicate, "Acme"), Proposition("Ann", predicate, "Acme", False)
        ledger.commit({yes: [(0, 5)]})
        ledger.commit({no: [(5, UNBOUNDED_FUTURE)]})
    assert batch(feed).endings == [EndingRow(1, 2, "CONTRADICTED", "polarity"), EndingRow(3, 4, "CONTRADICTED", "polarity")]


def test_what_ends_by_itself_is_ended_by_nothing(ledger: LedgerBuilder, feed: Feed) -> None:
    ledger.commit({ACME: [(0, 5)], INITECH: [(6, 9)]})
    assert batch(feed).endings == []


def test_what_is_outweighed_is_superseded_but_not_what_was_withdrawn(ledger: LedgerBuilder, feed: Feed) -> None:
    ledger.commit({ACME: SINCE_0})
    ledger.commit({ACME: [], INITECH: SINCE_0}, claim=[(INITECH, "STATE")])
    assert batch(feed, 1).endings == [EndingRow(1, 2, "SUPERSEDED", "functional-slot")]
    ledger.commit({INITECH: [], ACME: SINCE_0}, claim=[], withdraw=[2])
    assert batch(feed, 2).endings == []


def test_rectangles_that_were_never_believed_together_do_not_end_each_other(ledger: LedgerBuilder, feed: Feed) -> None:
    ledger.commit({ACME: [(0, 5)]})
    ledger.commit({ACME: []}, claim=[], withdraw=[1])
    ledger.commit({INITECH: [(5, 9)]})
    assert batch(feed).endings == []


def test_a_claim_is_evidence_for_rectangles_that_it_shares_a_transaction_with(ledger: LedgerBuilder, feed: Feed) -> None:
    ledger.commit({ACME: SINCE_0})
    ledger.commit({ACME: [(3, 9)]}, claim=[], withdraw=[1])
    ledger.commit({}, claim=[(ACME, "STATE")])
    found = [(row.statement, row.claim, row.tx_from, row.tx_to) for row in batch(feed).assertions]
    assert found == [(1, 1, 1, 2), (2, 2, 3, OPEN)]
    assert batch(feed, 1).withdrawn == [WithdrawalRow(1, 1, 2)]
    assert [row.tx_to for row in next(feed.batches(0, 1)).assertions] == [OPEN]


def test_an_end_is_evidence_for_the_denial_and_for_what_was_before(ledger: LedgerBuilder, feed: Feed) -> None:
    ledger.commit({ACME: [(UNBOUNDED_PAST, 7)], NOT_ACME: [(7, UNBOUNDED_FUTURE)]}, claim=[(ACME, "END")])
    assert [(row.statement, row.claim) for row in batch(feed).assertions] == [(1, 1), (2, 1)]
    ledger.commit({}, claim=[(NOT_ACME, "STATE")])
    assert [(row.statement, row.claim) for row in batch(feed, 1).assertions] == [(2, 2)]


def test_a_batch_is_bounded_unless_one_transaction_is_larger(history: LedgerBuilder) -> None:
    feed = Feed(history.engine, vocabulary_at, batch_rows=3)
    ranges = [(batch.after, batch.upto) for batch in feed.batches(0)]
    assert ranges[0][0] == 0
    assert ranges[-1][1] == 25
    assert all(one[1] == two[0] for one, two in itertools.pairwise(ranges))
    assert all(len(batch.opened) <= 3 or batch.upto == batch.after + 1 for batch in feed.batches(0))


def test_an_empty_ledger_has_no_batches_and_one_without_a_secret_no_identity(ledger: LedgerBuilder, feed: Feed) -> None:
    assert list(feed.batches(0)) == []
    assert list(feed.whole(0)) == []
    with ledger.engine.begin() as connection:
        connection.execute(delete(settings))
    with pytest.raises(LookupError):
        Feed(ledger.engine, vocabulary_at)


def test_a_history_that_is_left_early_leaves_no_thread_and_no_connection(history: LedgerBuilder) -> None:
    parts = Feed(history.engine, vocabulary_at, load_rows=2).whole(25)
    assert next(iter(parts)).rows.num_rows == 2
    parts.close()
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("graph-history")]
    assert isinstance(history.engine.pool, QueuePool)
    assert history.engine.pool.checkedout() == 0

"""The feed tells the same documents however a history is divided, and each of them as long as it lives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import strategies as st

from graph.ledger.schema import OPEN
from graph.recall.feed import Batch, Feed
from graph.recall.namespace import Indexed
from graph.service import LedgerGraph
from ontology.episode import EpisodeDraft
from tests.graph.ledger.identity_worlds import NAMES, fresh
from tests.graph.ledger.saying import claim, say
from tests.graph.recall.worlds import Tale, examined, numbers_of, tales


def content(indexed: Indexed) -> dict[str, Any]:
    """All that is indexed, without the numbers that things happen to have."""
    claims, rectangles, episodes = indexed.claims, indexed.rectangles, indexed.episodes
    names: dict[str, list[str]] = {
        **dict.fromkeys(("subject", "object"), indexed.things.names),
        **dict.fromkeys(("slot", "inverse_slot"), indexed.slots.names),
        **dict.fromkeys(("base", "replaced"), indexed.bases.names),
        "predicate": indexed.predicates.names,
        "qualifier": indexed.qualifiers.names,
        "episode": indexed.episode_keys.names,
        "before": indexed.episode_keys.names,
        "group": indexed.groups.names,
        "source": indexed.sources.names,
        "speaker": indexed.speakers.names,
    }

    def rows(table: Any) -> list[dict[str, Any]]:
        columns = table.kept()
        found: list[dict[str, Any]] = []
        for place in range(table.size):
            row = {name: values[place].item() for name, values in columns.items()}
            for name, known in names.items():
                if name in row:
                    row[name] = None if row[name] < 0 else known[row[name]]
            for name in ("replaced_subject", "replaced_object"):
                if name in row:
                    row[name] = None if row[name] < 0 else indexed.things.names[row[name]]
            found.append(row)
        return sorted(found, key=repr)

    return {"claims": rows(claims), "rectangles": rows(rectangles), "episodes": rows(episodes), "standing": _standing(indexed)}


def _standing(indexed: Indexed) -> list[Any]:
    return sorted((indexed.episode_keys.names[key], indexed.episodes["row"][doc].item()) for key, doc in indexed.standing.items())


def words(indexed: Indexed) -> dict[str, Any]:
    """The terms of each document, by its row (and for an episode since when it is read so)."""
    found: dict[str, Any] = {}
    for part, table, known in (("c", indexed.claims, indexed.claim_words), ("e", indexed.episodes, indexed.episode_words)):
        view = known.view()
        for number, term in enumerate(indexed.terms.names):
            docs, times = view.postings.of(number, "doc", "times")
            for doc, often in zip(docs.tolist(), times.tolist(), strict=True):
                name = f"{part} {table['row'][doc]} {table['tx_from'][doc] if part == 'e' else ''}"
                found.setdefault(name, {})[term] = often
    return found


def indexed_by(feed: Feed, namespace: str, batches: Sequence[Batch]) -> Indexed:
    """What some batches bring to a namespace."""
    indexed = Indexed()
    for batch in batches:
        if namespace in batch.changes:
            indexed.apply(batch.changes[namespace], feed.contents)
    return indexed


def followed(graph: LedgerGraph, namespace: str, *, batch_rows: int, until: Sequence[int] = ()) -> Indexed:
    """What a feed tells of a whole history, stopping at some transactions."""
    feed = Feed(graph._engine, batch_rows=batch_rows)
    batches: list[Batch] = []
    after = 0
    for upto in (*sorted(set(until)), feed.last()):
        batches += feed.batches(after, upto)
        after = max(after, upto)
    assert [batch.after for batch in batches] == [0, *(batch.upto for batch in batches)][: len(batches)]
    return indexed_by(feed, namespace, batches)


def the_same_however_divided(graph: LedgerGraph, data: st.DataObject) -> None:
    tale = Tale(graph, namespace=fresh(graph, data.draw(st.permutations(NAMES))))
    feed, live = Feed(graph._engine), Indexed()
    after = feed.last()
    for one in data.draw(tales(graph.vocabulary(), largest=6)):
        tale.tell([one])
        if data.draw(st.booleans()):
            # One that follows while the history grows.
            for batch in feed.batches(after, feed.last()):
                if tale.namespace in batch.changes:
                    live.apply(batch.changes[tale.namespace], feed.contents)
            after = feed.last()
    for batch in feed.batches(after, feed.last()):
        if tale.namespace in batch.changes:
            live.apply(batch.changes[tale.namespace], feed.contents)
    numbers = numbers_of(tale)
    stops = data.draw(st.lists(st.sampled_from(numbers), max_size=3)) if numbers else []
    whole = followed(graph, tale.namespace, batch_rows=20_000)
    pieces = followed(graph, tale.namespace, batch_rows=data.draw(st.sampled_from([1, 2, 5])), until=stops)
    for other in (pieces, live):
        assert content(other) == content(whole)
        assert words(other) == words(whole)


def test_documents_are_the_same_however_a_history_is_divided(shared: LedgerGraph) -> None:
    examined(lambda data: the_same_however_divided(shared, data), 4)


@pytest.mark.deep
def test_documents_of_many_histories_are_the_same_however_divided(shared: LedgerGraph) -> None:
    examined(lambda data: the_same_however_divided(shared, data), 150)


def lives(graph: LedgerGraph) -> list[tuple[str, int, int]]:
    """Texts of episodes with the transactions in which they are found, versions that follow another joined."""
    feed = Feed(graph._engine)
    indexed = indexed_by(feed, "n", list(feed.batches(0, feed.last())))
    table = indexed.episodes
    texts = feed.contents(table["row"].tolist())
    spans: dict[str, tuple[int, int]] = {}
    for row, start, end in zip(table["row"].tolist(), table["tx_from"].tolist(), table["tx_to"].tolist(), strict=True):
        text = texts[row][1]
        early, late = spans.get(text, (start, end))
        spans[text] = min(early, start), max(late, end)
    return [(text, *span) for text, span in sorted(spans.items())]


def stretches(graph: LedgerGraph) -> list[tuple[int, int]]:
    """The transactions in which documents of episodes are found, each version by itself."""
    feed = Feed(graph._engine)
    table = indexed_by(feed, "n", list(feed.batches(0, feed.last()))).episodes
    return sorted(zip(table["tx_from"].tolist(), table["tx_to"].tolist(), strict=True))


def draft(text: str, name: str = "e", **fields: Any) -> EpisodeDraft:
    return EpisodeDraft(text, "chat", external_id=name, said_at="2024-01-01", **fields)


def test_an_episode_is_found_from_when_it_was_recorded_also_before_it_is_read(graph: LedgerGraph) -> None:
    graph.accept("n", [(draft("one"), ())])
    say(graph, "2024-01-01", "Ann likes herring")
    graph.record_extracted("n", [(draft("one"), [claim("Ann likes bread")], ())], extractor="test")
    ((text, start, end),) = lives(graph)
    assert (text, end) == ("one", OPEN)
    # Accepting alone is no transaction of the facade's receipts, but the ledger's.
    assert start < graph.snapshot("n").basis.transaction


def test_a_later_revision_takes_the_place_of_the_earlier_and_an_earlier_one_never_does(graph: LedgerGraph) -> None:
    first = graph.record_extracted("n", [(draft("one", revised_at="2024-02-01"), [], ())], extractor="test")[0].transaction
    graph.record_extracted("n", [(draft("old", revised_at="2024-01-15"), [], ())], extractor="test")
    second = graph.record_extracted("n", [(draft("two", revised_at="2024-03-01"), [], ())], extractor="test")[0].transaction
    assert lives(graph) == [("one", first, second), ("two", second, OPEN)]


def test_a_withdrawn_episode_is_found_until_then_and_one_withdrawn_before_it_came_never(graph: LedgerGraph) -> None:
    first = graph.record_extracted("n", [(draft("one"), [], ())], extractor="test")[0].transaction
    gone = graph.retract("n", source="chat", external_id="e", reason=None).transaction
    graph.retract("n", source="chat", external_id="f", reason=None)
    graph.record_extracted("n", [(draft("two", "f"), [], ())], extractor="test")
    assert lives(graph) == [("one", first, gone)]
    assert all(one.ok for one in graph.health())


def test_what_is_held_back_is_never_found_and_takes_the_place_of_what_it_revises(graph: LedgerGraph) -> None:
    first = graph.record_extracted("n", [(draft("one"), [], ())], extractor="test")[0].transaction
    revised = draft("bad", revised_at="2024-03-01")
    second = graph.record_extracted("n", [(revised, [], ())], extractor="test", quarantined=[True])[0].transaction
    assert lives(graph) == [("one", first, second)]


def test_what_is_released_is_found_from_then_on_also_where_it_was_found_before_it_was_held_back(graph: LedgerGraph) -> None:
    waits = graph.accept("n", [(draft("one"), ())])[0]
    accepted = graph.snapshot("n").basis.transaction
    held = graph.record_extracted("n", [(draft("one"), [], ())], extractor="test", quarantined=[True])[0].transaction
    assert stretches(graph) == [(accepted, held)]
    released = graph.release("n", waits.episode_key, reason="fine").transaction
    assert stretches(graph) == [(accepted, held), (released, OPEN)]
    gone = graph.retract("n", key=waits.episode_key, reason=None).transaction
    assert stretches(graph) == [(accepted, held), (released, gone)]


def test_a_transaction_is_never_divided_and_batches_are_bounded(graph: LedgerGraph) -> None:
    for number in range(6):
        say(graph, "2024-01-01", f"Ann likes P{number}", f"Bob likes P{number}")
    feed = Feed(graph._engine, batch_rows=4)
    batches = list(feed.batches(0, feed.last()))
    assert len(batches) > 1
    assert max(len(batch.changes["n"].claims) for batch in batches if "n" in batch.changes) <= 4
    ends: list[int] = [batch.upto for batch in batches]
    assert ends == sorted(set(ends))
    single = Feed(graph._engine, batch_rows=1)
    assert [len(batch.changes["n"].claims) for batch in single.batches(0, single.last()) if "n" in batch.changes] == [2] * 6
    assert list(feed.batches(feed.last(), feed.last())) == []


def test_the_time_of_a_transaction_is_known_where_it_is_there(graph: LedgerGraph) -> None:
    number = say(graph, "2024-01-01", "Ann likes herring").transaction
    feed = Feed(graph._engine)
    assert feed.time_of(number) == graph.snapshot("n").basis.recorded_at
    assert feed.time_of(number + 1) is None
    assert feed.time_of(0) == 0


def test_candidates_and_rejected_claims_that_never_lived_make_no_documents(
    graph: LedgerGraph, open_graph: Callable[..., LedgerGraph]
) -> None:
    say(graph, "2024-01-01", claim("Ann likes herring", confidence=0.4), claim("Ann likes bread"))
    feed = Feed(graph._engine)
    indexed = indexed_by(feed, "n", list(feed.batches(0, feed.last())))
    assert indexed.claims.size == 1


def test_what_nobody_said_is_never_found(graph: LedgerGraph) -> None:
    graph.record_extracted("n", [(draft("a table", speech=False), [], ())], extractor="test")
    first = graph.record_extracted("n", [(draft("words", "f"), [], ())], extractor="test")[0].transaction
    assert lives(graph) == [("words", first, OPEN)]

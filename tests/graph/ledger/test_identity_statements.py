"""What joins, splits and rejections do to statements in the ledger: receipts, endings, histories, listed claims."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest

from graph.facade import Graph
from graph.service import LedgerGraph
from graph.views import EntityRef, LiteralView, Reason, StatedClaim, StatementFilter, StatementView
from ontology.episode import EpisodeDraft
from ontology.errors import InvalidInput, NotFound
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST
from tests.graph.ledger.saying import ALWAYS, WHOLE, claim, one, say, views, when, words

JOIN = "Robert also_known_as Bob"
SAME = StatementFilter(predicates=("also_known_as",), valid_during=ALWAYS.valid_during)


def key(graph: LedgerGraph, name: str) -> str:
    """What a name denotes now."""
    return str(graph.snapshot("n").key_of(EntityRef(name=name)))


def facts(found: list[StatementView]) -> list[str]:
    """Statements in words; identity aside."""
    return sorted(words(view) for view in found if view.predicate != "also_known_as")


def told(graph: LedgerGraph, said: str, label: str, group: str, *texts: str) -> None:
    """Claims that extraction finds."""
    draft = EpisodeDraft(f"text {label}", "chat", external_id=label, group=group, said_at=said)
    graph.record_extracted("n", [(draft, [claim(text) for text in texts], ())], extractor="test")


def test_a_join_of_one_entity_is_shown_with_the_other_name_as_a_literal(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", JOIN, "Robert likes tea")
    (view,) = views(graph, SAME)
    assert (view.v_from, view.v_to, view.polarity) == (UNBOUNDED_PAST, UNBOUNDED_FUTURE, True)
    assert isinstance(view.object, LiteralView)
    assert (view.subject.name, view.object.value) == ("Robert", "Bob")


def test_a_denial_stands_between_two_entities(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "not Robert also_known_as Bob")
    (view,) = views(graph, SAME)
    assert not isinstance(view.object, LiteralView) and not view.polarity
    assert {view.subject.key, view.object.key} == {key(graph, "Robert"), key(graph, "Bob")}


def test_what_a_join_closes_is_reidentified_by_its_claim(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Robert born_on 1990")
    say(graph, "2024-02-01", "Bob born_on 1970", "Bob likes tea")
    before = one(graph, "Bob likes tea")
    number = say(graph, "2024-03-01", JOIN, external_id="join").transaction
    assert facts(views(graph, ALWAYS)) == ["Bob born_on 1970", "Bob likes tea"]
    (closed,) = graph.closed_by("n", number)
    assert closed.invalidation is not None and closed.invalidation.reason is Reason.REIDENTIFIED
    assert closed.invalidation.evidence is not None and closed.invalidation.evidence.episode.external_id == "join"
    assert facts(graph.opened_by("n", number)) == []
    (gone,) = [
        v
        for v in views(graph, StatementFilter(valid_during=ALWAYS.valid_during, include_invalidated=True))
        if v.tx_to_at is not None and v.predicate == "born_on"
    ]
    assert gone.invalidation is not None and gone.invalidation.reason is Reason.REIDENTIFIED
    after = one(graph, "Bob likes tea")
    assert (after.tx_from_at, after.history) == (before.tx_from_at, before.history)


def test_what_a_merge_ends_and_what_taking_it_back_brings_again(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Robert works_at Acme")
    say(graph, "2024-02-01", "Bob works_at Globex")
    facade = cast(Graph, graph)
    merged = facade.merge("n", [key(graph, "Robert"), key(graph, "Bob")], reason="one person")
    assert merged.entity == key(graph, "Robert") == key(graph, "Bob") and len(merged.claims) == 1
    transaction = graph.transactions("n").items[0]
    assert (transaction.number, transaction.kind, transaction.reason) == (merged.transaction, "merge", "one person")
    (ended,) = graph.closed_by("n", merged.transaction)
    assert (ended.v_from, ended.v_to) == (when("2024-01-01"), when("2024-02-01"))
    rejected = facade.reject("n", merged.claims, reason="two persons")
    assert not [view for view in graph.closed_by("n", rejected.transaction) if view.predicate != "also_known_as"]
    assert facts(graph.opened_by("n", rejected.transaction)) == ["Robert works_at Acme"]
    assert key(graph, "Robert") != key(graph, "Bob")


def test_history_is_read_through_the_identity_of_the_basis(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Anna works_at Acme")
    first = graph.snapshot("n").basis.recorded_at
    say(graph, "2024-02-01", "Bob works_at Acme Corp")
    second = graph.snapshot("n").basis.recorded_at
    say(graph, "2024-03-01", "Acme also_known_as Acme Corp")
    found = {view.subject.name: view for view in views(graph, ALWAYS) if view.predicate == "works_at"}
    assert {name: (view.tx_from_at, len(view.history)) for name, view in found.items()} == {"Anna": (first, 1), "Bob": (second, 1)}
    timeline = graph.snapshot("n").timeline(EntityRef(name="Anna"), "works_at", want=WHOLE)
    assert [len(part.statements) for part in timeline.segments] == [1]


def test_a_split_moves_statements_and_tells_its_entity(graph: LedgerGraph) -> None:
    told(graph, "2024-01-01", "a", "one", "Bob works_at Acme")
    told(graph, "2024-02-01", "b", "two", "Bob works_at Globex")
    facade = cast(Graph, graph)
    bob = key(graph, "Bob")
    split = facade.split("n", bob, groups=["two"], discriminator="baker")
    assert split.entity == graph.keys.entity("n", "Bob", "baker") and len(split.claims) == 1
    found = {view.subject.key: (words(view), view.v_to) for view in views(graph, ALWAYS) if view.predicate == "works_at"}
    assert found == {bob: ("Bob works_at Acme", UNBOUNDED_FUTURE), split.entity: ("Bob works_at Globex", UNBOUNDED_FUTURE)}
    again = facade.split("n", bob, groups=["two"], discriminator="baker")
    assert (again.deduplicated, again.transaction, again.claims) == (True, split.transaction, split.claims)
    for view in graph.closed_by("n", split.transaction):
        assert view.tx_to_at is None or (view.invalidation is not None and view.invalidation.reason is Reason.REIDENTIFIED)


def test_merges_splits_and_rejections_of_what_is_unknown_are_refused(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Robert likes tea", "Bob likes beer")
    facade = cast(Graph, graph)
    robert, bob, nobody = key(graph, "Robert"), key(graph, "Bob"), graph.keys.entity("n", "Nobody")
    last = graph.snapshot("n").basis.transaction
    with pytest.raises(NotFound):
        facade.merge("n", [robert, nobody])
    with pytest.raises(NotFound):
        facade.merge("elsewhere", [robert, bob])
    for few in ([], [robert], [robert, robert]):
        with pytest.raises(InvalidInput):
            facade.merge("n", few)
    with pytest.raises(NotFound):
        facade.split("n", nobody, groups=["one"], discriminator="2")
    for groups, discriminator in ((["one"], ""), ([], "2")):
        with pytest.raises(InvalidInput):
            facade.split("n", bob, groups=groups, discriminator=discriminator)
    with pytest.raises(NotFound):
        facade.reject("n", ["0" * 32], reason="wrong")
    with pytest.raises(NotFound):
        facade.restore("n", ["0" * 32])
    assert graph.snapshot("n").basis.transaction == last


def test_a_told_join_is_listed_as_a_candidate_until_it_counts_everywhere(graph: LedgerGraph) -> None:
    told(graph, "2024-01-01", "a", "one", JOIN, "Bob likes tea")
    snapshot = cast(Graph, graph).snapshot("n")
    (listed,) = snapshot.claims(StatementFilter(predicates=("also_known_as",))).items
    assert listed.candidate and not listed.rejected
    assert [view.candidate for view in snapshot.claims(StatementFilter(predicates=("likes",))).items] == [False]
    told(graph, "2024-01-02", "b", "two", JOIN)
    snapshot = cast(Graph, graph).snapshot("n")
    assert [view.candidate for view in snapshot.claims(StatementFilter(predicates=("also_known_as",))).items] == [False, False]
    assert len(snapshot.claims(StatementFilter(), candidate=True).items) == 0


def test_a_rejection_holds_for_a_later_copy_that_says_the_same(graph: LedgerGraph) -> None:
    facade = cast(Graph, graph)
    say(graph, "2024-01-01", "Anna works_at Acme", "Anna likes tea", external_id="e", content="first")
    found = facade.snapshot("n").claims(StatementFilter(predicates=("works_at",))).items
    facade.reject("n", [found[0].id], reason="misread")
    assert facts(views(graph, ALWAYS)) == ["Anna likes tea"]
    say(graph, "2024-01-01", "Anna works_at Acme", "Anna likes beer", external_id="e", content="second", revised_at="2024-02-01")
    assert facts(views(graph, ALWAYS)) == ["Anna likes beer"]
    (listed,) = facade.snapshot("n").claims(StatementFilter(), rejected=True).items
    assert (listed.id, listed.rejected, listed.rejection) == (found[0].id, True, "misread")
    facade.restore("n", [listed.id])
    assert facts(views(graph, ALWAYS)) == ["Anna likes beer", "Anna works_at Acme"]


def test_a_rejected_claim_ends_what_it_carried_and_frees_what_it_had_ended(graph: LedgerGraph) -> None:
    facade = cast(Graph, graph)
    say(graph, "2024-01-01", "Anna works_at Acme")
    say(graph, "2024-02-01", claim("Anna works_at Globex"), external_id="wrong")
    (wrong,) = [view for view in facade.snapshot("n").claims(StatementFilter()).items if view.evidence.episode.external_id == "wrong"]
    rejected = facade.reject("n", [wrong.id], reason="misread")
    assert [(view.v_from, view.v_to) for view in views(graph, ALWAYS)] == [(when("2024-01-01"), UNBOUNDED_FUTURE)]
    (closed,) = graph.closed_by("n", rejected.transaction)
    assert closed.invalidation is not None and closed.invalidation.reason is Reason.REJECTED


def test_of_two_statements_that_a_join_makes_one_only_that_one_is_listed_and_found(graph: LedgerGraph) -> None:
    """The other has gone with the join; it is no last known interval of its own."""
    say(graph, "2024-01-01", "Robert likes tea")
    say(graph, "2024-01-01", "Bob likes tea")
    apart = graph.snapshot("n").basis.transaction
    say(graph, "2024-03-01", JOIN, external_id="join")
    gone = replace(ALWAYS, include_invalidated=True, predicates=("likes",))
    snapshot = graph.snapshot("n", valid_at=0)
    page = snapshot.statements(gone, first=1, want=WHOLE)
    (view,) = page.items
    assert not page.has_next and view.tx_to_at is None
    for each in graph.snapshot("n", valid_at=0, transaction=apart).statements(gone).items:
        found = snapshot.statement(each.stored_key, each.v_from)
        assert found is not None and (found.key, found.tx_to_at) == (view.key, None)


def test_an_entity_counts_and_is_listed_once_whatever_its_names(graph: LedgerGraph) -> None:
    """Also where no claim says the name any more whose key is the entity's."""
    for label, name in (("one", "Robert"), ("two", "Bob")):
        say(graph, "2024-01-01", f"{name} likes tea", external_id=label)
    cast(Graph, graph).merge("n", [key(graph, "Robert"), key(graph, "Bob")])
    assert (graph.stats("n").entities, len(graph.snapshot("n").entities().items)) == (2, 2)
    least = key(graph, "Robert")
    gone = next(label for label, name in (("one", "Robert"), ("two", "Bob")) if graph.keys.entity("n", name) == least)
    graph.retract("n", source="chat", external_id=gone, reason=None)
    (listed,) = [view for view in graph.snapshot("n").entities().items if view.name != "tea"]
    assert (graph.stats("n").entities, listed.key, listed.name) == (2, least, {"one": "Bob", "two": "Robert"}[gone])
    assert graph.snapshot("n").entities(name=listed.name[1:]).items == (listed,)


def test_a_merge_that_a_denial_has_outweighed_is_stated_anew(graph: LedgerGraph) -> None:
    say(graph, "1969-01-01", "Ann works_at Acme", "Annie works_at Acme")
    keys = [graph.keys.entity("n", name) for name in ("Ann", "Annie")]
    first = graph.merge("n", keys)
    assert graph.merge("n", keys).deduplicated
    say(graph, "2099-01-01", "not Ann also_known_as Annie", rank=0)
    assert not graph.merge("n", keys).deduplicated and first.transaction


def test_a_split_that_a_later_one_has_overridden_is_stated_anew(graph: LedgerGraph) -> None:
    say(graph, "1969-01-01", "Alex works_at Acme", group="team")
    say(graph, "1969-01-02", "Alex works_at Globex")
    alex = graph.keys.entity("n", "Alex")
    graph.split("n", alex, groups=["team"], discriminator="of the team")
    assert graph.split("n", alex, groups=["team"], discriminator="of the team").deduplicated
    graph.split("n", alex, sources=["chat"], discriminator="of the chat")
    again = graph.split("n", alex, groups=["team"], discriminator="of the team", name="Alex")
    assert not again.deduplicated
    mine = graph.keys.entity("n", "Alex", "of the team")
    assert [view.object.key for view in graph.snapshot("n").statements_about(mine, "SUBJECT", ALWAYS).items if view.predicate == "works_at"]


def test_a_merge_that_a_denial_has_undone_can_be_made_again(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Robert likes tea", "Bob likes tea")
    ids = [graph.keys.entity("n", name) for name in ("Bob", "Robert")]
    facade = cast(Graph, graph)
    first = facade.merge("n", ids)
    assert facade.merge("n", ids).transaction == first.transaction
    graph.record_stated("n", EpisodeDraft("", "chat", external_id="no"), [StatedClaim(claim("not Robert also_known_as Bob"))])
    again = facade.merge("n", ids)
    assert not again.deduplicated and graph.snapshot("n").key_of(EntityRef(name="Robert")) == min(ids)
    assert facade.merge("n", ids) == replace(again, deduplicated=True)


def test_a_symmetric_relation_of_joined_names_is_shown_one_way_in_whatever_order_they_came(graph: LedgerGraph) -> None:
    """It may be stored from the side of either: that of the first who told it, by a name that came before the other's or after."""
    said = ("Bob friend_of Dora", "Anna friend_of Bob", "Anna also_known_as Dora", "Anna likes tea")
    for namespace, order in (("one", said), ("two", said[::-1]), ("three", (said[2], said[0], said[1], said[3]))):
        for words_said in order:
            say(graph, "2024-01-01", words_said, namespace=namespace)
        gone = replace(ALWAYS, include_invalidated=True)
        for filter in (ALWAYS, gone):
            found = [view for view in views(graph, filter, namespace=namespace) if view.predicate != "also_known_as"]
            assert [words(view) for view in found] == ["Anna friend_of Bob", "Anna likes tea"]
        snapshot = graph.snapshot(namespace)
        (bobs,) = snapshot.statements_about(snapshot.key_of(EntityRef(name="Bob")), "SUBJECT", ALWAYS).items
        assert words(bobs) == "Bob friend_of Anna"
        for view in (found[0], bobs):
            again = snapshot.statement(view.stored_key, view.v_from, swapped=view.swapped)
            assert again is not None and words(again) == words(view)

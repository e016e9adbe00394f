"""Entities and namespaces: names, aliases, keys; nothing crosses, reading creates nothing."""

from __future__ import annotations

import pytest
from sqlalchemy import func, select

from graph.ledger.schema import metadata
from graph.service import LedgerGraph
from graph.views import EntityRef, ObjectRef, StatedClaim, StatementFilter, Truth
from ontology.claim import ClaimDraft, ObjectDraft
from ontology.episode import EpisodeDraft
from ontology.errors import InvalidInput, NotFound
from tests.graph.ledger.saying import ALWAYS, ask, claim, now, say, spans, when


def test_names_that_fold_to_one_are_one_entity_with_aliases(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Zoë likes tea")
    say(graph, "2024-01-02", "ZOË likes beer")
    say(graph, "2024-01-03", "Zoe\u0308 likes wine", "Z\u200boë likes milk")
    say(graph, "2024-01-04", "Zoë likes gin")
    snapshot = graph.snapshot("n")
    found = [snapshot.entity(EntityRef(name=name)) for name in ("zoë", "Zoë\u00a0", "ZOE\u0308")]
    assert found[0] is not None and found.count(found[0]) == 3
    assert found[0].name == "Zoë" and "ZOË" in found[0].aliases
    assert snapshot.entity(EntityRef(key=found[0].key)) == found[0]
    turned = snapshot.key_of(EntityRef(name="\u202eecilA"))
    assert turned != snapshot.key_of(EntityRef(name="Alice"))


def test_the_most_attested_name_and_type_are_shown_as_of_the_basis(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", claim("anna likes tea", subject_type="Person"))
    first = graph.snapshot("n").basis.transaction
    say(graph, "2024-01-02", "Anna likes beer", external_id="two")
    say(graph, "2024-01-03", "Anna likes wine", external_id="three")

    def name(**basis: int) -> str:
        found = graph.snapshot("n", **basis).entity(EntityRef(name="anna"))
        assert found is not None
        return found.name

    assert (name(transaction=first), name()) == ("anna", "Anna")
    assert name(evidence_until=when("2024-01-01")) == "anna"
    graph.retract("n", source="chat", external_id="two", reason=None)
    graph.retract("n", source="chat", external_id="three", reason=None)
    assert name() == "anna"


def test_entities_are_found_by_a_part_of_the_name_and_by_type(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Anna lives_in Annaberg")
    say(graph, "2024-01-01", claim("Zed lives_in Rome", subject_type="Person", object_type="Place"), claim("Bob owns 100%", confidence=0.9))
    snapshot = graph.snapshot("n")
    assert [view.name for view in snapshot.entities(name="ANNA").items] == ["Anna", "Annaberg"]
    assert [view.name for view in snapshot.entities(name="%").items] == ["100%"]
    assert [view.name for view in snapshot.entities(type="Place").items] == ["Rome"]
    page = snapshot.entities(first=2)
    rest = snapshot.entities(first=10, after=page.positions[-1])
    everyone = [view.name for view in snapshot.entities(first=10).items]
    assert [view.name for view in (*page.items, *rest.items)] == everyone == sorted(everyone, key=str.casefold)


def test_candidates_and_hypotheticals_name_nothing(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", claim("Anna likes tea", confidence=0.2))
    assert graph.snapshot("n").entity(EntityRef(name="Anna")) is None


def test_namespaces_share_nothing(graph: LedgerGraph) -> None:
    receipt = say(graph, "2024-01-01", "Anna works_at Acme", namespace="a", external_id="same")
    say(graph, "2024-01-01", "Anna works_at Globex", namespace="b", external_id="same")
    assert (now(graph, "2024-06-01", "a"), now(graph, "2024-06-01", "b")) == (["Anna works_at Acme"], ["Anna works_at Globex"])
    here, there = graph.snapshot("a", valid_at=when("2024-06-01")), graph.snapshot("b", valid_at=when("2024-06-01"))
    key = here.key_of(EntityRef(name="Anna"))
    assert key != there.key_of(EntityRef(name="Anna"))
    for until in (None, when("2025-01-01")):
        there = graph.snapshot("b", valid_at=when("2024-06-01"), evidence_until=until)
        assert there.entity(EntityRef(key=key)) is None
        assert there.statements_about(key, "ANY", StatementFilter()).items == ()
        assert there.timeline(EntityRef(key=key), "works_at").segments == ()
        assert there.ask(EntityRef(key=key), "works_at", ObjectRef(name="Acme")).value is Truth.UNKNOWN
        statement = here.statements(ALWAYS).items[0]
        assert there.statement(statement.key, statement.v_from) is None
    assert there.episode(receipt.episode_key) is None
    assert there.episode_statements(receipt.episode_key).items == ()
    graph.retract("b", source="chat", external_id="same", reason=None)
    assert now(graph, "2024-06-01", "a") == ["Anna works_at Acme"]


def test_keys_of_another_namespace_are_refused_in_writing(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Anna works_at Acme", namespace="a")
    key = graph.snapshot("a").key_of(EntityRef(name="Anna"))
    with pytest.raises(NotFound):
        graph.record_stated("b", EpisodeDraft("", "chat", said_at="2024-01-01"), [StatedClaim(claim("Anna likes tea"), subject_key=key)])
    assert graph.transactions("b").items == ()


def test_reading_creates_nothing(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Anna works_at Acme")

    def counts() -> list[int]:
        with graph._engine.connect() as connection:
            return [connection.execute(select(func.count()).select_from(table)).scalar_one() for table in metadata.sorted_tables]

    before = counts()
    for namespace in ("n", "unheard-of"):
        snapshot = graph.snapshot(namespace)
        assert snapshot.entity(EntityRef(name="Nobody")) is None
        timeline = snapshot.timeline(EntityRef(name="Nobody"), "no_such_predicate", "q")
        assert (timeline.subject, timeline.segments) == (None, ())
        assert snapshot.ask(EntityRef(name="Nobody"), "works_at", ObjectRef(name="Nowhere")).value is Truth.UNKNOWN
        assert snapshot.statements_about(snapshot.key_of(EntityRef(name="Nobody")), "ANY", ALWAYS).items == ()
        assert snapshot.episode("nothing") is None
    assert counts() == before


@pytest.mark.parametrize("namespace", ["", "a b", "ä", "x" * 129, "a\n"])
def test_names_of_namespaces_are_checked(graph: LedgerGraph, namespace: str) -> None:
    with pytest.raises(InvalidInput):
        graph.snapshot(namespace)


@pytest.mark.parametrize("name", ["", " ", "x" * 10_000, "a\x00b", "\ud800", "\u200b"])
def test_names_that_cannot_be_are_refused(graph: LedgerGraph, name: str) -> None:
    with pytest.raises(InvalidInput):
        graph.snapshot("n").entity(EntityRef(name=name))
    with pytest.raises(InvalidInput):
        graph.record_stated("n", EpisodeDraft("", "chat"), [StatedClaim(ClaimDraft(name, "likes", ObjectDraft("tea")))])
    assert graph.transactions("n").items == ()


def test_a_lone_surrogate_asked_for_is_unknown_not_a_fault(graph: LedgerGraph) -> None:
    found = graph.snapshot("n").timeline(EntityRef(name="Anna"), "likes", "\ud800")
    assert found.segments == ()
    assert graph.retract("n", source="chat", external_id="\ud800", reason=None).transaction == 1


def test_an_additive_value_that_the_other_side_refuses_is_not_ruled_out(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Anna spouse_of Bob", claim("Anna spouse_of Zoe", additive=True))
    say(graph, "2024-02-01", "not Carl spouse_of Zoe", "Dora spouse_of Zoe")
    assert ask(graph, "Anna spouse_of Carl", "2024-06-01") is Truth.NO
    assert "Anna spouse_of Bob" in spans(graph)

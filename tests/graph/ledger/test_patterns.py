"""Questions over several hops on a basis: worked examples, and random worlds against joining what a snapshot lists."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from graph.drift import MatchView, Pattern, Term
from graph.ledger.database import open_database
from graph.service import LedgerGraph
from graph.store.projection import GraphProjection
from graph.views import EntityRef, EntityView, LiteralView, StatementFilter, StatementView, Want
from ontology.errors import InvalidInput
from ontology.loading import load_vocabulary
from ontology.vocabulary import Vocabulary
from tests.graph.ledger.conftest import EPOCH
from tests.graph.ledger.identity_checks import a_join_of
from tests.graph.ledger.identity_saying import Case
from tests.graph.ledger.identity_strategies import predicates_of, stories
from tests.graph.ledger.identity_worlds import NAMES, Story
from tests.graph.ledger.saying import say, when
from tests.graph.ledger.strategies import POINTS
from tests.graph.ledger.worlds import pages

VOCABULARY = load_vocabulary()


@pytest.fixture
def graph(tmp_path: Path, empty_ledger: Path) -> Iterator[LedgerGraph]:
    """A graph whose ledger answers what walks."""
    ticks = count(EPOCH, 1_000_000)
    shutil.copy(empty_ledger, tmp_path / "ledger.db")
    engine = open_database(f"sqlite:///{tmp_path / 'ledger.db'}")
    opened = LedgerGraph(engine, VOCABULARY, lambda _: GraphProjection(engine, tmp_path, "sql"), clock=lambda: next(ticks))
    yield opened
    opened.close()


def term(word: str) -> Term:
    """`?x` is a variable, `3.14` with a digit first a literal, all else a name."""
    if word.startswith("?"):
        return Term(variable=word[1:])
    return Term(literal=word, datatype="xsd:string") if word[0].isdigit() else Term(name=word)


def patterns(*texts: str) -> list[Pattern]:
    """Patterns as people write them: subject, predicate, object."""
    parts = [text.split(maxsplit=2) for text in texts]
    return [Pattern(term(subject), predicate, term(value)) for subject, predicate, value in parts]


def name(value: EntityView | LiteralView) -> str:
    """What something is called."""
    return value.name if isinstance(value, EntityView) else value.value


def told(view: StatementView) -> str:
    """A statement in words."""
    return f"{view.subject.name} {'' if view.polarity else 'not '}{view.predicate} {name(view.object)}"


def bound(match: MatchView) -> dict[str, str]:
    """What the variables stand for, by name."""
    return {variable: name(value) for variable, value in match.bindings}


def found(graph: LedgerGraph, *texts: str, at: str = "2024-06-01", namespace: str = "n", **basis: Any) -> list[dict[str, str]]:
    """What the variables stand for in each match, sorted."""
    snapshot = graph.snapshot(namespace, valid_at=when(at), **basis)
    return sorted((bound(match) for match in snapshot.patterns.match(patterns(*texts), first=100).items), key=repr)


def test_two_patterns_join_what_holds_on_the_basis(graph: LedgerGraph) -> None:
    say(graph, "2023-01-01", "Ann works_at Acme", "Ann lives_in Faro", "Bo works_at Acme", "Cy works_at Globex", "Cy lives_in Lagos")
    say(graph, "2024-01-01", "Bo lives_in Lagos")
    say(graph, "2024-03-01", "Ann lives_in Porto")
    question = ("?p works_at Acme", "?p lives_in ?city")
    assert found(graph, *question) == [{"p": "Ann", "city": "Porto"}, {"p": "Bo", "city": "Lagos"}]
    assert found(graph, *question, at="2023-06-01") == [{"p": "Ann", "city": "Faro"}]
    assert found(graph, *question, transaction=1) == [{"p": "Ann", "city": "Faro"}]
    assert found(graph, *question, evidence_until=when("2024-02-01")) == [{"p": "Ann", "city": "Faro"}, {"p": "Bo", "city": "Lagos"}]
    assert found(graph, "?p works_at Nowhere", "?p lives_in ?city") == found(graph, *question, namespace="other") == []


def test_statements_stand_in_the_order_of_the_patterns_and_are_seen_from_the_side_asked_for(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Ann reports_to Bo", "Cy friend_of Ann", "Ann dislikes Tea", "Bo likes Tea")
    snapshot = graph.snapshot("n", valid_at=when("2024-06-01"))

    def ask(*texts: str) -> list[list[str]]:
        return sorted([told(view) for view in match.statements] for match in snapshot.patterns.match(patterns(*texts)).items)

    assert ask("?b manager_of ?a", "?a friend_of ?c") == [["Bo manager_of Ann", "Ann friend_of Cy"]]
    assert ask("?c friend_of ?a", "?a reports_to ?b") == [["Cy friend_of Ann", "Ann reports_to Bo"]]
    assert ask("?x friend_of ?y", "?y friend_of ?x") == [["Ann friend_of Cy", "Cy friend_of Ann"], ["Cy friend_of Ann", "Ann friend_of Cy"]]
    assert ask("?x dislikes Tea") == [["Ann not likes Tea"]]
    assert ask("?x likes Tea", "?y dislikes Tea") == [["Bo likes Tea", "Ann not likes Tea"]]
    assert ask("?x knows ?y") == []


def test_a_name_is_a_literal_where_the_predicate_says_so_and_literals_join_by_value(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Ann version 1.0", "Bo version 1.0", "Cy version 2.0")
    datatype = VOCABULARY.predicate("version").literal_range
    assert datatype is not None
    snapshot = graph.snapshot("n", valid_at=when("2024-06-01"))
    by_name = Pattern(Term(variable="x"), "version", Term(name="1.0"))
    by_value = Pattern(Term(variable="x"), "version", Term(literal="1.0", datatype=datatype))
    of_another_type = Pattern(Term(variable="x"), "version", Term(literal="1.0", datatype="xsd:anyURI"))
    kinds = (by_name, by_value, of_another_type)
    answers = [sorted(bound(match)["x"] for match in snapshot.patterns.match([asked]).items) for asked in kinds]
    assert answers == [["Ann", "Bo"], ["Ann", "Bo"], []]
    pairs = found(graph, "?x version ?v", "?y version ?v")
    assert len(pairs) == 5
    assert {"x": "Ann", "v": "1.0", "y": "Bo"} in pairs


def test_pages_of_one_basis_never_shift_and_parts_are_fetched_where_wanted(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", *(f"P{number} works_at Acme" for number in range(7)), *(f"P{number} lives_in Faro" for number in range(7)))
    snapshot = graph.snapshot("n", valid_at=when("2024-06-01"))
    asked = patterns("?p works_at Acme", "?p lives_in ?c")
    seen: list[str] = []
    after = None
    for number in range(4):
        page = snapshot.patterns.match(asked, first=2, after=after, want=frozenset({Want.PROVENANCE}))
        assert all(view.provenance for match in page.items for view in match.statements)
        seen += [bound(match)["p"] for match in page.items]
        assert page.has_next == (number < 3)
        after = page.positions[-1]
        say(graph, f"2024-02-0{number + 1}", f"Q{number} works_at Acme", f"Q{number} lives_in Faro")
    assert sorted(seen) == [f"P{number}" for number in range(7)]
    with pytest.raises(InvalidInput, match="another number of patterns"):
        snapshot.patterns.match(asked[:1], after=after)


def test_what_is_no_question_is_refused_and_says_where(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Ann works_at Acme")
    ask = graph.snapshot("n").patterns.match
    x, ann = Term(variable="x"), Term(name="Ann")
    refused = [
        ([], ("patterns",), "1 to 8"),
        ([Pattern(x, "knows", x)] * 9, ("patterns",), "not 9"),
        ([Pattern(Term(variable="?x"), "knows", ann)], ("patterns", "0", "subject", "variable"), "without the question mark: .x"),
        ([Pattern(ann, "knows", x), Pattern(ann, "knows", Term(variable="1x"))], ("patterns", "1", "object", "variable"), "no variable"),
        ([Pattern(ann, "knows", Term(variable="x" * 65))], ("patterns", "0", "object", "variable"), "at most 64"),
        ([Pattern(Term(), "knows", x)], ("patterns", "0", "subject"), "exactly one"),
        ([Pattern(x, "knows", Term(variable="y", name="Bo"))], ("patterns", "0", "object"), "exactly one"),
        ([Pattern(Term(literal="1"), "knows", x)], ("patterns", "0", "subject", "literal"), "only be an object"),
    ]
    for asked, path, words in refused:
        with pytest.raises(InvalidInput, match=words) as raised:
            ask(asked)
        assert raised.value.path == path
    for hops in (0, 7):
        with pytest.raises(InvalidInput, match="maxHops is 1 to 6"):
            graph.snapshot("n").patterns.path(EntityRef(name="Ann"), EntityRef(name="Acme"), max_hops=hops)


def ways(graph: LedgerGraph, start: str, end: str, hops: int = 3, **basis: Any) -> list[list[str]]:
    """The paths between two names, in words."""
    snapshot = graph.snapshot("n", **({"valid_at": when("2024-06-01")} | basis))
    found = snapshot.patterns.path(EntityRef(name=start), EntityRef(name=end), max_hops=hops)
    return sorted([told(view) for view in path.statements] for path in found)


def test_all_shortest_paths_lead_over_what_holds_in_either_direction(graph: LedgerGraph) -> None:
    say(graph, "2023-01-01", "Ann works_at Acme", "Bo works_at Acme", "Bo lives_in Faro", "Ann friend_of Cy", "Cy lives_in Faro")
    say(graph, "2024-02-01", "Ann lives_in Faro")
    long = [["Ann friend_of Cy", "Cy lives_in Faro"], ["Ann works_at Acme", "Bo works_at Acme", "Bo lives_in Faro"]]
    assert ways(graph, "Ann", "Faro") == [["Ann lives_in Faro"]]
    assert ways(graph, "Ann", "Faro", valid_at=when("2023-06-01")) == long[:1]
    assert ways(graph, "Ann", "Faro", transaction=1) == ways(graph, "Ann", "Faro", evidence_until=when("2024-01-01")) == long[:1]
    assert ways(graph, "Faro", "Acme", 2) == [["Ann lives_in Faro", "Ann works_at Acme"], ["Bo lives_in Faro", "Bo works_at Acme"]]
    assert ways(graph, "Ann", "Ann") == ways(graph, "Ann", "nobody") == ways(graph, "Bo", "Cy", 1) == []


def test_denials_and_literals_are_on_no_path_and_two_statements_are_two_paths(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Ann dislikes Tea", "Bo likes Tea", "Ann version 1.0", "Bo version 1.0")
    assert ways(graph, "Ann", "Bo", 6) == []
    say(graph, "2024-01-02", "Ann knows Bo", "Ann friend_of Bo")
    assert ways(graph, "Bo", "Ann") == [["Ann friend_of Bo"], ["Ann knows Bo"]]


def joined_by_hand(snapshot: Any, asked: Sequence[Pattern], vocabulary: Vocabulary) -> list[tuple[dict[str, str], list[Any]]]:
    """The matches by trying every statement that a snapshot lists for every pattern, from both sides of a symmetric one."""
    listed: list[StatementView] = pages(lambda after: snapshot.statements(StatementFilter(), first=100, after=after))

    def meets(at: Term, key: str, bound: dict[str, str]) -> bool:
        if at.variable is not None:
            return bound.setdefault(at.variable, key) == key
        return bool(snapshot.key_of(EntityRef(name=at.name)) == key)

    found: list[tuple[dict[str, str], list[Any]]] = [({}, [])]
    for pattern in asked:
        canonical = vocabulary.canonical(pattern.predicate)
        further = []
        for bound, way in found:
            for view in listed:
                if view.predicate != canonical.predicate.name or view.polarity == canonical.negated:
                    continue
                one, other = snapshot.key_of(EntityRef(key=view.subject.key)), snapshot.key_of(EntityRef(key=view.object.key))
                both = canonical.predicate.symmetric and one != other and isinstance(view.object, EntityView)
                for ends in [(one, other), (other, one)][: 2 if both else 1]:
                    now = dict(bound)
                    if meets(pattern.subject, ends[0], now) and meets(pattern.object, ends[1], now):
                        further.append((now, [*way, (view.key, view.v_from)]))
        found = further
    return found


@pytest.mark.parametrize("number", [3, pytest.param(60, marks=pytest.mark.deep)])
def test_a_random_world_answers_as_joining_its_statements_by_hand_does(graph: LedgerGraph, number: int) -> None:
    @settings(
        max_examples=number,
        derandomize=number == 3,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        phases=[Phase.generate],
    )
    @given(st.data())
    def run(data: st.DataObject) -> None:
        operations = data.draw(stories(VOCABULARY))
        operations.insert(data.draw(st.integers(1, len(operations))), a_join_of(*data.draw(st.permutations(NAMES))[:2]))
        story = Story(graph, operations)
        random = Random(data.draw(st.integers(0, 2**32)))
        predicates = [name for name in predicates_of(operations) if not VOCABULARY.canonical(name).swapped and name != "also_known_as"]
        until = data.draw(st.sampled_from((None, *POINTS)))
        transaction = data.draw(st.sampled_from([one.transaction for one in story.done] or [0]))
        snapshot = story.snapshot(valid_at=data.draw(st.sampled_from(POINTS)), transaction=transaction, evidence_until=until)
        for _ in range(4):
            asked = [Pattern(a_term(random), random.choice(predicates), a_term(random)) for _ in range(random.choice((1, 2, 2)))]
            page = snapshot.patterns.match(asked, first=100)
            seen = [
                ({name: value.key for name, value in match.bindings}, [(one.key, one.v_from) for one in match.statements])
                for match in page.items
            ]
            assert sorted(seen, key=repr) == sorted(joined_by_hand(snapshot, asked, VOCABULARY), key=repr)

    run()


def a_term(random: Random) -> Term:
    """A variable or a name of somebody."""
    return Term(variable=random.choice("xyz")) if random.random() < 0.7 else Term(name=random.choice(NAMES))


def test_under_a_limit_a_question_is_answered_as_by_a_graph_that_was_told_no_more(graph: LedgerGraph) -> None:
    case = Case(VOCABULARY, graph)
    other = Case(VOCABULARY, graph)
    for which in (case, other):
        which.stated("2024-01-01", "Robert works_at Acme", "Bob lives_in Faro", "Cy lives_in Faro")
        which.stated("2024-01-02", "Bob also_known_as Robert")
        which.stated("2024-01-03", "Cy friend_of Bob")
    case.stated("2024-03-01", "Robert works_at Globex", "Bob lives_in Lagos", "Cy also_known_as Dora", "Acme part_of Faro")
    questions = (("?p works_at ?c", "?p lives_in ?t"), ("?p friend_of ?q", "?q works_at Acme"), ("?p lives_in ?t", "?q lives_in ?t"))
    limit: dict[str, Any] = {"evidence_until": when("2024-02-01")}
    spaces = [which._story.namespace for which in (case, other) if which._story is not None]
    for question in questions:
        limited, whole = found(graph, *question, namespace=spaces[0], **limit), found(graph, *question, namespace=spaces[1])
        assert limited == whole != []
        assert found(graph, *question, namespace=spaces[0]) != whole

    def between(namespace: str, **basis: Any) -> list[list[str]]:
        snapshot = graph.snapshot(namespace, valid_at=when("2024-06-01"), **basis)
        paths = snapshot.patterns.path(EntityRef(name="Acme"), EntityRef(name="Faro"))
        return sorted([told(view) for view in path.statements] for path in paths)

    assert between(spaces[0], **limit) == between(spaces[1]) == [["Bob works_at Acme", "Bob lives_in Faro"]]
    assert between(spaces[0]) == [["Acme part_of Faro"]]

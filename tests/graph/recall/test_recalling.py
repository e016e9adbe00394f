"""What recall answers: whole pages, nothing outside its period, nothing of another namespace, and never silence where a part fails."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import strategies as st

import graph.recall.arms as arms_module
import graph.recall.weighing as weighing_module
from graph.ledger.schema import OPEN
from graph.recall.recalling import RecallUnavailable
from graph.recall.views import DEFAULTS, Arm, Hit, Kind, RecallOptions
from graph.recall.words import MOST_TERMS
from graph.service import LedgerGraph
from graph.views import EntityRef, EntityView, EpisodeView, StatementFilter, StatementView, Want
from ontology.claim import ClaimDraft, ObjectDraft
from ontology.episode import EpisodeDraft
from ontology.errors import InvalidInput
from ontology.instant import DAY, format_instant
from ontology.loading import load_vocabulary
from tests.graph.ledger.identity_worlds import NAMES, fresh
from tests.graph.ledger.saying import claim, say, when
from tests.graph.ledger.test_filter_sides import SIDES
from tests.graph.recall.worlds import Tale, bases, choices, copied, embed, examined, filters, open_world, queries, recalled, tales, told

WORDS_ALONE = RecallOptions(arms=(Arm.BM25,))
BOTH = RecallOptions(kinds=(Kind.STATEMENT, Kind.EPISODE))


def shown(hits: Any) -> list[str]:
    """Hits in words."""
    found = []
    for hit in hits:
        view = hit.node
        found.append(view.content or "" if isinstance(view, EpisodeView) else f"{view.subject.name} {view.predicate} {_object(view)}")
    return found


def _object(view: StatementView) -> str:
    return view.object.name if isinstance(view.object, EntityView) else view.object.value


def asked(
    graph: LedgerGraph, text: str, options: RecallOptions = DEFAULTS, filter: StatementFilter | None = None, **basis: Any
) -> list[Hit]:
    """All hits of a question in 2024."""
    snapshot = graph.snapshot("n", **{"valid_at": when("2024-06-01"), **basis})
    return list(recalled(snapshot, text, options, filter or StatementFilter()).page.items)


# ---------------------------------------------------------------- pages


def pages_make_the_whole(graph: LedgerGraph, data: st.DataObject) -> None:
    tale = Tale(graph, namespace=fresh(graph, data.draw(st.permutations(NAMES))))
    tale.tell(data.draw(tales(graph.vocabulary(), largest=6)))
    embed(graph)
    for _ in range(3):
        basis = bases(data, tale)
        filter = data.draw(filters())
        if basis.get("evidence_until") is not None:
            filter = replace(filter, include_invalidated=False)
        text, options = data.draw(queries()), data.draw(choices())
        snapshot = graph.snapshot(tale.namespace, **basis)
        whole = recalled(snapshot, text, options, filter)
        found: list[Any] = []
        after, left = None, None
        while True:
            size = data.draw(st.integers(1, 4))
            answer = snapshot.recall(text, options=options, filter=filter, first=size, after=after)
            found += told(answer.page.items)
            assert len(answer.page.items) <= size
            assert left is None or answer.not_shown <= left
            left = answer.not_shown
            if not answer.page.has_next:
                break
            assert len(answer.page.items) == size
            after = json.loads(json.dumps(answer.page.positions[-1]))
        assert found == told(whole.page.items)
        assert left == whole.not_shown


def test_pages_of_any_sizes_make_the_one_that_has_all(shared: LedgerGraph) -> None:
    examined(lambda data: pages_make_the_whole(shared, data), 3)


@pytest.mark.deep
def test_pages_of_many_histories_make_the_one_that_has_all(shared: LedgerGraph) -> None:
    examined(lambda data: pages_make_the_whole(shared, data), 200)


@pytest.mark.parametrize("after", [["x"], [0.5, "STATEMENT"], "abc", [None, "STATEMENT", "k", 0]])
def test_a_cursor_of_something_else_is_refused(graph: LedgerGraph, after: Any) -> None:
    say(graph, "2024-01-01", "Ann likes herring")
    with pytest.raises(InvalidInput):
        graph.snapshot("n", valid_at=when("2024-06-01")).recall("herring", after=after)


@pytest.mark.parametrize(
    ("text", "options"),
    [
        (" ", DEFAULTS),
        ("herring", RecallOptions(candidates=0)),
        ("herring", RecallOptions(candidates=501)),
        ("herring", RecallOptions(max_per_group=0)),
        ("herring", RecallOptions(arms=())),
        ("herring", RecallOptions(kinds=())),
    ],
)
def test_what_cannot_be_asked_is_refused_also_where_nothing_is_known(graph: LedgerGraph, text: str, options: RecallOptions) -> None:
    with pytest.raises(InvalidInput):
        graph.snapshot("n").recall(text, options=options)


# ---------------------------------------------------------------- beside the list


def finds_what_the_list_has(graph: LedgerGraph, data: st.DataObject) -> None:
    tale = Tale(graph, namespace=fresh(graph, data.draw(st.permutations(NAMES))))
    identity = data.draw(st.booleans())
    tale.tell(data.draw(tales(graph.vocabulary(), largest=6, identity=identity)))
    embed(graph)
    basis = bases(data, tale, until=False)
    snapshot = graph.snapshot(tale.namespace, **basis)
    names = [view.key for view in snapshot.entities(first=20).items]
    sides = [StatementFilter(), *(StatementFilter(subjects=(key,)) for key in names), *(StatementFilter(objects=(key,)) for key in names)]
    for _ in range(3):
        filter = data.draw(filters())
        side = data.draw(st.sampled_from(sides))
        filter = replace(filter, subjects=side.subjects, objects=side.objects)
        if identity:
            # The list also tells of whom what is gone was told before names were joined or told apart; recall reads all by the basis.
            filter = replace(filter, include_invalidated=False)
        listed = snapshot.statements(filter, first=1000).items
        # By words alone what holds none of them is not found; by their vectors all are.
        found = recalled(snapshot, data.draw(queries()), RecallOptions(candidates=500), filter).page.items
        assert {told_of(view) for view in listed} == {told_of(hit.node) for hit in found}
        assert len(found) == len(listed)


def told_of(view: Any) -> tuple[Any, ...]:
    """What a statement shows, whichever way it was come by."""
    return (view.key, view.subject.key, view.predicate, view.object.key, view.polarity, view.v_from, view.v_to, view.tx_to_at)


def test_recall_finds_the_statements_that_the_list_has(shared: LedgerGraph) -> None:
    examined(lambda data: finds_what_the_list_has(shared, data), 4)


@pytest.mark.deep
def test_recall_finds_the_statements_that_the_list_has_in_many_histories(shared: LedgerGraph) -> None:
    examined(lambda data: finds_what_the_list_has(shared, data), 300)


# ---------------------------------------------------------------- what counts


def _many(graph: LedgerGraph, claims: list[ClaimDraft], said: str, **fields: Any) -> None:
    """Claims in one transaction, ten to an episode."""
    batch = []
    for number in range(0, len(claims), 10):
        draft = EpisodeDraft(f"{said} {number} {fields}", "chat", external_id=f"{said}/{number}/{fields}", said_at=said, **fields)
        batch.append((draft, claims[number : number + 10], ()))
    graph.record_extracted("n", batch, extractor="test")


def test_what_no_longer_holds_takes_no_place_on_the_page(graph: LedgerGraph) -> None:
    people = [f"Person{number}" for number in range(12)]
    for month in range(1, 21):
        said = f"20{10 + month}-01-01"
        _many(graph, [claim(f"{one} lives_in Town{month}", start=0, end=4) for one in people], said)
    embed(graph)
    for options in (RecallOptions(candidates=10), RecallOptions(candidates=10, arms=(Arm.VECTOR,)), replace(WORDS_ALONE, candidates=10)):
        answer = graph.snapshot("n", valid_at=when("2031-01-01")).recall("who lives in a town", options=options)
        assert len(answer.page.items) == 10
        assert {_object(hit.node) for hit in answer.page.items} == {"Town20"}  # type: ignore[arg-type]


def _random_facts(graph: LedgerGraph, chance: Random) -> None:
    towns, people = [f"Town{number}" for number in range(6)], [f"Person{number}" for number in range(6)]
    batch: list[tuple[EpisodeDraft, list[ClaimDraft], tuple[str, ...]]] = []
    for number in range(60):
        said = when("2024-01-01") + chance.randrange(300) * DAY
        kind = chance.choice(["STATE", "STATE", "CHANGE", "END"])
        until = f"2024-{chance.randrange(1, 13):02d}-28" if chance.random() < 0.3 and kind == "STATE" else None
        words = f"{'not ' if chance.random() < 0.1 else ''}{chance.choice(people)} {chance.choice(['lives_in', 'likes', 'visited'])}"
        one = claim(f"{words} {chance.choice(towns)}", kind=kind, valid_to=until, start=0, end=4)
        text, group = f"turn {number} {one.subject}", f"g{number % 3}"
        batch.append((EpisodeDraft(text, "chat", external_id=str(number), said_at=format_instant(said), group=group), [one], ()))
    for first in range(0, 60, 6):
        graph.record_extracted("n", batch[first : first + 6], extractor="test")
    for number in (3, 17, 40):
        graph.retract("n", source="chat", external_id=str(number), reason=None)


def nothing_outside_its_period(graph: LedgerGraph, pairs: int) -> None:
    chance = Random(5)
    _random_facts(graph, chance)
    embed(graph)
    numbers = [view.number for view in graph.transactions("n", first=1000).items]
    words = [f"Person{number}" for number in range(6)] + [f"Town{number}" for number in range(6)] + ["lives", "likes", "visited", "turn"]
    seen = 0
    for _ in range(pairs):
        at = when("2023-12-01") + chance.randrange(400) * DAY
        basis: dict[str, Any] = {"valid_at": at, "transaction": chance.choice(numbers)}
        if chance.random() < 0.2:
            basis["evidence_until"] = at + chance.randrange(-30, 30) * DAY
        snapshot = graph.snapshot("n", **basis)
        text, confirmed = " ".join(chance.sample(words, 2)), False
        for hit in snapshot.recall(text, first=5, want=frozenset({Want.BARE})).page.items:
            view = hit.node
            assert isinstance(view, StatementView)
            assert view.v_from <= at < view.v_to, (text, basis)
            if not confirmed:
                confirmed = snapshot.statement(view.stored_key, view.v_from, want=frozenset({Want.BARE})) is not None
                assert confirmed, (text, basis)
            seen += 1
    assert seen > pairs
    assert graph._recall.mismatches == 0


def test_no_statement_is_found_outside_its_period(graph: LedgerGraph) -> None:
    nothing_outside_its_period(graph, 25)


@pytest.mark.deep
def test_no_statement_is_found_outside_its_period_of_ten_thousand_questions(graph: LedgerGraph) -> None:
    nothing_outside_its_period(graph, 10_000)


def test_another_namespace_changes_nothing(graph: LedgerGraph) -> None:
    def tell(namespace: str, people: tuple[str, ...]) -> None:
        for number, one in enumerate(people):
            say(
                graph,
                f"2024-01-0{number + 1}",
                f"{one} likes herring",
                f"{one} lives_in Lisbon",
                namespace=namespace,
                content=f"{one} says herring",
            )
        embed(graph)

    tell("n", ("Ann", "Bob", "Cy"))
    before = told(asked(graph, "Zoe likes herring in Lisbon", BOTH)), graph.snapshot("n").index_version
    assert before[0]
    tell("m", ("Ann", "Zoe", "Di", "Eve"))
    assert (told(asked(graph, "Zoe likes herring in Lisbon", BOTH)), graph.snapshot("n").index_version) == before
    graph.rebuild_index()
    assert (told(asked(graph, "Zoe likes herring in Lisbon", BOTH)), graph.snapshot("n").index_version) == before


def test_a_namespace_without_anything_is_empty_and_no_error(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Ann likes herring")
    answer = graph.snapshot("elsewhere").recall("herring")
    assert (answer.page.items, answer.not_shown) == ((), 0)


# ---------------------------------------------------------------- questions


def test_an_unknown_word_takes_nothing_away(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Ann likes herring", "Bob likes bread", "Cy likes herring")
    plain = told(asked(graph, "herring", WORDS_ALONE))
    assert len(plain) == 2
    for text in ("zyzzyva herring", "herring qwrtz 東京", "the herring?"):
        assert told(asked(graph, text, WORDS_ALONE)) == plain


def test_a_question_of_stop_words_alone_finds_what_has_them(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Ann likes herring", content="Who is it?")
    assert shown(asked(graph, "who is it", replace(WORDS_ALONE, kinds=(Kind.EPISODE,)))) == ["Who is it?"]


def test_a_long_pasted_question_is_answered_by_its_rarest_terms(graph: LedgerGraph) -> None:
    words = [f"{one}{other}ux" for one in "bdfgklmnpr" for other in "aeiou"] + [
        f"{one}{other}ix" for one in "bdfgklmnpr" for other in "aeiou"
    ]
    _many(graph, [claim(f"Cy likes {word}", start=0, end=0) for word in words], "2024-01-01")
    pasted = " ".join(f"{word} likes lorem{word}" for word in words) + "ipsum " * 3000
    found = asked(graph, pasted, replace(WORDS_ALONE, candidates=500))
    # So many of the 100 terms that occur once; "likes", which all have, is none of them.
    assert len(found) == MOST_TERMS
    assert len({hit.score for hit in found}) == 1


def test_equal_scores_are_ordered_by_the_claims_of_the_documents(graph: LedgerGraph) -> None:
    _many(graph, [claim(f"Person{number} likes herring", start=0, end=0) for number in range(30)], "2024-01-01")
    snapshot = graph.snapshot("n", valid_at=when("2024-06-01"))
    hits = snapshot.recall("herring", options=WORDS_ALONE, first=40, want=frozenset({Want.PROVENANCE})).page.items
    assert len({hit.score for hit in hits}) == 1
    claims = [hit.node.provenance[0].claim for hit in hits if isinstance(hit.node, StatementView)]
    assert claims == sorted(claims)
    assert [hit.arms[0].rank for hit in hits] == list(range(1, 31))
    few = snapshot.recall("herring", options=replace(WORDS_ALONE, candidates=7), first=40)
    assert [hit.node.key for hit in few.page.items] == [hit.node.key for hit in hits[:7]]


# ---------------------------------------------------------------- PageRank


def test_what_is_named_leads_to_what_no_word_of_the_question_stands_in(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Ann likes Bob", group="g")
    say(graph, "2024-01-02", "Bob speaks Lisbon", group="h")
    say(graph, "2024-01-02", "Cy speaks Porto", group="i")
    options = RecallOptions(arms=(Arm.BM25, Arm.PAGERANK), candidates=1)
    hits = asked(graph, "what of Ann?", options)
    assert shown(hits) == ["Ann likes Bob", "Bob speaks Lisbon"][: len(hits)]
    hits = asked(graph, "what of Ann?", replace(options, candidates=5))
    assert shown(hits) == ["Ann likes Bob", "Bob speaks Lisbon"]
    assert hits[1].path == ("Ann", "Bob") or hits[1].path == ("Bob",)
    assert [one.arm for one in hits[1].arms] == [Arm.PAGERANK]


def test_seeds_stand_in_the_place_of_the_names_in_the_question(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Ann likes Bob", group="g")
    say(graph, "2024-01-02", "Cy speaks Porto", group="i")
    key = graph.snapshot("n").key_of(EntityRef(name="Cy"))
    graph_alone = RecallOptions(arms=(Arm.PAGERANK,))
    assert shown(asked(graph, "Ann", graph_alone)) == ["Ann likes Bob"]
    assert shown(asked(graph, "Ann", replace(graph_alone, seeds=(key,)))) == ["Cy speaks Porto"]
    assert shown(asked(graph, "Ann", replace(graph_alone, seeds=()))) == []
    assert shown(asked(graph, "Ann", replace(graph_alone, seeds=("0" * 32,)))) == []


@pytest.mark.parametrize("name", ["ann", "ANN", "\u200bAnn", "Ann's", "(Ann)"])
def test_names_in_a_question_are_read_as_names(graph: LedgerGraph, name: str) -> None:
    say(graph, "2024-01-01", "Ann likes Bob")
    assert shown(asked(graph, f"and {name}, then", RecallOptions(arms=(Arm.PAGERANK,)))) == ["Ann likes Bob"]


def test_a_name_of_several_words_and_an_alias_are_found(graph: LedgerGraph) -> None:
    draft = replace(claim("Ann likes x"), subject="Ann van der Berg")
    say(graph, "2024-01-01", draft)
    joined = replace(claim("A also_known_as B"), subject="Ann van der Berg", object=ObjectDraft("Annie"))
    say(graph, "2024-01-01", joined)
    for text in ("news of ann van der berg?", "what does Annie like?"):
        assert "Ann van der Berg likes x" in shown(asked(graph, text, RecallOptions(arms=(Arm.PAGERANK,))))


# ---------------------------------------------------------------- when something fails


def _fails(*_: Any, **__: Any) -> Any:
    raise RuntimeError("on purpose")


def _story(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Ann likes herring", content="Ann said that she likes herring", speaker="Ann")
    say(graph, "2024-01-02", "Ann lives_in Lisbon", content="Lisbon it is", speaker="Ann")
    say(graph, "2024-01-03", "Bob likes bread")
    embed(graph)


BREAKS: dict[str, Callable[[LedgerGraph, pytest.MonkeyPatch], None]] = {
    "vector": lambda graph, patch: patch.setattr(graph._recall, "_embed", _fails),
    "bm25": lambda graph, patch: patch.setattr(arms_module, "bm25", _fails),
    "pagerank": lambda graph, patch: patch.setattr(weighing_module, "walk", _fails),
}
NAMED_AS = {"vector": Arm.VECTOR, "bm25": Arm.BM25, "pagerank": Arm.PAGERANK}


@pytest.mark.parametrize(
    "broken", [("vector",), ("bm25",), ("pagerank",), ("vector", "bm25"), ("vector", "pagerank"), ("bm25", "pagerank")]
)
def test_an_arm_that_fails_is_named_and_the_others_answer(
    graph: LedgerGraph, monkeypatch: pytest.MonkeyPatch, broken: tuple[str, ...]
) -> None:
    _story(graph)
    rest = tuple(arm for arm in Arm if arm not in {NAMED_AS[name] for name in broken})
    expected = told(asked(graph, "does Ann like herring", replace(BOTH, arms=rest)))
    assert expected
    whole = told(asked(graph, "does Ann like herring", BOTH))
    with monkeypatch.context() as patch:
        for name in broken:
            BREAKS[name](graph, patch)
        answer = graph.snapshot("n", valid_at=when("2024-06-01")).recall("does Ann like herring", options=BOTH, first=50)
        assert told(answer.page.items) == expected
        assert sorted(one.split(":")[0] for one in answer.degraded) == sorted(broken)
        assert {one.name for one in graph.health() if not one.ok} == {f"recall.{name}" for name in broken}
    assert told(asked(graph, "does Ann like herring", BOTH)) == whole
    assert all(one.ok for one in graph.health())


def test_where_every_arm_fails_the_answer_names_them_all(graph: LedgerGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    _story(graph)
    for name in BREAKS:
        BREAKS[name](graph, monkeypatch)
    answer = graph.snapshot("n", valid_at=when("2024-06-01")).recall("does Ann like herring")
    assert answer.page.items == ()
    assert sorted(one.split(":")[0] for one in answer.degraded) == sorted(BREAKS)


def test_an_index_that_cannot_follow_is_an_error_and_no_empty_answer(graph: LedgerGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    _story(graph)
    with monkeypatch.context() as patch:
        patch.setattr(graph._recall.index, "catch_up", _fails)
        with pytest.raises(RecallUnavailable):
            graph.snapshot("n", valid_at=when("2024-06-01")).recall("herring")
        assert [one.name for one in graph.health() if one.degraded]
    assert shown(asked(graph, "herring"))[0] == "Ann likes herring"


def test_without_an_embedder_words_and_graph_answer_and_say_so(open_graph: Callable[..., LedgerGraph]) -> None:
    graph = open_graph(vectors=False)
    say(graph, "2024-01-01", "Ann likes herring")
    answer = graph.snapshot("n", valid_at=when("2024-06-01")).recall("herring")
    assert shown(answer.page.items) == ["Ann likes herring"]
    assert [one.split(":")[0] for one in answer.degraded] == ["vector"]
    assert graph.unembedded() == []


def test_texts_that_wait_for_their_vectors_are_told_of_and_found_by_their_words(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Ann likes herring")
    snapshot = graph.snapshot("n", valid_at=when("2024-06-01"))
    early, version = snapshot.recall("herring"), snapshot.index_version
    assert shown(early.page.items) == ["Ann likes herring"]
    assert any("wait" in one for one in early.degraded)
    embed(graph)
    late = snapshot.recall("herring")
    assert late.degraded == ()
    assert Arm.VECTOR in {one.arm for one in late.page.items[0].arms}
    assert snapshot.index_version != version


def test_a_hit_that_the_ledger_does_not_have_is_left_out_and_told(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Ann likes herring", external_id="wrong")
    say(graph, "2024-01-01", "Bob likes herring")
    graph.retract("n", source="chat", external_id="wrong", reason=None)
    space = graph._recall.index.space("n") if graph.health() else None
    assert space is not None
    for table in (space.indexed.claims, space.indexed.rectangles):
        table["tx_to"][:] = OPEN
    assert shown(asked(graph, "herring")) == ["Bob likes herring"]
    (index,) = [one for one in graph.health() if one.name == "index"]
    assert "1 hits" in (index.degraded or "")
    assert "rebuild --index" in (index.degraded or "")
    graph.rebuild_index()
    assert shown(asked(graph, "herring")) == ["Bob likes herring"]
    assert graph._recall.mismatches == 1


def test_recall_answers_under_a_said_time_limit_as_a_list_of_all_statements_does(graph: LedgerGraph) -> None:
    say(graph, "2024-01-01", "Ann likes herring")
    say(graph, "2024-03-01", "Ann likes bread")
    limited = graph.snapshot("n", valid_at=when("2024-06-01"), evidence_until=when("2024-02-01"))
    assert [view.text for view in limited.statements(StatementFilter()).items] == ["Ann likes herring"]
    assert shown(limited.recall("Ann").page.items) == ["Ann likes herring"]


def test_a_filter_finds_what_is_stored_under_another_name_from_the_other_side_and_denied(tmp_path: Path, empty_ledger: Path) -> None:
    overlay = tmp_path / "sides.yaml"
    overlay.write_text(SIDES, encoding="utf-8")
    with closing(open_world(copied(empty_ledger, tmp_path), load_vocabulary(overlay), vectors=False)) as graph:
        say(graph, "2024-01-01", "Plan opposed_by Bob", "Plan supported_by Ann", "Ann enemy_of Bob", "Ann friend_of Cy")
        keys = {name: graph.snapshot("n").key_of(EntityRef(name=name)) for name in ("Plan", "Ann", "Bob")}
        for predicate, subject, object in (("opposed_by", "Plan", "Bob"), ("enemy_of", "Ann", "Bob"), ("enemy_of", "Bob", "Ann")):
            filter = StatementFilter(predicates=(predicate,), subjects=(keys[subject],))
            (hit,) = asked(graph, "Plan Ann Bob", WORDS_ALONE, filter)
            assert isinstance(hit.node, StatementView)
            assert {hit.node.subject.name, _object(hit.node)} == {subject, object}
            assert not hit.node.polarity
        crossed = StatementFilter(predicates=("opposed_by",), subjects=(keys["Bob"],))
        assert asked(graph, "Plan Ann Bob", WORDS_ALONE, crossed) == []

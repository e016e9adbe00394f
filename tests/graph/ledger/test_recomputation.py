"""What commits change step by step is what the claims in the set make of it at once; and both answer alike."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from graph.views import EntityRef, ObjectRef, StatementView, Want
from ontology.instant import UNBOUNDED_FUTURE
from ontology.vocabulary import Vocabulary
from tests.graph.ledger.identity_checks import DEEP, QUICK, Check, Twins, begun, drawn, examined, two_ledgers
from tests.graph.ledger.identity_strategies import predicates_of
from tests.graph.ledger.identity_worlds import NAMES, Story
from tests.graph.ledger.recomputed import kept, recomputed
from tests.graph.ledger.worlds import ALWAYS, pages

ALL = frozenset({Want.HISTORY, Want.PROVENANCE, Want.INVALIDATION})


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory, vocabulary: Vocabulary, empty_ledger: Path) -> Iterator[Twins]:
    yield from two_ledgers(tmp_path_factory.mktemp("recomputation"), vocabulary, empty_ledger)


def what_is_kept_is_what_the_claims_make(twins: Twins, data: st.DataObject) -> None:
    """After each operation: components, denotations, labels, things and statements."""
    story = begun(twins, data)
    for one in drawn(twins, data, largest=6):
        if story.do(one):
            assert kept(twins.one, story.namespace) == recomputed(twins.one, story.namespace), one


def stored_and_told_identity_answer_alike(twins: Twins, data: st.DataObject) -> None:
    """A said-time limit that leaves nothing out answers, from the claims, what the tables answer without one."""
    story = begun(twins, data, drawn(twins, data))
    for number in sorted({one.transaction for one in story.done})[-2:]:
        for name in NAMES:
            assert _answers(story, name, number, UNBOUNDED_FUTURE) == _answers(story, name, number, None)


def _answers(story: Story, name: str, number: int, until: Any) -> list[Any]:
    snapshot = story.snapshot(transaction=number, evidence_until=until)
    key = snapshot.key_of(EntityRef(name=name))
    found: list[Any] = [key, snapshot.entity(EntityRef(name=name)), snapshot.suspected_splits(key)]
    for role in ("SUBJECT", "OBJECT", "ANY"):
        views = pages(lambda after, role=role: snapshot.statements_about(key, role, ALWAYS, first=3, after=after, want=ALL))
        found.append(sorted((_unstored(view) for view in views), key=repr))
    for predicate in predicates_of(one.operation for one in story.done):
        line = snapshot.timeline(EntityRef(name=name), predicate, want=ALL)
        found += [(part.v_from, part.v_to, [_unstored(view) for view in part.statements]) for part in line.segments]
        answers = [snapshot.ask(EntityRef(name=name), predicate, ObjectRef(name=other), want=ALL) for other in NAMES]
        found += [(answer.value, [_unstored(view) for view in answer.statements]) for answer in answers]
    return found


def _unstored(view: StatementView) -> StatementView:
    """A view but for the key that its rectangle is stored under: what is made anew is stored nowhere."""
    ending = view.invalidation
    if ending is not None and ending.by is not None:
        ending = replace(ending, by=_unstored(ending.by))
    return replace(view, stored_key="", invalidation=ending)


CHECKS: dict[str, Check] = {
    check.__name__: check for check in (what_is_kept_is_what_the_claims_make, stored_and_told_identity_answer_alike)
}


@pytest.mark.parametrize("check", CHECKS)
def test_of_random_stories(check: str, twins: Twins) -> None:
    examined(CHECKS[check], twins, QUICK // 2)


@pytest.mark.deep
@pytest.mark.parametrize("check", CHECKS)
def test_of_very_many_random_stories(check: str, twins: Twins) -> None:
    examined(CHECKS[check], twins, DEEP)

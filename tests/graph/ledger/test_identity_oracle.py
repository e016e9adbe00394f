"""Properties of the oracle of who is who itself: it knows no order, and its facts are those of the ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import strategies as st

from graph.views import EntityRef, ObjectRef
from ontology.vocabulary import Vocabulary
from tests.graph.ledger.conftest import EPOCH
from tests.graph.ledger.identity_checks import (
    DEEP,
    QUICK,
    Check,
    Twins,
    a_join_of,
    agree_everywhere,
    begun,
    drawn,
    examined,
    two_ledgers,
)
from tests.graph.ledger.identity_operations import Divided, Merged, Operation, Rejected, raw
from tests.graph.ledger.identity_oracle import Entity
from tests.graph.ledger.identity_picture import Picture, Row
from tests.graph.ledger.identity_strategies import predicates_of
from tests.graph.ledger.identity_worlds import NAMES, in_one_name, one_name
from tests.graph.ledger.strategies import POINTS


@pytest.fixture(scope="module")
def twins(tmp_path_factory: pytest.TempPathFactory, vocabulary: Vocabulary, empty_ledger: Path) -> Iterator[Twins]:
    yield from two_ledgers(tmp_path_factory.mktemp("identity"), vocabulary, empty_ledger)


def the_oracle_agrees_without_identity(twins: Twins, data: st.DataObject) -> None:
    operations = drawn(twins, data, identity=False, by_key=False)
    agree_everywhere(begun(twins, data, operations), data)


def the_oracle_knows_no_order(twins: Twins, data: st.DataObject) -> None:
    operations = drawn(twins, data, by_key=False)
    order: dict[Any, str] = {raw(name): str(place) for place, name in enumerate(data.draw(st.permutations(NAMES)))}
    one, other = (Picture(each, twins.one.vocabulary(), order.__getitem__) for each in (operations, data.draw(st.permutations(operations))))
    assert one.statements() == other.statements()
    assert one.identity.entities == other.identity.entities
    assert [one.identity.found(raw(name)) for name in NAMES] == [other.identity.found(raw(name)) for name in NAMES]


def the_oracle_takes_back_what_it_was_told(twins: Twins, data: st.DataObject) -> None:
    """A join that is rejected or retracted leaves nothing, twice is once, and a rejection that is restored was never there."""
    operations = drawn(twins, data)
    one, other = data.draw(st.permutations(NAMES))[:2]
    join: Operation = Merged("join", (raw(one), raw(other)), EPOCH) if data.draw(st.booleans()) else a_join_of(one, other)

    def answers(done: Sequence[Operation]) -> list[Any]:
        picture = Picture(done, twins.one.vocabulary(), str)
        names = [picture.identity.found(raw(name)) for name in NAMES]
        return [picture.statements(), picture.identity.entities, names, [picture.identity.aliases(name) for name in names]]

    wrong = Rejected("join", 0)
    assert answers([*operations, join, wrong]) == answers(operations)
    assert (
        answers([*operations, join])
        == answers([*operations, join, join])
        == answers([*operations, join, wrong, replace(wrong, restore=True)])
    )


def joined_names_are_as_one_name_would_be(twins: Twins, data: st.DataObject) -> None:
    """The oracle's facts are those of a ledger that was told the same in one name for each entity, and of no identity."""
    operations = [replace(one, said=EPOCH + n) if isinstance(one, Merged | Divided) else one for n, one in enumerate(drawn(twins, data))]
    picture = Picture(operations, twins.one.vocabulary(), str)
    story = begun(twins, data, in_one_name(operations, picture))
    symmetric = {name for name, known in twins.one.vocabulary().predicates.items() if known.symmetric}

    def plain(row: Row, name: Callable[[Entity], str]) -> tuple[Any, ...]:
        one, predicate, qualifier, other, *rest = row
        ends = [name(end) if isinstance(end, frozenset) else end for end in (one, other)]
        return (predicate, qualifier, *rest, *(sorted(ends, key=str) if predicate in symmetric else ends))

    found = {plain(row, lambda entity: next(iter(entity))[0]) for row in story.statements(story.picture())}
    assert found == {plain(row, one_name) for row in picture.statements()}
    snapshot = story.snapshot(valid_at=(at := data.draw(st.sampled_from(POINTS))))
    asked = data.draw(st.lists(st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)), min_size=4, max_size=4))
    for predicate, (one, other) in product(predicates_of(operations), asked):
        subject, object = (one_name(picture.identity.found(raw(name))) for name in (one, other))
        answer = snapshot.ask(EntityRef(name=subject), predicate, ObjectRef(name=object)).value
        assert answer == picture.ask(raw(one), predicate, raw(other), at), (one, predicate, other)


CHECKS: dict[str, Check] = {
    check.__name__: check
    for check in (
        the_oracle_agrees_without_identity,
        the_oracle_knows_no_order,
        the_oracle_takes_back_what_it_was_told,
        joined_names_are_as_one_name_would_be,
    )
}


@pytest.mark.parametrize("check", CHECKS)
def test_of_random_stories(check: str, twins: Twins) -> None:
    examined(CHECKS[check], twins, QUICK)


@pytest.mark.deep
@pytest.mark.parametrize("check", CHECKS)
def test_of_very_many_random_stories(check: str, twins: Twins) -> None:
    examined(CHECKS[check], twins, DEEP)

"""An alias of two names joins neither, in whatever order they are told."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ontology.aliases import ambiguous

PAIRS = st.lists(st.tuples(st.sampled_from("ABCD"), st.sampled_from("wxyz")), max_size=8)


def test_an_alias_of_one_name_is_not_ambiguous() -> None:
    assert ambiguous([("Mia", "Ada's sister"), ("Mia", "Ada's sister"), ("Robert", "Bob")]) == frozenset()


def test_an_alias_of_two_names_is() -> None:
    assert ambiguous([("Mia", "Ada's sister"), ("Lea", "Ada's sister"), ("Robert", "Bob")]) == {"Ada's sister"}


def test_two_names_of_one_person_may_share_an_alias() -> None:
    assert ambiguous([("Mia", "Ada's sister"), ("Mia Baker", "Ada's sister"), ("Mia Baker", "Mia")]) == frozenset()


def test_aliases_that_are_ambiguous_themselves_connect_nothing() -> None:
    told = [("A", "x"), ("B", "x"), ("A", "y"), ("B", "y")]
    assert ambiguous(told) == {"x", "y"}


@given(PAIRS, st.data())
def test_order_and_repetition_do_not_matter(pairs: list[tuple[str, str]], data: st.DataObject) -> None:
    assert ambiguous(data.draw(st.permutations(pairs + pairs[:2]))) == ambiguous(pairs)


@given(PAIRS)
def test_what_is_ambiguous_is_told_of_two_names(pairs: list[tuple[str, str]]) -> None:
    assert all(len({name for name, alias in pairs if alias == each}) > 1 for each in ambiguous(pairs))

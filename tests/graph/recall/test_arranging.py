"""The order in which hits are shown: what has ended behind what ended it, nothing twice, no conversation too often."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from graph.recall.arranging import at_most, one_each, superseded_last
from graph.recall.views import Kind
from graph.recall.weighing import Weighed
from tests.graph.recall.made import AGES, Made, key

NOW = 50


def one_valued(predicate: str, turned: bool) -> bool:
    """`lives_in` has one value; so has `reports_to`, and not what it is from the other side."""
    return predicate == "lives_in" or (predicate == "reports_to" and not turned)


def hit(made: Made, doc: int, kind: Kind = Kind.EPISODE) -> Weighed:
    unit = int(made.indexed.episodes["episode"][doc]) if kind is Kind.EPISODE else doc
    return Weighed(kind, unit, doc, 1.0, str(doc), ())


def arranged(made: Made, names: Sequence[str], *, until: int | None = None, tx: int = 1) -> list[str]:
    """Episodes, hit in that order, as they are shown."""
    keys = made.indexed.episode_keys.names
    docs = {keys[number]: doc for doc, number in enumerate(made.indexed.episodes["episode"].tolist())}
    hits = [hit(made, docs[key(name)]) for name in names]
    point = made.point(NOW, until=until, tx=tx)
    found = superseded_last(hits, made.admission(NOW, until=until, tx=tx), point, one_valued)
    shown = {key(name): name for name in names}
    assert sorted(map(id, found)) == sorted(map(id, hits))
    return [shown[keys[each.unit]] for each in found]


@pytest.fixture
def moved() -> Made:
    """Ann lived in Lisbon, then in Porto, then in Faro; other episodes say nothing of it."""
    made = Made()
    for number, (name, town, start, end) in enumerate((("old", "Lisbon", 0, 10), ("mid", "Porto", 10, 20), ("new", "Faro", 20, AGES))):
        made.rectangle(f"Ann lives_in {town}", start, end)
        made.episode(name, said=start)
        made.claim(f"Ann lives_in {town}", name, said=start, id=key(f"c{number}"))
    for name in ("x", "y"):
        made.episode(name)
    return made


@pytest.mark.parametrize(
    ("hits", "shown"),
    [
        ("old new", "new old"),
        ("old x new y", "x new old y"),
        ("new old", "new old"),
        ("new x old", "new x old"),
        ("old mid x new", "x new old mid"),
        ("old mid", "old mid"),
        ("x y", "x y"),
        ("old", "old"),
    ],
)
def test_what_has_ended_stands_behind_what_holds_in_its_place(moved: Made, hits: str, shown: str) -> None:
    assert arranged(moved, hits.split()) == shown.split()


def test_what_still_holds_stays_where_it_is() -> None:
    made = Made()
    made.rectangle("Ann lives_in Lisbon", 0, AGES)
    for number, name in enumerate(("first", "again")):
        made.episode(name, said=number)
        made.claim("Ann lives_in Lisbon", name, said=number)
    assert arranged(made, ["first", "again"]) == ["first", "again"]


def test_an_episode_of_which_something_on_the_slot_still_holds_stays(moved: Made) -> None:
    moved.claim("Ann lives_in Faro", "old", said=0)
    assert arranged(moved, ["old", "new"]) == ["old", "new"]


def test_what_was_said_earlier_ends_nothing(moved: Made) -> None:
    moved.episode("past", said=-5)
    moved.claim("Ann lives_in Faro", "past", said=-5)
    assert arranged(moved, ["old", "past"]) == ["old", "past"]


def test_another_slot_ends_nothing(moved: Made) -> None:
    moved.rectangle("Bob lives_in Faro", 0, AGES)
    moved.episode("bob", said=30)
    moved.claim("Bob lives_in Faro", "bob", said=30)
    assert arranged(moved, ["old", "bob"]) == ["old", "bob"]


def test_of_many_values_only_the_same_statement_and_a_correction_count() -> None:
    made = Made()
    made.rectangle("Ann likes herring", 0, 10)
    made.rectangle("Ann likes herring", 10, AGES, polarity=False)
    made.rectangle("Ann likes bread", 20, AGES)
    made.rectangle("Ann likes salt", 20, AGES)
    for number, name in enumerate(("told", "denied", "bread", "salt")):
        made.episode(name, said=number)
    made.claim("Ann likes herring", "told", said=0)
    made.claim("Ann likes herring", "denied", said=1, polarity=False)
    made.claim("Ann likes bread", "bread", said=2)
    made.claim("Ann likes salt", "salt", said=3, replaced="Ann likes herring")
    assert arranged(made, ["told", "bread"]) == ["told", "bread"]
    assert arranged(made, ["told", "denied"]) == ["denied", "told"]
    assert arranged(made, ["told", "salt"]) == ["salt", "told"]


def test_the_other_side_of_a_pair_is_read_by_its_own_trait() -> None:
    made = Made()
    made.rectangle("Ann reports_to Bob", 0, 10)
    made.rectangle("Cy reports_to Bob", 0, AGES)
    made.episode("ann", said=0)
    made.episode("cy", said=5)
    slot = key("slot Bob manager_of")
    made.claim("Ann reports_to Bob", "ann", said=0, inverse_slot=slot)
    made.claim("Cy reports_to Bob", "cy", said=5, inverse_slot=slot)
    assert arranged(made, ["ann", "cy"]) == ["ann", "cy"]


def test_of_two_that_each_ended_something_of_the_other_the_first_goes_behind() -> None:
    made = Made()
    for name, said in (("one", 5), ("two", 5)):
        made.episode(name, said=said)
    made.rectangle("Ann lives_in Lisbon", 0, 10)
    made.rectangle("Ann lives_in Porto", 10, AGES)
    made.rectangle("Bob lives_in Lisbon", 0, 10)
    made.rectangle("Bob lives_in Porto", 10, AGES)
    made.claim("Ann lives_in Lisbon", "one", said=1)
    made.claim("Ann lives_in Porto", "two", said=2)
    made.claim("Bob lives_in Lisbon", "two", said=1)
    made.claim("Bob lives_in Porto", "one", said=2)
    for hits in (["one", "two"], ["two", "one"]):
        # Only what stands before what ended it is moved: of the two the first one, once.
        assert sorted(arranged(made, hits)) == ["one", "two"]
    assert arranged(made, ["one", "two"]) == ["two", "one"]
    assert arranged(made, ["two", "one"]) == ["one", "two"]


def test_what_is_said_after_the_limit_or_not_yet_recorded_ends_nothing(moved: Made) -> None:
    made = Made()
    made.rectangle("Ann lives_in Lisbon", 0, 10)
    made.rectangle("Ann lives_in Porto", 10, AGES)
    made.episode("old", said=0)
    made.episode("new", said=10)
    made.claim("Ann lives_in Lisbon", "old", said=0)
    made.claim("Ann lives_in Porto", "new", said=10, tx_from=2)
    assert arranged(made, ["old", "new"], tx=2) == ["new", "old"]
    assert arranged(made, ["old", "new"], tx=1) == ["old", "new"]
    assert arranged(made, ["old", "new"], tx=2, until=9) == ["old", "new"]


def test_of_episodes_that_say_the_same_only_the_first_is_shown() -> None:
    made = Made()
    texts = ("I moved to Lisbon.", "i MOVED to lisbon", "I moved to Lisbon, moved.", "moved I to Lisbon")
    docs = [made.episode(f"e{number}", text, group=f"g{number}") for number, text in enumerate(texts)]
    made.episode("e9", texts[0], group="g9", speaker="Ann")
    hits = [hit(made, doc) for doc in (*docs, 4)]
    assert [each.doc for each in one_each(hits, made.admission(0))] == [0, 2, 3, 4]


def test_statements_of_the_same_words_are_all_shown() -> None:
    made = Made()
    made.rectangle("Ann likes herring", 0, AGES)
    docs = [made.claim("Ann likes herring", f"e{number}") for number in range(2)]
    hits = [hit(made, doc, Kind.STATEMENT) for doc in docs]
    assert one_each(hits, made.admission(0)) == hits


def test_no_conversation_comes_more_often_than_asked() -> None:
    made = Made()
    groups = ["a", "a", None, "b", "a", None, "chat", "chat"]
    docs = [made.episode(f"e{number}", said=number, group=group) for number, group in enumerate(groups)]
    hits = [hit(made, doc) for doc in docs]
    admission = made.admission(0)
    assert [each.doc for each in at_most(hits, admission, 1)] == [0, 2, 3, 6]
    assert [each.doc for each in at_most(hits, admission, 2)] == [0, 1, 2, 3, 5, 6, 7]


def test_statements_and_episodes_of_one_conversation_are_counted_together() -> None:
    made = Made()
    episode = made.episode("e", group="a")
    claim = made.claim("Ann likes herring", "e", group="a")
    hits = [hit(made, claim, Kind.STATEMENT), hit(made, episode)]
    assert at_most(hits, made.admission(0), 1) == hits[:1]

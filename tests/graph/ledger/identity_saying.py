"""Cases of who is who in words, read from the oracle or from a ledger: the same case holds both to the same answers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import count
from typing import Any

from graph.service import LedgerGraph
from graph.views import EntityRef, ObjectRef
from ontology.claim import ClaimDraft
from ontology.episode import EpisodeDraft
from ontology.instant import UNBOUNDED_FUTURE, Instant
from ontology.vocabulary import Vocabulary
from tests.graph.ledger.conftest import EPOCH
from tests.graph.ledger.identity_operations import SAME, Divided, Merged, Name, Operation, Rejected, raw
from tests.graph.ledger.identity_picture import Picture, Thing
from tests.graph.ledger.identity_worlds import Story, fresh
from tests.graph.ledger.saying import claim, when
from tests.graph.ledger.strategies import Told, Withdrawn
from tests.graph.ledger.worlds import ALWAYS, pages, shown

_labels = count()


class Case:
    """Operations one by one. Without a graph the oracle alone answers; with one the ledger does.

    `names` are those between which keys decide: they have their keys in this order.
    """

    def __init__(self, vocabulary: Vocabulary, graph: LedgerGraph | None, names: Sequence[str] = ("Bob", "Bobby", "Robert")) -> None:
        self._vocabulary = vocabulary
        self._order = {raw(name): place for place, name in enumerate(names)}
        self._story = Story(graph, namespace=fresh(graph, names)) if graph is not None else None
        self._done: list[Operation] = []

    # -- what is done; each answers with the label by which it can be rejected

    def told(self, said: str, *words: str | ClaimDraft, group: str | None = None, source: str = "chat", label: str = "") -> str:
        """An episode in which extraction finds claims."""
        return self._episode(said, words, group, source, label, stated=False)

    def stated(
        self, said: str, *words: str | ClaimDraft, group: str | None = None, source: str = "app", label: str = "", rank: int = 0
    ) -> str:
        """Claims that a client states."""
        return self._episode(said, words, group, source, label, stated=True, rank=rank)

    def _episode(self, said: str, words: Sequence[Any], group: str | None, source: str, label: str, *, stated: bool, rank: int = 0) -> str:
        label = label or f"case-{next(_labels)}"
        draft = EpisodeDraft(f"abcdefgh {label}", source, external_id=label, group=group, said_at=said, rank=rank)
        return self.do(Told(draft, tuple(claim(one) if isinstance(one, str) else one for one in words), stated=stated), label)

    def merge(self, one: Name | str, other: Name | str) -> str:
        """`mergeEntities`, said now: after all that episodes say before 2026."""
        label = f"case-{next(_labels)}"
        return self.do(Merged(label, (_name(one), _name(other)), EPOCH + len(self._done)), label)

    def split(self, name: str, discriminator: str = "2", *, groups: Sequence[str] = (), sources: Sequence[str] = ()) -> str:
        """`splitEntity`."""
        label = f"case-{next(_labels)}"
        return self.do(Divided(label, name, discriminator, EPOCH + len(self._done), tuple(groups), tuple(sources)), label)

    def reject(self, label: str, place: int = 0) -> None:
        self.do(Rejected(label, place))

    def restore(self, label: str, place: int = 0) -> None:
        self.do(Rejected(label, place, restore=True))

    def retract(self, label: str) -> None:
        """Withdraw an episode of the source `chat`."""
        self.do(Withdrawn(label))

    def do(self, one: Operation, label: str = "") -> str:
        self._done.append(one)
        if self._story is not None:
            assert self._story.do(one), one
        return label

    @property
    def moment(self) -> int:
        """How many operations there were so far; pass it as `back` to read what was believed then."""
        return len(self._done)

    # -- what is read

    def now(self, at: str = "2024-06-01", **basis: Any) -> list[str]:
        """What holds at a time, in words; identity aside."""
        return sorted(words for words, (start, end) in self._spans(**basis) if start <= when(at) < end)

    def spans(self, **basis: Any) -> dict[str, list[tuple[Instant, Instant]]]:
        """Where everything holds."""
        found: dict[str, list[tuple[Instant, Instant]]] = {}
        for words, span in sorted(self._spans(**basis)):
            found.setdefault(words, []).append(span)
        return found

    def ask(self, text: str, at: str = "2024-06-01", **basis: Any) -> str:
        """YES, NO or UNKNOWN."""
        subject, predicate, *rest = text.split()
        if self._story is None:
            return self._picture(**basis).ask(raw(subject), predicate, raw(" ".join(rest)), when(at))
        snapshot = self._snapshot(valid_at=when(at), **basis)
        return str(snapshot.ask(EntityRef(name=subject), predicate, ObjectRef(name=" ".join(rest))).value)

    def entity(self, name: Name | str, **basis: Any) -> tuple[str | None, set[str]] | None:
        """(name, aliases) of the entity that a name finds."""
        if self._story is not None:
            ref = EntityRef(name=name) if isinstance(name, str) else EntityRef(key=self._story.key(name))
            view = self._snapshot(**basis).entity(ref)
            return None if view is None else (view.name, set(view.aliases))
        identity = self._picture(**basis).identity
        found = identity.found(_name(name))
        return (identity.name(found), identity.aliases(found)) if found in identity.entities else None

    def same(self, one: Name | str, other: Name | str, **basis: Any) -> bool:
        """Whether two names find one entity."""
        if self._story is not None:
            snapshot = self._snapshot(**basis)
            one_key, other_key = (
                snapshot.key_of(EntityRef(name=name) if isinstance(name, str) else EntityRef(key=self._story.key(name)))
                for name in (one, other)
            )
            return bool(one_key == other_key)
        identity = self._picture(**basis).identity
        return identity.found(_name(one)) == identity.found(_name(other))

    def timeline(self, name: str, predicate: str, **basis: Any) -> list[tuple[Instant, Instant, set[str]]]:
        """Segments of a slot, denials marked with `not`."""
        if self._story is not None:
            parts = self._snapshot(**basis).timeline(EntityRef(name=name), predicate).segments
            return [(part.v_from, part.v_to, {_value(shown(one.object), one.polarity) for one in part.statements}) for part in parts]
        picture = self._picture(**basis)
        return [
            (start, end, {_value(self._shown(picture, thing), polarity) for thing, polarity in values})
            for start, end, values in picture.timeline(raw(name), predicate)
        ]

    def _spans(self, **basis: Any) -> set[tuple[str, tuple[Instant, Instant]]]:
        found = set()
        if self._story is None:
            picture = self._picture(**basis)
            for one, predicate, _, other, polarity, *span in picture.statements():
                words = self._words(self._shown(picture, one), predicate, self._shown(picture, other), polarity)
                found.add((words, (span[0], span[1])))
            return found
        snapshot = self._snapshot(**basis)
        if basis.get("until") is None:
            views = pages(lambda after: snapshot.statements(ALWAYS, first=100, after=after))
        else:
            names = {draft.subject for one in self._done if isinstance(one, Told) for draft in one.claims}
            keys = sorted({snapshot.key_of(EntityRef(name=name)) for name in names})
            views = [v for key in keys for v in pages(lambda after, key=key: snapshot.statements_about(key, "ANY", ALWAYS, after=after))]
        for view in views:
            if view.predicate != SAME:
                words = self._words(view.subject.name, view.predicate, shown(view.object), view.polarity)
                found.add((words, (view.v_from, view.v_to)))
        return found

    def _words(self, one: str, predicate: str, other: str, polarity: bool) -> str:
        if self._vocabulary.predicate(predicate).symmetric:
            one, other = sorted([one, other])
        return f"{'' if polarity else 'not '}{one} {predicate} {other}"

    def _picture(self, *, back: int | None = None, until: Instant | None = None) -> Picture:
        return Picture(self._done[:back], self._vocabulary, self._place, UNBOUNDED_FUTURE if until is None else until)

    def _place(self, name: Name) -> str:
        return f"{self._order.get(name, 99)}-{name}"

    @staticmethod
    def _shown(picture: Picture, thing: Thing) -> str:
        return thing[0] if isinstance(thing, tuple) else picture.identity.name(thing) or ""

    def _snapshot(self, *, back: int | None = None, until: Instant | None = None, valid_at: Instant = 0) -> Any:
        assert self._story is not None
        number = None if back is None else self._story.done[back - 1].transaction
        return self._story.snapshot(valid_at=valid_at, evidence_until=until, transaction=number)


def _value(text: str, polarity: bool) -> str:
    return text if polarity else f"not {text}"


def _name(name: Name | str) -> Name:
    return raw(name) if isinstance(name, str) else name

"""Worlds with who-is-who in them: operations done to a real ledger through its facade, and the oracle beside it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any, cast

from graph.facade import Graph
from graph.service import LedgerGraph
from graph.views import EntityRef, EntityView, LiteralView, ObjectRef, StatedClaim, StatementFilter, StatementView
from ontology.claim import ClaimDraft, ObjectDraft
from ontology.instant import UNBOUNDED_FUTURE, Instant
from ontology.names import normalise
from tests.graph.ledger.identity_operations import SAME, Divided, Merged, Name, Operation, Rejected, Said, raw
from tests.graph.ledger.identity_oracle import Entity
from tests.graph.ledger.identity_picture import Picture, Row, Thing
from tests.graph.ledger.strategies import Told, Withdrawn
from tests.graph.ledger.worlds import ALWAYS, pages

NAMES = ("Ann", "Bob", "Cy", "Di")
"""All names of people in these worlds, each with one spelling."""
Pair = tuple[str, str]
"""Names of a subject and an object to ask about."""
_fresh = count()


def fresh(graph: LedgerGraph, order: Sequence[str]) -> str:
    """A namespace not used before in which the keys of names stand in an order, so that runs do not depend on the ledger's secret."""
    while True:
        namespace = f"story-{next(_fresh)}"
        keys = [graph.keys.entity(namespace, name) for name in order]
        if keys == sorted(keys):
            return namespace


@dataclass(frozen=True)
class Done:
    """An operation and the transaction that it made (0: none)."""

    operation: Operation
    transaction: int


class Story:
    """A namespace of its own, told one operation at a time, and what the oracle makes of the same."""

    def __init__(
        self, graph: LedgerGraph, operations: Iterable[Operation] = (), *, namespace: str | None = None, order: Sequence[str] = NAMES
    ) -> None:
        self.graph, self.namespace = graph, namespace or fresh(graph, order)
        self._facade = cast(Graph, graph)
        self.done: list[Done] = []
        self._claims: dict[str, tuple[str, ...]] = {}
        self._rejected: set[str] = set()
        for one in operations:
            self.do(one)

    # -- writing

    def do(self, one: Operation) -> int:
        """Do an operation that the ledger can do now; answers with its transaction (0: it could not)."""
        number = self._do(one)
        if number:
            self.done.append(Done(self._as_done(one), number))
        return number

    def _as_done(self, one: Operation) -> Operation:
        """A merge and a split are said when they are made."""
        if isinstance(one, Merged | Divided):
            listed = pages(lambda after: self._facade.snapshot(self.namespace).claims(StatementFilter(), first=100, after=after))
            return replace(one, said=next(view.said_at for view in listed if view.id in self._claims[one.label]))
        return one

    def _do(self, one: Operation) -> int:
        if isinstance(one, Told):
            return self.told_together([one])[0] if not one.stated else self._state(one)
        if isinstance(one, Withdrawn):
            return self.graph.retract(self.namespace, source="chat", external_id=one.external_id, reason=None).transaction
        if isinstance(one, Rejected):
            claims = self.claims_at(one.episode, one.place)
            if not claims or (one.restore and not self._rejected.issuperset(claims)):
                return 0
            change = self._facade.restore if one.restore else self._facade.reject
            changed = change(self.namespace, claims, reason="test")
            (self._rejected.difference_update if one.restore else self._rejected.update)(claims)
            return 0 if changed.deduplicated else changed.transaction
        # What a key denotes that nobody has, or that finds another's entity, is for hand-written cases.
        identity = self.picture().identity
        names = one.names if isinstance(one, Merged) else (one.name,)
        found = {identity.found(name) for name in names if name in identity.found(name)} & identity.entities
        if len(found) < len(names):
            return 0
        if isinstance(one, Merged):
            receipt = self._facade.merge(self.namespace, [self.key(name) for name in one.names])
        elif one.name[1]:
            # What a split has made is no name by which a text could call it.
            return 0
        else:
            receipt = self._facade.split(
                self.namespace,
                self.key(one.name),
                groups=one.groups,
                sources=one.sources,
                discriminator=one.discriminator,
                name=one.name[0],
            )
        if receipt.deduplicated:
            return 0
        self._claims[one.label] = receipt.claims
        return receipt.transaction

    def _state(self, one: Told) -> int:
        claims = [StatedClaim(claim, quote=one.draft.content[place]) for place, claim in enumerate(one.claims)]
        return self.graph.record_stated(self.namespace, one.draft, claims).transaction

    def told_together(self, told: Sequence[Told]) -> list[int]:
        """Extracted episodes in one transaction."""
        found = [(one.draft, [replace(claim, start=place, end=place + 1) for place, claim in enumerate(one.claims)], ()) for one in told]
        return [receipt.transaction for receipt in self.graph.record_extracted(self.namespace, found, extractor="test")]

    def in_batches(self, operations: Sequence[Operation], sizes: Iterable[int]) -> None:
        """In order, extracted episodes that follow each other together, at most `size` of them."""
        waiting: list[Told] = []
        left = iter(sizes)
        size = next(left, 1)

        def flush() -> None:
            if waiting:
                self.done += [Done(one, number) for one, number in zip(waiting, self.told_together(waiting), strict=True)]
                waiting.clear()

        for one in operations:
            if isinstance(one, Told) and not one.stated:
                waiting.append(one)
                if len(waiting) >= size:
                    flush()
                    size = next(left, 1)
                continue
            flush()
            self.do(one)
        flush()

    def claims_at(self, episode: str, place: int) -> tuple[str, ...]:
        """The IDs of the claims at a place of an episode that are in the set or rejected."""
        if episode in self._claims:
            return self._claims[episode][place : place + 1]
        snapshot = self.snapshot()
        found = pages(lambda after: snapshot.claims(StatementFilter(), first=100, after=after))
        mine = [view for view in found if view.evidence.episode.external_id == episode and view.evidence.start == place]
        return tuple(view.id for view in mine)

    # -- reading

    def key(self, name: Name) -> str:
        """The key of a name."""
        return self.graph.keys.entity(self.namespace, name[0], name[1])

    def snapshot(self, **basis: Any) -> Any:
        """A snapshot whose present never moves."""
        return self.graph.snapshot(self.namespace, **{"valid_at": 0, **basis})

    def picture(self, *, transaction: int | None = None, until: Instant = UNBOUNDED_FUTURE) -> Picture:
        """What the oracle makes of what was done by a transaction."""
        done = [one.operation for one in self.done if transaction is None or one.transaction <= transaction]
        return Picture(done, self.graph.vocabulary(), self.key, until)

    def statements(self, picture: Picture, *, until: Instant | None = None, **basis: Any) -> set[Row]:
        """What the ledger says holds, in the oracle's words; identity aside."""
        snapshot = self.snapshot(evidence_until=until, **basis)
        things = self.things(picture)
        views = pages(lambda after: snapshot.statements(ALWAYS, first=100, after=after))
        if until is not None:
            # Found by another way than those of all entities.
            keys = {snapshot.key_of(EntityRef(key=picture.identity.key(entity))) for entity in picture.identity.entities}
            each = (
                view
                for key in sorted(keys)
                for view in pages(lambda after, key=key: snapshot.statements_about(key, "ANY", ALWAYS, first=100, after=after))
            )
            assert {_shown_as(view) for view in each} == {_shown_as(view) for view in views}
        return {self.row(view, things) for view in views if view.predicate != SAME}

    def row(self, view: StatementView, things: dict[str, Entity]) -> Row:
        """A statement in the oracle's words: in stored direction, of a symmetric relation in the order of names."""
        one, other = thing(view.subject, things), thing(view.object, things)
        predicate = self.graph.vocabulary().canonical(view.predicate)
        if predicate.swapped or (
            predicate.predicate.symmetric and not isinstance(view.object, LiteralView) and _sorted(other) < _sorted(one)
        ):
            one, other = other, one
        return one, predicate.predicate.name, view.qualifier, other, view.polarity, view.v_from, view.v_to

    def things(self, picture: Picture) -> dict[str, Entity]:
        """The oracle's entities by the key that they must have."""
        return {picture.identity.key(entity): entity for entity in picture.identity.entities}

    def agrees(self, picture: Picture, *, at_instant: Instant, predicates: Sequence[str], asked: Sequence[Pair], **basis: Any) -> None:
        """The ledger says on a basis what the oracle says: statements, entities, look-ups, timelines, answers."""
        until = basis.get("until")
        assert self.statements(picture, **basis) == picture.statements()
        snapshot = self.snapshot(valid_at=at_instant, **{k: v for k, v in basis.items() if k != "until"}, evidence_until=until)
        things, identity = self.things(picture), picture.identity
        by_key = any(isinstance(one.operation, Merged | Divided) for one in self.done)
        listed = {view.key for view in pages(lambda after: snapshot.entities(first=100, after=after))}
        assert listed == things.keys()
        for entity in identity.entities:
            for name in entity:
                view = snapshot.entity(EntityRef(key=self.key(name)))
                if identity.found(name) == entity:
                    assert view is not None and view.key == identity.key(entity), (name, view)
                    assert {view.name, *view.aliases} == {identity.name(entity), *identity.aliases(entity)} - {None}, view
                    # Whether merges and splits attest the names that they join is nobody's concern here.
                    assert by_key or identity.name(entity) == view.name
        for text in NAMES:
            found = identity.found(raw(text))
            view = snapshot.entity(EntityRef(name=text))
            assert (view and view.key) == (identity.key(found) if found in identity.entities else None), text
            for predicate in predicates:
                line = snapshot.timeline(EntityRef(name=text), predicate)
                segments = [
                    (part.v_from, part.v_to, frozenset((thing(one.object, things), one.polarity) for one in part.statements))
                    for part in line.segments
                ]
                assert segments == picture.timeline(raw(text), predicate), (text, predicate)
        for predicate in predicates:
            for text, other in asked:
                answer = snapshot.ask(EntityRef(name=text), predicate, ObjectRef(name=other)).value
                assert answer == picture.ask(raw(text), predicate, raw(other), at_instant), (text, predicate, other)


def one_name(entity: Entity) -> str:
    """A single name for an entity."""
    return "+".join(sorted(f"{name}{discriminator}" for name, discriminator in entity))


def in_one_name(operations: Sequence[Operation], picture: Picture) -> list[Told]:
    """What the evidence of some operations says of facts, in one name for each entity of a picture."""
    found = []
    for told in operations:
        if isinstance(told, Told):
            mine = [said for said in picture.identity.claims if said.copy == told.draft.content and said.draft.predicate != SAME]
            if mine:
                found.append(replace(told, claims=tuple(_renamed(said, picture) for said in mine)))
    return found


def _renamed(said: Said, picture: Picture) -> ClaimDraft:
    def named(object: ObjectDraft) -> ObjectDraft:
        return object if object.datatype else ObjectDraft(one_name(picture.identity.denoted(raw(object.text), said)))

    draft = said.draft
    subject = one_name(picture.identity.denoted(said.ends[0], said))
    return replace(draft, subject=subject, object=named(draft.object), replaces=draft.replaces and named(draft.replaces))


def thing(view: EntityView | LiteralView, things: dict[str, Entity]) -> Thing:
    """A subject or object in the oracle's words; one that the oracle does not know shows by its key."""
    if isinstance(view, LiteralView):
        return normalise(view.value), view.datatype
    return things.get(view.key, frozenset({(view.name, f"unexpected {view.key}")}))


def _shown_as(view: StatementView) -> tuple[Any, ...]:
    return view.key, view.subject, view.predicate, view.object, view.v_from, view.v_to, view.support, view.conflict, view.confidence


def _sorted(thing: Thing) -> list[Any]:
    return sorted(thing)

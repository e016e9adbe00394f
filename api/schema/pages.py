"""Relay connections: one edge and one connection type for each kind of object, and how a page of the facade becomes one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import strawberry

from api.context import Scope
from api.cursors import Cursor, Stand, decode_cursor, encode_cursor
from api.identity import Pin
from api.scalars import DateTime
from api.schema.support import described
from graph.views import Page
from ontology.errors import InvalidInput

if TYPE_CHECKING:
    from api.schema.claim import Claim
    from api.schema.entity import Entity
    from api.schema.episode import Episode, Evidence
    from api.schema.statement import Statement

V = TypeVar("V")


@dataclass(frozen=True, slots=True)
class Place:
    """Where an edge stands in its connection; the cursor is only written where it is asked for."""

    kind: str
    position: tuple[Any, ...]
    stand: Stand

    def cursor(self) -> str:
        """The opaque cursor."""
        return encode_cursor(self.kind, self.position, self.stand)


@strawberry.type
class PageInfo:
    """Where a page stands; `first` and `last` are None where it is empty, but that `last` may be where to go on all the same."""

    first: strawberry.Private[Place | None]
    last: strawberry.Private[Place | None]
    has_next_page: bool
    has_previous_page: bool

    @described("Cursor of the first edge.")
    def start_cursor(self) -> str | None:
        """Written now."""
        return self.first.cursor() if self.first else None

    @described("Cursor of the last edge; the next page begins after it.")
    def end_cursor(self) -> str | None:
        """Written now."""
        return self.last.cursor() if self.last else None


@strawberry.type
class Edge:
    """What every edge has. It is no type of the schema itself."""

    place: strawberry.Private[Place]

    @described("Pass it as `after` to begin behind this edge.")
    def cursor(self) -> str:
        """Written now."""
        return self.place.cursor()


@strawberry.type
class StatementEdge(Edge):
    """A statement and its cursor."""

    node: Annotated[Statement, strawberry.lazy("api.schema.statement")]


@strawberry.type
class StatementConnection:
    """A page of statements."""

    edges: list[StatementEdge]
    page_info: PageInfo


@strawberry.type
class EntityEdge(Edge):
    """An entity and its cursor."""

    node: Annotated[Entity, strawberry.lazy("api.schema.entity")]


@strawberry.type
class EntityConnection:
    """A page of entities."""

    edges: list[EntityEdge]
    page_info: PageInfo


@strawberry.type(description="A claim and its cursor.")
class ClaimEdge(Edge):
    """A claim and its cursor."""

    node: Annotated[Claim, strawberry.lazy("api.schema.claim")] = strawberry.field(description="The claim.")


@strawberry.type(description="A page of claims.")
class ClaimConnection:
    """A page of claims."""

    edges: list[ClaimEdge] = strawberry.field(description="The claims in order.")
    page_info: PageInfo = strawberry.field(description="Where the page stands.")


@strawberry.type
class EpisodeEdge(Edge):
    """An episode and its cursor."""

    node: Annotated[Episode, strawberry.lazy("api.schema.episode")]


@strawberry.type
class EpisodeConnection:
    """A page of episodes."""

    edges: list[EpisodeEdge]
    page_info: PageInfo


@strawberry.type
class ProvenanceEdge(Edge):
    """An episode, the words in it, and the cursor."""

    node: Annotated[Episode, strawberry.lazy("api.schema.episode")]
    evidence: Annotated[Evidence, strawberry.lazy("api.schema.episode")]


@strawberry.type(description="An episode that asserts the statement, and the words.")
class ProvenanceConnection:
    """A page of a statement's provenance."""

    edges: list[ProvenanceEdge]
    page_info: PageInfo


@strawberry.type(description="A commit.")
class Transaction:
    """As `graph.views.TransactionView`."""

    number: int
    at: DateTime
    kind: str = strawberry.field(description="Such as `ingest`, `assert`, `retract`, `erase`, `reject`, `merge`.")
    actor: str = strawberry.field(description="Name of the API key, or `local`.")
    reason: str | None


@strawberry.type
class TransactionEdge(Edge):
    """A transaction and its cursor."""

    node: Transaction


@strawberry.type
class TransactionConnection:
    """A page of transactions."""

    edges: list[TransactionEdge]
    page_info: PageInfo


def resume(scope: Scope, kind: str, after: str | None) -> tuple[Scope, Cursor | None]:
    """The scope that a page stands on, and where it starts: a cursor brings the basis of its first page along.

    Raises InvalidInput where the cursor is of another kind, or of another basis than the `asOf` around it states.
    """
    if after is None:
        return scope, None
    cursor = decode_cursor(after, kind)
    return scope if cursor.pin is None else stood_on(scope, cursor.pin, "this asOf"), cursor


def stood_on(scope: Scope, pin: Pin, where: str) -> Scope:
    """The scope on the basis that a cursor brings along.

    Raises InvalidInput where that is another one than `where` states: what it does not state is the cursor's.
    """
    here = scope.pin
    if pin == here:
        return scope
    stated = {"validAt": pin.valid_at == here.valid_at, "recordedAt": pin.transaction == here.transaction}
    stated["evidenceUntil"] = pin.evidence_until == here.evidence_until
    differing = [name for name, same in stated.items() if not same and (name in scope.given or name == "evidenceUntil")]
    if differing:
        raise InvalidInput(
            f"the cursor stands on another basis than {where}, by its {' and '.join(differing)}", path=("after",), reason="INVALID_CURSOR"
        )
    return Scope(scope.context, scope.context.pinned(pin), scope.given)


def frame(page: Page[V], kind: str, stand: Stand, after: str | None) -> tuple[Iterator[tuple[Place, V]], PageInfo]:
    """The items of a page with their places, and its PageInfo."""
    places = [Place(kind, position, stand) for position in page.positions]
    end = Place(kind, page.end, stand) if page.end is not None else places[-1] if places else None
    info = PageInfo(
        first=places[0] if places else None,
        last=end,
        has_next_page=page.has_next,
        has_previous_page=after is not None,
    )
    return zip(places, page.items, strict=True), info

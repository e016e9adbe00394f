"""Entity: a thing that statements are about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import strawberry
from strawberry.types import Info

from api.context import Context, Scope
from api.cursors import checked_first
from api.identity import Kind, ObjectId, encode_id
from api.schema.basics import Node
from api.schema.enums import StatementRole
from api.schema.inputs import StatementFilter, filter_of, given
from api.schema.pages import EntityConnection, EntityEdge, StatementConnection, frame, resume
from api.schema.support import ID_DESCRIPTION, described
from api.selection import IN_PAGE, wanted
from graph import views
from graph.views import Page
from ontology.errors import InvalidInput

if TYPE_CHECKING:
    from api.schema.slot import SlotTimeline
    from api.schema.split import SuspectedSplit

MAX_DEPTH = 3


@strawberry.type(description="A thing that statements are about.")
class Entity(Node):
    """As `graph.views.EntityView`, on one snapshot."""

    scope: strawberry.Private[Scope]
    key: strawberry.ID = strawberry.field(
        description="Identity across time: equal on every basis on which the same names are joined; any member's key finds it."
    )
    name: str = strawberry.field(description="Canonical name.")
    aliases: list[str] = strawberry.field(description="Other names seen.")
    discriminator: str | None = strawberry.field(description="Tells it from another of its name, where a split has made it.")
    type: str | None = strawberry.field(description="Ontology type.")

    @described(ID_DESCRIPTION)
    def id(self) -> strawberry.ID:
        """The opaque ID."""
        return strawberry.ID(encode_id(ObjectId(Kind.ENTITY, self.key, pin=self.scope.id_pin)))

    @described("Statements about it in this view.")
    def statements(
        self,
        info: Info[Context, None],
        role: StatementRole | None = StatementRole.ANY,
        filter: StatementFilter | None = strawberry.UNSET,
        first: int | None = 20,
        after: str | None = strawberry.UNSET,
    ) -> StatementConnection:
        """A page of the statements in which it has the role."""
        from api.schema.statement import statement_page

        after = given(after)
        scope, cursor = resume(self.scope, "about", after)
        want = wanted(info, *IN_PAGE)
        page = scope.snapshot.statements_about(
            self.key,
            (role or StatementRole.ANY).value,
            filter_of(filter),
            first=checked_first(first, 20),
            after=cursor.position if cursor else None,
            want=want,
        )
        return statement_page(scope, page, "about", after, want)

    @described("One slot's history, as in `Snapshot.timeline`.")
    def timeline(
        self, info: Info[Context, None], predicate: str, qualifier: str | None = ""
    ) -> Annotated[SlotTimeline, strawberry.lazy("api.schema.slot")]:
        """All of the slot."""
        from api.schema.slot import slot_timeline

        return slot_timeline(self.scope, info, views.EntityRef(key=self.key), predicate, qualifier)

    @described("Entities up to `depth` hops (1 to 3) away in this view.")
    def neighbors(self, depth: int | None = 1, first: int | None = 20, after: str | None = strawberry.UNSET) -> EntityConnection:
        """A page of the entities around it."""
        hops = 1 if depth is None else depth
        if not 1 <= hops <= MAX_DEPTH:
            raise InvalidInput(f"depth is 1 to {MAX_DEPTH}, not {hops}", path=("depth",), reason="OUT_OF_RANGE")
        after = given(after)
        scope, cursor = resume(self.scope, "neighbors", after)
        page = scope.snapshot.neighbors(self.key, depth=hops, first=checked_first(first, 20), after=cursor.position if cursor else None)
        return entity_page(scope, page, "neighbors", after)

    @described("Signs that it is two of one name, each with what to paste to part them.")
    def suspected_splits(self) -> list[Annotated[SuspectedSplit, strawberry.lazy("api.schema.split")]]:
        """The signs in this view."""
        from api.schema.split import suspected_split

        self.scope.context.spend("suspectedSplits")
        return [suspected_split(self.scope, view) for view in self.scope.snapshot.suspected_splits(self.key)]


def entity(scope: Scope, view: views.EntityView) -> Entity:
    """An entity on a snapshot."""
    return Entity(
        scope=scope,
        key=strawberry.ID(view.key),
        name=view.name,
        aliases=list(view.aliases),
        discriminator=view.discriminator,
        type=view.type,
    )


def entity_page(scope: Scope, page: Page[views.EntityView], kind: str, after: str | None) -> EntityConnection:
    """A page of entities."""
    items, info = frame(page, kind, scope.pin, after)
    return EntityConnection(edges=[EntityEdge(place=place, node=entity(scope, view)) for place, view in items], page_info=info)

"""Changes: what commits opened, closed and joined, in their order."""

from __future__ import annotations

from enum import Enum
from typing import Any

import strawberry

from api.context import Context, Later, Scope
from api.cursors import decode_cursor, encode_cursor
from api.identity import Pin
from api.scalars import DateTime
from api.schema.pages import Edge, PageInfo, Place, frame
from api.schema.statement import Statement, statement
from graph.drift import ChangeView
from graph.views import Basis, Page, Positions, Want

KIND = "changes"
MAX_CHANGES = 1000
IN_EDGE = ("node", "statement")
_SHOWN_ON = frozenset({"validAt", "recordedAt"})


@strawberry.enum
class ChangeKind(Enum):
    """As `graph.drift.ChangeKind`."""

    OPENED = strawberry.enum_value("OPENED", description="A new rectangle is believed.")
    CLOSED = strawberry.enum_value("CLOSED", description="A rectangle is no longer believed.")
    IDENTITY = strawberry.enum_value("IDENTITY", description="Entities were joined or split; `key` is the entity's.")
    ERASED = strawberry.enum_value("ERASED", description="Gone for good; passes every filter.")


@strawberry.type(description="One change, in commit order; `statement` is null once erased.")
class Change:
    """As `graph.drift.ChangeView`."""

    kind: ChangeKind
    key: strawberry.ID
    statement: Statement | None
    transaction: int
    at: DateTime
    members: list[strawberry.ID] = strawberry.field(
        description=(
            "Of IDENTITY: all keys that denote the entity now or did before. What is held of any of them is to be dropped, and what "
            "`asOf(recordedAt: at) { statements }` lists with `key` as subject or object to be read. Empty for the other kinds."
        )
    )


@strawberry.type
class ChangeEdge(Edge):
    """A change and its cursor."""

    node: Change


@strawberry.type
class ChangeConnection:
    """A page of changes."""

    edges: list[ChangeEdge]
    page_info: PageInfo


def _scope(context: Context, view: ChangeView) -> Scope:
    """The basis that the statement of a change stands on: its transaction, at an instant of its own."""
    pin = Pin(view.valid_at, view.transaction, None)
    basis = Basis(context.namespace, view.valid_at, view.at, view.transaction)
    return Scope(context, Later(basis, lambda: context.pinned(pin)).snapshot, _SHOWN_ON)


def _change(context: Context, view: ChangeView, have: frozenset[Want]) -> Change:
    shown = view.statement
    closed = view.kind.name == ChangeKind.CLOSED.name
    return Change(
        kind=ChangeKind[view.kind.name],
        key=strawberry.ID(view.key),
        statement=None if shown is None else statement(_scope(context, view), shown, have, closed=closed),
        transaction=view.transaction,
        at=DateTime(view.at),
        members=[strawberry.ID(key) for key in view.members],
    )


def change_edge(context: Context, view: ChangeView, position: Positions, have: frozenset[Want]) -> ChangeEdge:
    """A change as it is followed; its statement was fetched with the parts `have`."""
    return ChangeEdge(place=Place(KIND, tuple(position), None), node=_change(context, view, have))


def change_page(context: Context, page: Page[ChangeView], after: str | None, have: frozenset[Want]) -> ChangeConnection:
    """A page of changes."""
    items, info = frame(page, KIND, None, after)
    return ChangeConnection(edges=[ChangeEdge(place=place, node=_change(context, view, have)) for place, view in items], page_info=info)


def position_in(after: str | None) -> tuple[Any, ...] | None:
    """The position of a cursor. Raises InvalidInput for one of another kind."""
    return None if after is None else decode_cursor(after, KIND, pinned=False).position


def cursor_at(position: Positions | None) -> str | None:
    """The cursor of a position."""
    return None if position is None else encode_cursor(KIND, position, None)

"""What to distrust in a snapshot: contested, stale and late statements, slots that flip-flop, predicates that change much."""

from __future__ import annotations

from typing import Annotated, Any

import strawberry
from strawberry.types import Info

from api.context import Context, Scope
from api.cursors import checked_first
from api.schema.basics import Predicate, predicate
from api.schema.entity import Entity, entity
from api.schema.inputs import StatementFilter, filter_of, given
from api.schema.pages import Edge, PageInfo, StatementConnection, frame, resume
from api.schema.statement import statement_page
from api.schema.support import described
from api.selection import IN_PAGE, wanted
from graph import drift
from graph.views import Page, Want


@strawberry.type(description="A slot and how often it returned to an earlier value.")
class Slot:
    """As `graph.drift.SlotView`."""

    subject: Entity
    predicate: Predicate
    qualifier: str
    changes: int
    returns: int


@strawberry.type
class SlotEdge(Edge):
    """A slot and its cursor."""

    node: Slot


@strawberry.type
class SlotConnection:
    """A page of slots."""

    edges: list[SlotEdge]
    page_info: PageInfo


@strawberry.type(description="How often a predicate changes.")
class PredicateVolatility:
    """As `graph.drift.VolatilityView`."""

    predicate: Predicate
    slots: int
    changes: int
    per_slot_year: float = strawberry.field(description="Changes per slot and year, smoothed.")
    median_seconds: float | None = strawberry.field(description="Median length of an interval in seconds.")


@strawberry.type
class Measures:
    """The measures of a snapshot, as `graph.drift.Measures`. It is no type of the schema itself."""

    scope: strawberry.Private[Scope]

    @described(
        "Slots with a tie or a resolved disagreement in this view.\n"
        "Of them the statements, affirmed and denied, that hold at `validAt` and whose `conflict` there is TIED or RESOLVED, in the order "
        "of `statements`. Here and below a filter chooses as for `statements`; `validDuring` and `includeInvalidated` are refused."
    )
    def contested(
        self,
        info: Info[Context, None],
        filter: StatementFilter | None = strawberry.UNSET,
        first: int | None = 20,
        after: str | None = strawberry.UNSET,
    ) -> StatementConnection:
        """A page of statements."""
        scope, position, want = _asked(self.scope, info, "contested", given(after))
        page = scope.snapshot.drift.contested(filter_of(filter), first=checked_first(first, 20), after=position, want=want)
        return statement_page(scope, page, "contested", given(after), want)

    @described(
        "Statements still open that nobody has attested for longer than their predicate's `staleAfter`; longest first.\n"
        "Those that hold at `validAt` without an end and for which validAt - lastAttestedAt > staleAfter. Where the predicate has none, "
        "that is 3 x the median length of its affirmed intervals with both bounds that have ended by `validAt`; where it has no such "
        "interval either, its statements never go stale."
    )
    def stale(
        self,
        info: Info[Context, None],
        filter: StatementFilter | None = strawberry.UNSET,
        first: int | None = 20,
        after: str | None = strawberry.UNSET,
    ) -> StatementConnection:
        """A page of statements."""
        scope, position, want = _asked(self.scope, info, "stale", given(after))
        page = scope.snapshot.drift.stale(filter_of(filter), first=checked_first(first, 20), after=position, want=want)
        return statement_page(scope, page, "stale", given(after), want)

    @described(
        "Slots that came back to an earlier value, most returns first.\n"
        "Of the affirmations of a slot, up to `validAt`: returns = the sum over its propositions of (intervals that begin) - 1; changes = "
        "the instants at which its set of values changes, after its first start (where it may have several values at a time: of each value "
        "after its own first start, added up). An unbounded start is no change. Listed are slots with a return: by returns, then changes, "
        "then the subject's name, predicate, qualifier. With a filter those of which an affirmation begun by `validAt` matches, each "
        "counted whole."
    )
    def flip_flops(
        self,
        filter: StatementFilter | None = strawberry.UNSET,
        first: int | None = 20,
        after: str | None = strawberry.UNSET,
    ) -> SlotConnection:
        """A page of slots."""
        self.scope.context.spend("flipFlops")
        scope, cursor = resume(self.scope, "flipFlops", given(after))
        page = scope.snapshot.drift.flip_flops(filter_of(filter), first=checked_first(first, 20), after=cursor.position if cursor else None)
        return _slot_page(scope, page, given(after))

    @described(
        "How often each predicate changes, smoothed over slots and time observed; most volatile first.\n"
        "Of each predicate with a slot of which an affirmation begins by `validAt`: slots = these; changes = those of its slots as for "
        "`flipFlops`, added up; perSlotYear = (changes + 1) / (slot-years observed + 4), that is one change in four years before anything "
        "is seen; a slot is observed from its first bounded instant to `validAt`, in years of 365.25 days; medianSeconds = the median "
        "length of its affirmed intervals with both bounds that have ended by `validAt` (of an even number the mean of the middle two), "
        "null without any."
    )
    def volatility(self) -> list[PredicateVolatility]:
        """All predicates."""
        self.scope.context.spend("volatility")
        context = self.scope.context
        return [
            PredicateVolatility(
                predicate=predicate(context, view.predicate),
                slots=view.slots,
                changes=view.changes,
                per_slot_year=view.per_slot_year,
                median_seconds=view.median_seconds,
            )
            for view in self.scope.snapshot.drift.volatility()
        ]

    @described(
        "Statements recorded much later than they were true.\n"
        "Those that hold at `validAt` and whose transactionTime.from - validTime.from > lagSeconds, the longest first. An unbounded start "
        "is not measured."
    )
    def retro_edits(
        self,
        info: Info[Context, None],
        lag_seconds: Annotated[int, strawberry.argument(description="0 or more.")],
        filter: StatementFilter | None = strawberry.UNSET,
        first: int | None = 20,
        after: str | None = strawberry.UNSET,
    ) -> StatementConnection:
        """A page of statements."""
        scope, position, want = _asked(self.scope, info, "retroEdits", given(after))
        page = scope.snapshot.drift.retro_edits(lag_seconds, filter_of(filter), first=checked_first(first, 20), after=position, want=want)
        return statement_page(scope, page, "retroEdits", given(after), want)


def _asked(scope: Scope, info: Info[Context, None], kind: str, after: str | None) -> tuple[Scope, tuple[Any, ...] | None, frozenset[Want]]:
    """What a connection of statements stands on, where its page begins, and the parts that are selected; it is counted."""
    scope.context.spend(kind)
    scope, cursor = resume(scope, kind, after)
    return scope, cursor.position if cursor else None, wanted(info, *IN_PAGE)


def _slot_page(scope: Scope, page: Page[drift.SlotView], after: str | None) -> SlotConnection:
    items, info = frame(page, "flipFlops", scope.pin, after)
    edges = [
        SlotEdge(
            place=place,
            node=Slot(
                subject=entity(scope, view.subject),
                predicate=predicate(scope.context, view.predicate),
                qualifier=view.qualifier,
                changes=view.changes,
                returns=view.returns,
            ),
        )
        for place, view in items
    ]
    return SlotConnection(edges=edges, page_info=info)

"""What a mutation did, as its payload shows it: statements are fetched only where they are selected."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import time_ns

from strawberry.types import Info

from api.context import Context, Scope
from api.schema.statement import Statement, statement
from api.selection import wanted
from graph.views import Want
from ontology.errors import InvalidInput

_ARGUMENTS = {"claims": "ids", "entities": "ids", "entity": "id"}
"""What the facade calls some arguments."""


def opened(scope: Scope, info: Info[Context, None], transaction: int) -> list[Statement]:
    """Statements that begin to be believed with a transaction; none for 0."""
    want = wanted(info)
    views = scope.context.graph.opened_by(scope.context.namespace, transaction, want=want) if transaction else []
    return [statement(scope, view, want) for view in views]


def closed(scope: Scope, info: Info[Context, None], transaction: int) -> list[Statement]:
    """Statements that a transaction ended; none for 0."""
    want = wanted(info) | {Want.INVALIDATION}
    views = scope.context.graph.closed_by(scope.context.namespace, transaction, want=want) if transaction else []
    return [statement(scope, view, want) for view in views]


@contextmanager
def under(name: str) -> Iterator[None]:
    """Paths of input errors seen from the arguments of the field."""
    try:
        yield
    except InvalidInput as failure:
        raise failure.under(name) from failure


@contextmanager
def by_argument() -> Iterator[None]:
    """Paths of input errors in the names that the arguments have here."""
    try:
        yield
    except InvalidInput as failure:
        first, *rest = failure.path or ("",)
        if first not in _ARGUMENTS:
            raise
        raise type(failure)(failure.message, path=(_ARGUMENTS[first], *rest), reason=failure.reason) from failure


def after(context: Context) -> Scope:
    """The present as the mutation left it."""
    context.committed(time_ns() // 1000)
    return Scope(context, context.snapshot())

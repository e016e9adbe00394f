"""The schema and how an operation runs in it: one hop to a thread, in which all resolvers of the operation run."""

from __future__ import annotations

from collections.abc import Iterable
from functools import partial
from typing import Any

import strawberry
from anyio import CapacityLimiter, to_thread
from graphql import GraphQLError
from strawberry.schema.config import StrawberryConfig
from strawberry.types import ExecutionContext, ExecutionResult
from strawberry.types.graphql import OperationType

from api.errors import shaped
from api.limits import Limits, limiting
from api.requests import Request
from api.scalars import SCALARS
from api.schema.claim import Claim
from api.schema.entity import Entity
from api.schema.episode import Episode
from api.schema.failures import IdempotencyConflictHandler, InvalidInputHandler, NotFoundHandler, OverloadedHandler
from api.schema.mutation import Mutation
from api.schema.permission import Permission
from api.schema.query import Query
from api.schema.statement import Statement
from ontology.errors import ErstwhileError


class Schema(strawberry.Schema):
    """Runs every operation whole in a worker thread: resolvers block on the graph, the event loop never does.

    `threads` is how many operations run at a time, `awaiting` how many may wait for the graph's watermark besides.
    """

    def __init__(self, *, threads: int = 40, awaiting: int = 40, limits: Limits) -> None:
        super().__init__(
            query=Query,
            mutation=Mutation,
            types=[Claim, Entity, Episode, Statement],
            extensions=[*limiting(limits), Permission],
            config=StrawberryConfig(scalar_map=SCALARS),
            exception_handlers=[InvalidInputHandler(), NotFoundHandler(), IdempotencyConflictHandler(), OverloadedHandler()],
        )
        self._threads = CapacityLimiter(threads)
        self._awaiting = CapacityLimiter(awaiting)

    def process_errors(self, errors: list[GraphQLError], execution_context: ExecutionContext | None = None) -> None:
        """Log nothing here: what needs the log is logged with the request's ID where errors are shaped."""

    async def execute(
        self,
        query: str | None,
        variable_values: dict[str, Any] | None = None,
        context_value: Any | None = None,
        root_value: Any | None = None,
        operation_name: str | None = None,
        allowed_operation_types: Iterable[OperationType] | None = None,
        operation_extensions: dict[str, Any] | None = None,
    ) -> ExecutionResult:
        """The result of one operation; `context_value` is the `Request` that it came with."""
        request = context_value
        if not isinstance(request, Request):
            raise TypeError("the context of an operation is its Request")
        try:
            request.check()
            if request.awaited is not None:
                await to_thread.run_sync(request.graph.await_transaction, request.awaited, limiter=self._awaiting)
        except ErstwhileError as failure:
            result = ExecutionResult(data=None, errors=[GraphQLError(failure.message, original_error=failure)])
        else:
            run = partial(
                self.execute_sync,
                query,
                variable_values=variable_values,
                context_value=request.context(),
                root_value=root_value,
                operation_name=operation_name,
                allowed_operation_types=allowed_operation_types,
                operation_extensions=operation_extensions,
            )
            result = await to_thread.run_sync(run, limiter=self._threads)
        if result.errors:
            result.errors = [shaped(error, request.id) for error in result.errors]
        return result


def build_schema(limits: Limits | None = None) -> Schema:
    """The schema of the service."""
    return Schema(limits=limits or Limits())

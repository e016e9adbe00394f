"""The schema and how an operation runs in it: one hop to a thread, in which all resolvers of the operation run."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Iterable
from contextlib import aclosing
from functools import partial
from typing import Any

import strawberry
from anyio import CapacityLimiter, to_thread
from graphql import GraphQLError, get_operation_ast
from strawberry.schema.config import StrawberryConfig
from strawberry.types import ExecutionContext, ExecutionResult
from strawberry.types.execution import PreExecutionError
from strawberry.types.graphql import OperationType

from api.errors import shaped
from api.limits import Limiting, Limits
from api.metering import Kinds
from api.requests import Request
from api.scalars import SCALARS
from api.schema.claim import Claim
from api.schema.entity import Entity
from api.schema.episode import Episode
from api.schema.failures import IdempotencyConflictHandler, InvalidInputHandler, NotFoundHandler, OverloadedHandler
from api.schema.job import IngestJob
from api.schema.mutation import Mutation
from api.schema.permission import Permission
from api.schema.query import Query
from api.schema.statement import Statement
from api.schema.subscription import Subscription
from api.subscriptions import in_threads
from ontology.errors import ErstwhileError


class Schema(strawberry.Schema):
    """Runs every operation whole in a worker thread: resolvers block on the graph, the event loop never does.

    `threads` is how many operations run at a time, `awaiting` how many may wait for the graph's watermark besides.
    """

    def __init__(self, *, threads: int = 40, awaiting: int = 40, limits: Limits) -> None:
        self._threads = CapacityLimiter(threads)
        self._awaiting = CapacityLimiter(awaiting)
        self._limiting = Limiting(limits)
        super().__init__(
            query=Query,
            mutation=Mutation,
            subscription=Subscription,
            types=[Claim, Entity, Episode, IngestJob, Statement],
            extensions=[Kinds, *self._limiting.extensions(), Permission],
            execution_context_class=in_threads(self._threads),
            config=StrawberryConfig(scalar_map=SCALARS),
            exception_handlers=[InvalidInputHandler(), NotFoundHandler(), IdempotencyConflictHandler(), OverloadedHandler()],
        )

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
        request = _request(context_value)
        try:
            await self._admit(request)
        except ErstwhileError as failure:
            return _shaped(ExecutionResult(data=None, errors=[_error(failure)]), request)
        context = request.context()
        run = partial(
            self.execute_sync,
            query,
            variable_values=variable_values,
            context_value=context,
            root_value=root_value,
            operation_name=operation_name,
            allowed_operation_types=allowed_operation_types,
            operation_extensions=operation_extensions,
        )
        result = await to_thread.run_sync(run, limiter=self._threads)
        request.operation = context.operation
        return _shaped(result, request)

    async def stream(
        self,
        query: str | None,
        variable_values: dict[str, Any] | None = None,
        context_value: Any | None = None,
        root_value: Any | None = None,
        operation_name: str | None = None,
        operation_extensions: dict[str, Any] | None = None,
        allowed_operation_types: Iterable[OperationType] | None = None,
    ) -> AsyncGenerator[ExecutionResult, None]:
        """The results of one operation: of a subscription as they come, of any other its one. The context is as in `execute`."""
        arguments: dict[str, Any] = {
            "variable_values": variable_values,
            "root_value": root_value,
            "operation_name": operation_name,
            "operation_extensions": operation_extensions,
            "allowed_operation_types": allowed_operation_types,
        }
        return self._results(_request(context_value), query, arguments)

    async def _results(self, request: Request, query: str | None, arguments: dict[str, Any]) -> AsyncGenerator[ExecutionResult, None]:
        try:
            await self._admit(request)
            kind = await to_thread.run_sync(self._kind_of, query, arguments["operation_name"], limiter=self._threads)
        except ErstwhileError as failure:
            yield _shaped(PreExecutionError(data=None, errors=[_error(failure)]), request)
            return
        except GraphQLError as failure:
            yield _shaped(PreExecutionError(data=None, errors=[failure]), request)
            return
        request.operation = None if kind is None else kind.value
        allowed = arguments["allowed_operation_types"]
        if kind in (OperationType.QUERY, OperationType.MUTATION) and (allowed is None or kind in allowed):
            result = await self.execute(query, context_value=request, **arguments)
            refused = result.data is None and all(error.path is None for error in result.errors or ())
            yield PreExecutionError(data=None, errors=result.errors) if refused else result
            return
        # What is no operation, or of a kind that is not allowed, is refused there too.
        async with aclosing(await super().stream(query, context_value=request.context(), **arguments)) as results:
            async for each in results:
                assert isinstance(each, ExecutionResult)
                yield _shaped(each, request)

    def _kind_of(self, query: str | None, operation_name: str | None) -> OperationType | None:
        """Of which kind an operation is; None where there is none. Its document is parsed and validated from here on.

        Raises GraphQLError where it cannot be parsed.
        """
        operation = get_operation_ast(self._limiting.prepare(self._schema, query or ""), operation_name)
        return None if operation is None else OperationType(operation.operation.value)

    async def _admit(self, request: Request) -> None:
        """Raises what a request is refused for before its operation is looked at."""
        request.check()
        if request.awaited is not None:
            await to_thread.run_sync(request.graph.await_transaction, request.awaited, limiter=self._awaiting)


def _request(context: Any) -> Request:
    if not isinstance(context, Request):
        raise TypeError("the context of an operation is its Request")
    return context


def _error(failure: ErstwhileError) -> GraphQLError:
    return GraphQLError(failure.message, original_error=failure)


def _shaped(result: ExecutionResult, request: Request) -> ExecutionResult:
    if result.errors:
        result.errors = [shaped(error, request.id, request.ingestion.shown) for error in result.errors]
    request.code = str((result.errors[0].extensions or {})["code"]) if result.errors else "OK"
    return result


def build_schema(limits: Limits | None = None) -> Schema:
    """The schema of the service."""
    return Schema(limits=limits or Limits())

"""Which operations a key may run: one place for all of them, so that no new mutation can be forgotten."""

from __future__ import annotations

from collections.abc import Iterator

from strawberry.extensions import SchemaExtension
from strawberry.types.graphql import OperationType

from api.context import Context
from api.credentials import Access


class Permission(SchemaExtension):
    """Mutations need write access. What needs more asks for it itself."""

    def on_execute(self) -> Iterator[None]:
        """Raises Forbidden before anything of the operation runs."""
        execution = self.execution_context
        if execution.operation_type is OperationType.MUTATION and isinstance(execution.context, Context):
            execution.context.require(Access.WRITE)
        yield

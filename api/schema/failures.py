"""The errors that a mutation's result may be, and how domain errors become them."""

from __future__ import annotations

import strawberry
from strawberry.types import Info
from strawberry.types.field import StrawberryField

from api.context import Context
from api.errors import argument_path
from api.schema.enums import ErrorCode
from ontology.errors import ErstwhileError, IdempotencyConflict, InvalidInput, NotFound, Overloaded


@strawberry.interface(description="A failure that the caller can act on.")
class Error:
    """What all errors have."""

    code: ErrorCode = strawberry.field(description="Stable machine code; the same as `extensions.code` of a top-level error.")
    message: str = strawberry.field(description="One sentence for a person; wording may change.")


@strawberry.type
class InvalidInputError(Error):
    """As `ontology.errors.InvalidInput`."""

    path: list[str] = strawberry.field(description="Path of the argument.")
    reason: str | None = strawberry.field(description="Such as INVALID_DATE, OUT_OF_RANGE, EMPTY_INTERVAL, INVERTED_INTERVAL, UNPARSEABLE.")


@strawberry.type
class NotFoundError(Error):
    """As `ontology.errors.NotFound`."""

    id: strawberry.ID | None


@strawberry.type
class IdempotencyConflictError(Error):
    """As `ontology.errors.IdempotencyConflict`."""

    idempotency_key: str


@strawberry.type
class OverloadedError(Error):
    """As `ontology.errors.Overloaded`."""

    retry_after: int = strawberry.field(description="Seconds to wait.")


def _shown(info: Info, text: str) -> str:
    """A text without secrets: messages echo what was given."""
    context: Context = info.context
    return context.ingestion.shown(text)


def _code(failure: ErstwhileError) -> ErrorCode:
    return ErrorCode[failure.code]


class InvalidInputHandler(strawberry.ExceptionHandler[InvalidInput, InvalidInputError]):
    """Also for its subclass OntologyViolation, which has a code of its own."""

    def handle(self, exception: InvalidInput, *, field: StrawberryField, info: Info) -> InvalidInputError:
        """The member of the union."""
        return InvalidInputError(
            code=_code(exception),
            message=_shown(info, exception.message),
            path=argument_path(exception.path),
            reason=exception.reason,
        )


class NotFoundHandler(strawberry.ExceptionHandler[NotFound, NotFoundError]):
    """An unknown key or ID."""

    def handle(self, exception: NotFound, *, field: StrawberryField, info: Info) -> NotFoundError:
        """The member of the union."""
        id = None if exception.id is None else strawberry.ID(_shown(info, exception.id))
        return NotFoundError(code=_code(exception), message=_shown(info, exception.message), id=id)


class IdempotencyConflictHandler(strawberry.ExceptionHandler[IdempotencyConflict, IdempotencyConflictError]):
    """One key, two payloads."""

    def handle(self, exception: IdempotencyConflict, *, field: StrawberryField, info: Info) -> IdempotencyConflictError:
        """The member of the union."""
        key = _shown(info, exception.idempotency_key)
        return IdempotencyConflictError(code=_code(exception), message=_shown(info, exception.message), idempotency_key=key)


class OverloadedHandler(strawberry.ExceptionHandler[Overloaded, OverloadedError]):
    """Too much at once."""

    def handle(self, exception: Overloaded, *, field: StrawberryField, info: Info) -> OverloadedError:
        """The member of the union."""
        return OverloadedError(code=_code(exception), message=_shown(info, exception.message), retry_after=exception.retry_after)

"""The named errors of the domain. Each carries the stable code that GraphQL and the command line report."""

from __future__ import annotations

from collections.abc import Sequence


class ErstwhileError(Exception):
    """A failure that the caller can act on.

    `code` is one of the schema's `ErrorCode` values; the message is one sentence for a person.
    """

    code = "INTERNAL_SERVER_ERROR"

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.message = message


class InvalidInput(ErstwhileError):
    """Malformed or out of range. `path` leads to the argument; `reason` is a machine word such as INVALID_DATE."""

    code = "BAD_USER_INPUT"

    def __init__(self, message: str, *, path: Sequence[str] = (), reason: str | None = None) -> None:
        super().__init__(message)
        self.path = tuple(path)
        self.reason = reason

    def under(self, *prefix: str) -> InvalidInput:
        """The same error seen from further out: `prefix` is put before its path."""
        return type(self)(self.message, path=(*prefix, *self.path), reason=self.reason)


class OntologyViolation(InvalidInput):
    """The statement breaks the ontology."""

    code = "ONTOLOGY_VIOLATION"


class NotFound(ErstwhileError):
    """No such object in this namespace."""

    code = "NOT_FOUND"

    def __init__(self, message: str, *, id: str | None = None) -> None:
        super().__init__(message)
        self.id = id


class Overloaded(ErstwhileError):
    """Not now; try again after `retry_after` seconds. `cursor`: what was being followed goes on after it."""

    code = "OVERLOADED"

    def __init__(self, message: str, *, retry_after: int = 1, cursor: str | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after
        self.cursor = cursor


class IdempotencyConflict(ErstwhileError):
    """The idempotency key was used with another payload."""

    code = "IDEMPOTENCY_CONFLICT"

    def __init__(self, message: str, *, idempotency_key: str) -> None:
        super().__init__(message)
        self.idempotency_key = idempotency_key


class Unauthenticated(ErstwhileError):
    """No credentials, or wrong ones. Its message never shows what was presented."""

    code = "UNAUTHENTICATED"


class Forbidden(ErstwhileError):
    """The credentials are good, but do not reach this namespace or action."""

    code = "FORBIDDEN"


class QueryTooComplex(ErstwhileError):
    """The query is too deep, too large or too dear."""

    code = "QUERY_TOO_COMPLEX"


class Unavailable(ErstwhileError):
    """A part of the service that this needs is missing or broken; the message says which, and what mends it."""


class DataFolderBusy(ErstwhileError):
    """Another process owns the data folder; `pid` is its process ID where it is known."""

    code = "OVERLOADED"

    def __init__(self, message: str, *, pid: int | None = None) -> None:
        super().__init__(message)
        self.pid = pid

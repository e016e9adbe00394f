"""How failures look from outside: domain errors keep their code, everything else is masked, logged and named by the request."""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from typing import Any

from graphql import GraphQLError
from strawberry.utils.str_converters import to_camel_case

from ontology.errors import ErstwhileError, IdempotencyConflict, InvalidInput, NotFound, Overloaded, Unavailable

logger = logging.getLogger(__name__)

# The limiters of Strawberry and graphql-core tell no code, only these sentences; a test holds each of them.
_TOO_COMPLEX = re.compile(r"exceeds maximum operation depth of|aliases found\. Allowed|contains more (?:than|that) \d+ tokens")


def argument_path(path: tuple[str, ...]) -> list[str]:
    """A path in the spelling of the schema: `valid_from` is `validFrom`."""
    return [to_camel_case(part) for part in path]


def extensions_of(failure: ErstwhileError) -> dict[str, Any]:
    """What `extensions` says of a domain error."""
    found: dict[str, Any] = {"code": failure.code}
    if isinstance(failure, InvalidInput):
        found |= {"argument": argument_path(failure.path)} if failure.path else {}
        found |= {"reason": failure.reason} if failure.reason else {}
    elif isinstance(failure, NotFound):
        found |= {"id": failure.id} if failure.id else {}
    elif isinstance(failure, Overloaded):
        found["retryAfter"] = failure.retry_after
        found |= {"cursor": failure.cursor} if failure.cursor is not None else {}
    elif isinstance(failure, IdempotencyConflict):
        found["idempotencyKey"] = failure.idempotency_key
    return found


def _root(error: GraphQLError) -> BaseException:
    """The exception that an error stands for: the first that is no GraphQLError, else the innermost."""
    cause: BaseException = error
    while isinstance(cause, GraphQLError) and cause.original_error is not None:
        cause = cause.original_error
    return cause


def shaped(error: GraphQLError, request_id: str, scrub: Callable[[str], str]) -> GraphQLError:
    """The error as the client sees it: a code in `extensions`, nothing of the service's inside, and no secret that was given.

    `scrub` replaces the secrets of a text.
    """
    shown = _shaped(error, request_id)
    # A cursor is made here of numbers and keys; it must come back as it is.
    scrubbed = {name: scrub(value) for name, value in (shown.extensions or {}).items() if isinstance(value, str) and name != "cursor"}
    extensions = {**(shown.extensions or {}), **scrubbed}
    return _copy(shown, scrub(shown.message), extensions)


def _shaped(error: GraphQLError, request_id: str) -> GraphQLError:
    cause = _root(error)
    if isinstance(cause, ErstwhileError) and cause.code != "INTERNAL_SERVER_ERROR":
        # graphql-core puts "Variable '$x' got invalid value ..." before what a scalar said; that names the argument.
        message = cause.message if error.path else error.message
        return _copy(error, message, extensions_of(cause))
    if isinstance(cause, GraphQLError):
        code = "QUERY_TOO_COMPLEX" if _TOO_COMPLEX.search(error.message) else "BAD_USER_INPUT"
        return _copy(error, error.message, {"code": code})
    logger.error("request %s failed at %s", request_id, error.path, exc_info=cause)
    # Of a part that is missing the caller may know; what broke inside stays inside.
    message = cause.message if isinstance(cause, Unavailable) else "The service failed at this."
    return _copy(error, message, {"code": "INTERNAL_SERVER_ERROR", "requestId": request_id})


def _copy(error: GraphQLError, message: str, extensions: dict[str, Any]) -> GraphQLError:
    return GraphQLError(message, nodes=error.nodes, source=error.source, positions=error.positions, path=error.path, extensions=extensions)

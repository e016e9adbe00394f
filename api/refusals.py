"""Refusals before GraphQL: the HTTP answer to a domain error, in the shape that GraphQL gives its errors."""

from __future__ import annotations

from starlette.responses import JSONResponse

from api.errors import extensions_of
from ontology.errors import ErstwhileError, Overloaded, Unauthenticated

_STATUS = {"UNAUTHENTICATED": 401, "FORBIDDEN": 403, "OVERLOADED": 503, "BAD_USER_INPUT": 400}


def refusal(failure: ErstwhileError, status: int | None = None) -> JSONResponse:
    """The answer; `status` in place of the one that goes with the error's code."""
    headers = {}
    if isinstance(failure, Overloaded):
        headers["Retry-After"] = str(failure.retry_after)
    if isinstance(failure, Unauthenticated):
        headers["WWW-Authenticate"] = 'Bearer realm="erstwhile"'
    error = {"message": failure.message, "extensions": extensions_of(failure)}
    return JSONResponse({"data": None, "errors": [error]}, status_code=status or _STATUS.get(failure.code, 500), headers=headers)

"""What several types share: how a resolver is declared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import strawberry

ID_DESCRIPTION = "Opaque and globally unique. Under an explicit `asOf` it also names the basis, so that client caches never mix two times."

F = TypeVar("F", bound=Callable[..., Any])


def described(description: str) -> Callable[[F], F]:
    """Makes a method the resolver of a field with that description; `strawberry.field(...)`, which has no type as a decorator."""
    return strawberry.field(description=description)  # type: ignore[no-any-return]


def followed(description: str) -> Callable[[F], F]:
    """The same for a field of the subscriptions."""
    return strawberry.subscription(description=description)  # type: ignore[no-any-return]

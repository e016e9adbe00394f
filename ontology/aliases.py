"""Aliases: when one says of two names that they are one, and when it is told of too many to say so."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable

from ontology.names import normalise

_ROLE = re.compile(r".+(?:'s|s') .+")


def is_role(name: str) -> bool:
    """Whether a name says what somebody is to another: "Ada's sister"."""
    return _ROLE.fullmatch(normalise(name).replace("\u2019", "'")) is not None


def ambiguous(told: Iterable[tuple[str, str]]) -> frozenset[str]:
    """The aliases of `(name, alias)` pairs that are told of two names or more which no other alias connects.

    Such an alias joins none of them: with "Mia, Ada's sister" and "Lea, Ada's sister" there are two sisters, and Mia is not
    Lea. An alias of two names that another, unambiguous alias connects is not ambiguous. The order of the pairs does not matter.
    """
    names: dict[str, set[str]] = defaultdict(set)
    for name, alias in told:
        names[alias].add(name)
    parents: dict[str, str] = {}

    def root(key: str) -> str:
        while parents.setdefault(key, key) != key:
            key = parents[key]
        return key

    for alias, of in names.items():
        if len(of) == 1:
            parents[root(alias)] = root(next(iter(of)))
    return frozenset(alias for alias, of in names.items() if len({root(name) for name in of}) > 1)

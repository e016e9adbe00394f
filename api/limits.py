"""How large a query may be. The rules are made once, so that validated documents can be kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from strawberry.extensions import MaxAliasesLimiter, ParserCache, QueryDepthLimiter, SchemaExtension, ValidationCache

from ontology.errors import QueryTooComplex


@dataclass(frozen=True, slots=True)
class Limits:
    """Depth of nesting, aliases, and tokens of one document. The introspection query of GraphiQL needs a depth of 13."""

    depth: int = 20
    aliases: int = 60
    tokens: int = 4000


COSTLY: Mapping[str, int] = {
    "preview": 10,
    "simulate": 10,
    "suspects": 10,
    "suspectedSplits": 200,
    "undeclaredPredicates": 10,
    "recall": 20,
    "context": 10,
}
"""Fields that a short document can make dear, and how often one operation may resolve each."""


class Spending:
    """What one operation has resolved of them."""

    def __init__(self) -> None:
        self._spent: Counter[str] = Counter()

    def spend(self, field: str) -> None:
        """Count one more. Raises QueryTooComplex."""
        self._spent[field] += 1
        if self._spent[field] > COSTLY[field]:
            raise QueryTooComplex(f"one operation may ask for {field} up to {COSTLY[field]} times; send the rest in another")


class _Limiter(SchemaExtension):
    """Sets the rules of the limiters on each operation; they raise errors that say what was exceeded."""

    def __init__(self, limits: Limits, rules: tuple[type, ...]) -> None:
        self._limits = limits
        self._rules = rules

    def on_operation(self) -> Iterator[None]:
        context = self.execution_context
        context.parse_options["max_tokens"] = self._limits.tokens
        context.validation_rules = (*context.validation_rules, *self._rules)
        yield


def limiting(limits: Limits) -> list[Callable[[], SchemaExtension]]:
    """The extensions of the schema: the limits, and caches of parsed and validated documents."""
    depth = QueryDepthLimiter(max_depth=limits.depth)
    aliases = MaxAliasesLimiter(max_alias_count=limits.aliases)
    rules = (*depth.validation_rules, *aliases.validation_rules)
    return [lambda: _Limiter(limits, rules), lambda: ParserCache(maxsize=256), lambda: ValidationCache(maxsize=256)]

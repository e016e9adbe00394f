"""How large a query may be. The rules are made once, so that validated documents can be kept."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from graphql import DocumentNode, GraphQLSchema, specified_rules
from strawberry.extensions import MaxAliasesLimiter, ParserCache, QueryDepthLimiter, SchemaExtension, ValidationCache

from ontology.errors import QueryTooComplex


@dataclass(frozen=True, slots=True)
class Limits:
    """Depth of nesting, aliases, and tokens of one document. The introspection query of GraphiQL needs a depth of 13."""

    depth: int = 20
    aliases: int = 60
    tokens: int = 4000


CACHED = 256
"""Documents that are kept."""

COSTLY: Mapping[str, int] = {
    "preview": 10,
    "simulate": 10,
    "suspects": 10,
    "suspectedSplits": 200,
    "undeclaredPredicates": 10,
    "recall": 20,
    "diff": 10,
    "context": 10,
    "changes": 10,
    "whyChanged": 20,
    "contested": 10,
    "stale": 10,
    "flipFlops": 10,
    "volatility": 10,
    "retroEdits": 10,
    "match": 20,
    "path": 20,
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


class Limiting:
    """What holds each operation of a schema to its limits, and the caches of parsed and validated documents."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        depth = QueryDepthLimiter(max_depth=limits.depth)
        aliases = MaxAliasesLimiter(max_alias_count=limits.aliases)
        self._rules = (*depth.validation_rules, *aliases.validation_rules)

    def extensions(self) -> list[Callable[[], SchemaExtension]]:
        """The extensions of the schema."""
        return [
            lambda: _Limiter(self._limits, self._rules),
            lambda: ParserCache(maxsize=CACHED),
            lambda: ValidationCache(maxsize=CACHED),
        ]

    def prepare(self, schema: GraphQLSchema, query: str) -> DocumentNode:
        """Parse and validate a document ahead, so that the caches have it. Raises GraphQLError where it cannot be parsed."""
        document: DocumentNode = ParserCache(maxsize=CACHED).cached_parse_document(query, max_tokens=self._limits.tokens)
        ValidationCache(maxsize=CACHED).cached_validate_document(schema, document, (*specified_rules, *self._rules))
        return document

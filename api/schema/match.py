"""Questions over several hops: patterns with variables, and the shortest paths between two entities."""

from __future__ import annotations

from typing import Annotated
from zlib import crc32

import strawberry
from strawberry import UNSET
from strawberry.types import Info

from api.context import Context, Scope
from api.cursors import checked_first
from api.identity import key_in
from api.schema.basics import Literal
from api.schema.entity import entity
from api.schema.inputs import EntityRef, LiteralInput, entity_ref, given
from api.schema.pages import Edge, PageInfo, frame, resume
from api.schema.statement import Statement, StatementObject, statement
from api.schema.support import described
from api.selection import IN_PAGE, wanted
from graph import drift, views
from graph.views import Page, Want
from ontology.names import checked_name


@strawberry.input(description="One place of a pattern: a variable, or what must stand there.", one_of=True)
class TermInput:
    """As `graph.drift.Term`."""

    variable: str | None = strawberry.field(description="Without a question mark.", default=UNSET)
    entity: strawberry.ID | None = strawberry.field(description="By key or ID.", default=UNSET)
    name: str | None = strawberry.field(
        description="A name or alias; as an object of a predicate whose range is a literal type it is a literal.", default=UNSET
    )
    literal: LiteralInput | None = strawberry.field(description="An object only.", default=UNSET)


@strawberry.input(description="A statement with variables; one in two places stands for the same thing.")
class PatternInput:
    """As `graph.drift.Pattern`."""

    subject: TermInput = strawberry.field(description="What the statement is about.")
    predicate: str = strawberry.field(description="Also an inverse, or an antonym: then the denial of its opposite matches.")
    object: TermInput = strawberry.field(description="What is said of it.")


@strawberry.type(description="What a variable stands for.")
class Binding:
    """One of a match's."""

    variable: str = strawberry.field(description="Its name.")
    value: StatementObject = strawberry.field(description="The entity or literal.")


@strawberry.type(description="One way in which all patterns hold.")
class Match:
    """As `graph.drift.MatchView`."""

    bindings: list[Binding] = strawberry.field(description="What the variables stand for, in the order in which the patterns name them.")
    statements: list[Statement] = strawberry.field(description="One for each pattern, in their order, seen from the side asked for.")


@strawberry.type(
    description=(
        "Statements that lead from one entity to another, in order, each walked in either direction; none is a denial or of a literal.\n"
        "Of more than 100 shortest paths the first are given, by the keys of their propositions."
    )
)
class Path:
    """As `graph.drift.PathView`."""

    statements: list[Statement] = strawberry.field(description="Each shares an entity with the next.")


@strawberry.type(description="A match and its cursor.")
class MatchEdge(Edge):
    """A match and its cursor."""

    node: Match = strawberry.field(description="The match.")


@strawberry.type(description="A page of matches, by the keys of their statements' propositions in the order of the patterns.")
class MatchConnection:
    """A page of matches."""

    edges: list[MatchEdge] = strawberry.field(description="The matches in order.")
    page_info: PageInfo = strawberry.field(description="Where the page stands.")


@strawberry.type
class Hops:
    """What a snapshot says over several hops. It is no type of the schema itself."""

    scope: strawberry.Private[Scope]

    @described("Basic graph patterns, joined as of this view: terms are variables, entities or literals.")
    def match(
        self,
        info: Info[Context, None],
        patterns: Annotated[list[PatternInput], strawberry.argument(description="1 to 8; all must hold.")],
        first: Annotated[int | None, strawberry.argument(description="1 to 100.")] = 20,
        after: Annotated[str | None, strawberry.argument(description="A cursor of this connection, for the same patterns.")] = UNSET,
    ) -> MatchConnection:
        """A page of matches."""
        self.scope.context.spend("match")
        after = given(after)
        asked = [_pattern(pattern, "patterns", str(place)) for place, pattern in enumerate(patterns)]
        kind = _kind(asked)
        scope, cursor = resume(self.scope, kind, after)
        want = wanted(info, *IN_PAGE, "statements")
        page = scope.snapshot.patterns.match(
            asked,
            first=checked_first(first, 20),
            after=cursor.position if cursor else None,
            want=want,
        )
        return _matches(scope, page, kind, after, want)

    @described("Shortest paths whose every statement holds in this view.")
    def path(
        self,
        info: Info[Context, None],
        from_: Annotated[EntityRef, strawberry.argument(name="from", description="Where they begin.")],
        to: Annotated[EntityRef, strawberry.argument(description="Where they end.")],
        max_hops: Annotated[int | None, strawberry.argument(description="1 to 6: the most statements of a path.")] = 3,
    ) -> list[Path]:
        """All shortest paths."""
        self.scope.context.spend("path")
        want = wanted(info, "statements")
        found = self.scope.snapshot.patterns.path(
            entity_ref(from_, "from"), entity_ref(to, "to"), max_hops=3 if max_hops is None else max_hops, want=want
        )
        return [Path(statements=[statement(self.scope, view, want) for view in path.statements]) for path in found]


def _pattern(pattern: PatternInput, *path: str) -> drift.Pattern:
    """The facade's pattern. Raises InvalidInput for a name that is none."""
    return drift.Pattern(_term(pattern.subject, *path, "subject"), pattern.predicate, _term(pattern.object, *path, "object"))


def _kind(asked: list[drift.Pattern]) -> str:
    """What cursors are told apart by: a place among the matches of some patterns is none among those of others."""
    return f"match {crc32(repr(asked).encode()):08x}"


def _term(term: TermInput, *path: str) -> drift.Term:
    variable, key, name, literal = given(term.variable), given(term.entity), given(term.name), given(term.literal)
    if name is not None:
        return drift.Term(name=checked_name(name, path=(*path, "name")))
    if literal is not None:
        return drift.Term(literal=literal.value, datatype=literal.datatype or "xsd:string")
    return drift.Term(variable=variable) if key is None else drift.Term(key=key_in(str(key)))


def _matches(scope: Scope, page: Page[drift.MatchView], kind: str, after: str | None, have: frozenset[Want]) -> MatchConnection:
    """A page of matches whose statements were fetched with the parts `have`."""
    items, info = frame(page, kind, scope.pin, after)
    return MatchConnection(edges=[MatchEdge(place=place, node=_match(scope, view, have)) for place, view in items], page_info=info)


def _match(scope: Scope, view: drift.MatchView, have: frozenset[Want]) -> Match:
    return Match(
        bindings=[Binding(variable=name, value=_value(scope, value)) for name, value in view.bindings],
        statements=[statement(scope, each, have) for each in view.statements],
    )


def _value(scope: Scope, value: views.EntityView | views.LiteralView) -> StatementObject:
    if isinstance(value, views.EntityView):
        return entity(scope, value)
    return Literal(value=value.value, datatype=value.datatype)

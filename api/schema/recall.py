"""Recall: what bears on a question, why it is there, and the block of text that it makes for a prompt."""

from __future__ import annotations

from typing import Annotated
from zlib import crc32

import strawberry
from strawberry import UNSET
from strawberry.types import Info

from api.context import Context, Scope
from api.cursors import checked_first
from api.identity import key_in
from api.schema.basics import Basis, basis
from api.schema.enums import Fusion, RecallArm, RecallKind
from api.schema.episode import Episode, episode
from api.schema.inputs import StatementFilter, filter_of, given
from api.schema.pages import Edge, PageInfo, frame, resume
from api.schema.statement import Statement, statement
from api.selection import IN_PAGE, wanted
from graph.recall.views import DEFAULTS, Arm, Hit, Kind
from graph.recall.views import Fusion as Joining
from graph.recall.views import RecallOptions as Options
from graph.views import EpisodeView, Page, Want
from ontology.errors import InvalidInput

MOST_SEEDS = 100

RecallNode = Annotated[Statement | Episode, strawberry.union("RecallNode", description="What recall found.")]


@strawberry.input(description="How recall ranks.")
class RecallOptions:
    """As `graph.recall.views.RecallOptions`; null is the default."""

    arms: list[RecallArm] | None = strawberry.field(
        description="Arms to run.", default_factory=lambda: [RecallArm.VECTOR, RecallArm.BM25, RecallArm.PAGERANK]
    )
    fusion: Fusion | None = strawberry.field(description="How scores are joined.", default=Fusion.CONVEX)
    candidates: int | None = strawberry.field(description="Candidates per arm, 1 to 500.", default=50)
    seeds: list[strawberry.ID] | None = strawberry.field(
        description="Entities to start PageRank from; default: the best hits and the entities named in the query.", default=UNSET
    )
    superseded_last: bool | None = strawberry.field(
        description="An episode whose statements on a slot have all ended ranks directly after the hit that ended them.", default=True
    )
    max_per_group: int | None = strawberry.field(description="Most hits from one conversation; null for no limit.", default=UNSET)
    kinds: list[RecallKind] | None = strawberry.field(
        description="What to return: statements, or source episodes too.", default_factory=lambda: [RecallKind.STATEMENT]
    )


@strawberry.type(description="One arm's opinion of a hit.")
class ArmScore:
    """As `graph.recall.views.ArmScore`."""

    arm: RecallArm
    score: float = strawberry.field(description="Raw score; comparable within the arm.")
    rank: int = strawberry.field(description="1-based rank.")


@strawberry.type(description="A hit: the fused score, and what each arm said; an arm that did not find it is absent.")
class RecallEdge(Edge):
    """As `graph.recall.views.Hit`."""

    node: RecallNode
    score: float
    arms: list[ArmScore]
    path: list[str] = strawberry.field(description="For a PageRank hit: the entity names on the way from a seed.")


@strawberry.type
class RecallConnection:
    """A page of hits."""

    edges: list[RecallEdge]
    page_info: PageInfo
    not_shown: int = strawberry.field(description="Candidates that were weighed beyond these.")
    degraded: list[str] = strawberry.field(description="Arms or parts that could not be used for this answer; empty when all worked.")


@strawberry.type(name="Context", description="Ready for a prompt: statements with dates, status and numbered citations, marked as data.")
class PromptContext:
    """As `graph.recall.views.Context`."""

    text: str
    tokens: int = strawberry.field(description="By the tokenizer named in the documentation.")
    statements: list[Statement]
    degraded: list[str]
    basis: Basis


def options_of(options: RecallOptions | None) -> Options:
    """The facade's options. Raises InvalidInput."""
    if not options:
        return DEFAULTS
    arms, kinds, seeds, candidates = given(options.arms), given(options.kinds), given(options.seeds), given(options.candidates)
    if seeds is not None and len(seeds) > MOST_SEEDS:
        raise InvalidInput(f"`seeds` are up to {MOST_SEEDS}, not {len(seeds)}", path=("options", "seeds"), reason="OUT_OF_RANGE")
    return Options(
        arms=DEFAULTS.arms if arms is None else tuple(Arm[arm.name] for arm in dict.fromkeys(arms)),
        fusion=Joining[options.fusion.name] if options.fusion else DEFAULTS.fusion,
        candidates=DEFAULTS.candidates if candidates is None else candidates,
        seeds=None if seeds is None else tuple(key_in(seed) for seed in seeds),
        superseded_last=options.superseded_last is not False,
        max_per_group=given(options.max_per_group),
        kinds=DEFAULTS.kinds if kinds is None else tuple(Kind[kind.name] for kind in dict.fromkeys(kinds)),
    )


def recall_page(
    scope: Scope,
    info: Info[Context, None],
    query: str,
    options: RecallOptions | None,
    filter: StatementFilter | None,
    first: int | None,
    after: str | None,
) -> RecallConnection:
    """A page of hits. A cursor goes on in the answer to its own question only: in another one its place means nothing."""
    scope.context.spend("recall")
    chosen, which, want = options_of(options), filter_of(filter), wanted(info, *IN_PAGE)
    asked = crc32(repr((query, chosen, which)).encode("utf-8", "surrogatepass"))
    scope, cursor = resume(scope, "recall", after)
    if cursor is not None and cursor.position[-1:] != (asked,):
        raise InvalidInput("the cursor is of another question", path=("after",), reason="INVALID_CURSOR")
    found = scope.snapshot.recall(
        query,
        options=chosen,
        filter=which,
        first=checked_first(first, 10),
        after=cursor.position[:-1] if cursor else None,
        want=want,
    )
    page = Page(found.page.items, tuple((*position, asked) for position in found.page.positions), found.page.has_next)
    items, page_info = frame(page, "recall", scope.pin, after)
    edges = [
        RecallEdge(
            place=place,
            node=_node(scope, hit, want),
            score=hit.score,
            arms=[ArmScore(arm=RecallArm[said.arm.name], score=said.score, rank=said.rank) for said in hit.arms],
            path=list(hit.path),
        )
        for place, hit in items
    ]
    return RecallConnection(edges=edges, page_info=page_info, not_shown=found.not_shown, degraded=list(found.degraded))


def _node(scope: Scope, hit: Hit, want: frozenset[Want]) -> Statement | Episode:
    return episode(scope, hit.node) if isinstance(hit.node, EpisodeView) else statement(scope, hit.node, want)


def context_block(
    scope: Scope,
    info: Info[Context, None],
    query: str,
    token_budget: int,
    options: RecallOptions | None,
    filter: StatementFilter | None,
) -> PromptContext:
    """The block of text for a prompt."""
    scope.context.spend("context")
    want = wanted(info, "statements")
    found = scope.snapshot.context(query, token_budget=token_budget, options=options_of(options), filter=filter_of(filter), want=want)
    # The block needs their provenance itself.
    have = (want - {Want.BARE}) | {Want.PROVENANCE}
    return PromptContext(
        text=found.text,
        tokens=found.tokens,
        statements=[statement(scope, view, have) for view in found.statements],
        degraded=list(found.degraded),
        basis=basis(scope.snapshot),
    )

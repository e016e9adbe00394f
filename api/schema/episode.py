"""Episode: a unit of source material; Evidence: words in it."""

from __future__ import annotations

import strawberry
from strawberry.types import Info

from api.context import Context, Scope
from api.cursors import checked_first
from api.identity import Kind, ObjectId, encode_id
from api.scalars import JSON, DateTime
from api.schema.basics import Node
from api.schema.enums import EpisodeStatus
from api.schema.inputs import given
from api.schema.pages import EpisodeConnection, EpisodeEdge, StatementConnection, frame, resume
from api.schema.support import ID_DESCRIPTION, described
from api.selection import IN_PAGE, wanted
from graph import views
from graph.views import Page


@strawberry.type(description="A unit of source material, kept verbatim.")
class Episode(Node):
    """As `graph.views.EpisodeView`, on one snapshot."""

    scope: strawberry.Private[Scope]
    key: strawberry.ID = strawberry.field(
        description=(
            "Its key on every basis: keyed hash of namespace, source and external ID, or, without one, of namespace, source, group, "
            "speaker, said time and content."
        )
    )
    revision: str = strawberry.field(
        description="Which copy of the key this is; the current one is the greatest by `revisedAt` or else `saidAt`, then content."
    )
    content: str | None = strawberry.field(description="The text after scrubbing of secrets; null once erased.")
    source: str = strawberry.field(description="Where it came from, such as `claude-code`.")
    external_id: str | None = strawberry.field(description="The ID it has there.")
    group: str | None = strawberry.field(description="Conversation, session or document.")
    speaker: str | None = strawberry.field(description="Who said it.")
    said_at: DateTime = strawberry.field(description="When it was said: the reference for relative dates.")
    recorded_at: DateTime = strawberry.field(description="When it was recorded (transaction time).")
    status: EpisodeStatus = strawberry.field(description="How far extraction has come.")
    flags: list[str] = strawberry.field(
        description="Findings of the threat and secret scan, such as `prompt-injection`, `secret:aws-access-key`."
    )
    metadata: JSON | None = strawberry.field(
        description="As ingested: working directory, branch, user, agent, run, app and whatever else the source knew."
    )

    @described(ID_DESCRIPTION)
    def id(self) -> strawberry.ID:
        """The opaque ID."""
        return strawberry.ID(encode_id(ObjectId(Kind.EPISODE, self.key, pin=self.scope.id_pin)))

    @described("Statements that it asserts.")
    def statements(self, info: Info[Context, None], first: int | None = 20, after: str | None = strawberry.UNSET) -> StatementConnection:
        """A page of its statements."""
        from api.schema.statement import statement_page

        after = given(after)
        scope, cursor = resume(self.scope, "asserted", after)
        want = wanted(info, *IN_PAGE)
        page = scope.snapshot.episode_statements(
            self.key, first=checked_first(first, 20), after=cursor.position if cursor else None, want=want
        )
        return statement_page(scope, page, "asserted", after, want)


@strawberry.type(description="Words in an episode.")
class Evidence:
    """As `graph.views.EvidenceView`."""

    claim: strawberry.ID = strawberry.field(description="The claim they make; `rejectClaims` takes it.")
    episode: Episode
    quote: str = strawberry.field(description="The words.")
    start: int = strawberry.field(description="First character in `Episode.content`.")
    end: int = strawberry.field(description="One past the last.")
    extractor: str = strawberry.field(description="Name and version of the extractor, or `client`.")


def episode(scope: Scope, view: views.EpisodeView) -> Episode:
    """An episode on a snapshot."""
    return Episode(
        scope=scope,
        key=strawberry.ID(view.key),
        revision=view.revision,
        content=view.content,
        source=view.source,
        external_id=view.external_id,
        group=view.group,
        speaker=view.speaker,
        said_at=DateTime(view.said_at),
        recorded_at=DateTime(view.recorded_at),
        status=EpisodeStatus[view.status.name],
        flags=list(view.flags),
        metadata=None if view.metadata is None else JSON(view.metadata),
    )


def evidence(scope: Scope, view: views.EvidenceView) -> Evidence:
    """Evidence on a snapshot."""
    return Evidence(
        claim=strawberry.ID(view.claim),
        episode=episode(scope, view.episode),
        quote=view.quote,
        start=view.start,
        end=view.end,
        extractor=view.extractor,
    )


def episode_page(scope: Scope, page: Page[views.EpisodeView], kind: str, after: str | None) -> EpisodeConnection:
    """A page of episodes."""
    items, info = frame(page, kind, scope.pin, after)
    return EpisodeConnection(edges=[EpisodeEdge(place=place, node=episode(scope, view)) for place, view in items], page_info=info)

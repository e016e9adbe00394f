"""Mutations about claims that are wrong and about who is who."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import strawberry
from strawberry.types import Info

from api.context import Context, Scope
from api.identity import Kind, key_of
from api.schema.effects import after, by_argument, closed, opened
from api.schema.entity import Entity, entity
from api.schema.failures import InvalidInputError, NotFoundError
from api.schema.inputs import given
from api.schema.statement import Statement
from api.schema.support import described
from graph.views import ChangeReceipt, EntityRef
from ontology.errors import InvalidInput, NotFound
from ontology.names import checked_name

MAX_CLAIMS = 1000
MAX_ENTITIES = 100


@strawberry.type
class ClaimsPayload:
    """What rejecting or restoring claims did."""

    scope: strawberry.Private[Scope]
    transaction: int
    deduplicated: bool = strawberry.field(description="They were so before: the transaction is the one that made them so.")
    claims: list[strawberry.ID] = strawberry.field(description="The claims that were named, as `Evidence.claim` has them.")

    @described("Statements that begin to be believed with it.")
    def asserted(self, info: Info[Context, None]) -> list[Statement]:
        """Opened by the transaction."""
        return opened(self.scope, info, self.transaction)

    @described("Statements that it ended.")
    def invalidated(self, info: Info[Context, None]) -> list[Statement]:
        """Closed by the transaction."""
        return closed(self.scope, info, self.transaction)


@strawberry.type
class EntityPayload:
    """What joining or splitting entities did."""

    scope: strawberry.Private[Scope]
    entity: Entity
    transaction: int
    deduplicated: bool = strawberry.field(description="They were so before: the transaction is the one that made them so.")
    claims: list[strawberry.ID] = strawberry.field(description="The joins or splits that it stated.")

    @described("Statements that begin to be believed with it.")
    def asserted(self, info: Info[Context, None]) -> list[Statement]:
        """Opened by the transaction."""
        return opened(self.scope, info, self.transaction)

    @described("Statements that it ended.")
    def invalidated(self, info: Info[Context, None]) -> list[Statement]:
        """Closed by the transaction."""
        return closed(self.scope, info, self.transaction)


ClaimsResult = Annotated[ClaimsPayload | NotFoundError | InvalidInputError, strawberry.union("ClaimsResult")]
EntityResult = Annotated[EntityPayload | NotFoundError | InvalidInputError, strawberry.union("EntityResult")]


def _keys(ids: Sequence[str], kind: Kind, least: int, most: int) -> list[str]:
    """The keys of the argument `ids`, each once. Raises InvalidInput for too few or too many, and NotFound."""
    keys = list(dict.fromkeys(key_of(id, kind) for id in ids))
    if not least <= len(keys) <= most:
        raise InvalidInput(f"ids takes {least} to {most:,} different ones, not {len(keys):,}", path=("ids",), reason="OUT_OF_RANGE")
    return keys


def _claims(context: Context, receipt: ChangeReceipt) -> ClaimsPayload:
    return ClaimsPayload(
        scope=after(context),
        transaction=receipt.transaction,
        deduplicated=receipt.deduplicated,
        claims=[strawberry.ID(claim) for claim in receipt.claims],
    )


def _entity(context: Context, receipt: ChangeReceipt) -> EntityPayload:
    scope = after(context)
    view = scope.snapshot.entity(EntityRef(key=receipt.entity))
    if view is None:
        raise NotFound("the entity is not there any more", id=receipt.entity)
    return EntityPayload(
        scope=scope,
        entity=entity(scope, view),
        transaction=receipt.transaction,
        deduplicated=receipt.deduplicated,
        claims=[strawberry.ID(claim) for claim in receipt.claims],
    )


@strawberry.type
class Identifying:
    """Part of `Mutation`. It is no type of the schema itself."""

    @described(
        "Declares claims wrong (the extractor or the source erred): they stop being evidence from now on, "
        "also when the episode is extracted again."
    )
    def reject_claims(self, info: Info[Context, None], ids: list[strawberry.ID], reason: str) -> ClaimsResult:
        """About our reading, not about the world."""
        context = info.context
        if not reason.strip():
            raise InvalidInput("say why the claims are wrong", path=("reason",), reason="EMPTY")
        with by_argument():
            receipt = context.graph.reject(
                context.namespace,
                _keys(ids, Kind.CLAIM, 1, MAX_CLAIMS),
                reason=context.ingestion.shown(reason.strip()),
                actor=context.actor,
            )
        return _claims(context, receipt)

    @described("Takes a rejection back.")
    def restore_claims(self, info: Info[Context, None], ids: list[strawberry.ID], reason: str | None = strawberry.UNSET) -> ClaimsResult:
        """They are evidence again."""
        context = info.context
        with by_argument():
            receipt = context.graph.restore(
                context.namespace, _keys(ids, Kind.CLAIM, 1, MAX_CLAIMS), reason=context.scrubbed(given(reason)), actor=context.actor
            )
        return _claims(context, receipt)

    @described("States that entities are one, for all valid time; taken back by `rejectClaims` on `EntityPayload.claims`.")
    def merge_entities(self, info: Info[Context, None], ids: list[strawberry.ID], reason: str | None = strawberry.UNSET) -> EntityResult:
        """A person's joins."""
        context = info.context
        with by_argument():
            receipt = context.graph.merge(
                context.namespace, _keys(ids, Kind.ENTITY, 2, MAX_ENTITIES), reason=context.scrubbed(given(reason)), actor=context.actor
            )
        return _entity(context, receipt)

    @described("States that the evidence of some episodes speaks of another entity of the same name.")
    def split_entity(
        self,
        info: Info[Context, None],
        id: strawberry.ID,
        discriminator: str,
        groups: list[str] | None = strawberry.UNSET,
        sources: list[str] | None = strawberry.UNSET,
        name: Annotated[
            str | None, strawberry.argument(description="Only this one of its names. Default: all by which those episodes call it.")
        ] = strawberry.UNSET,
        reason: str | None = strawberry.UNSET,
    ) -> EntityResult:
        """A person's split."""
        context, chats, origins = info.context, given(groups) or [], given(sources) or []
        if not chats and not origins:
            raise InvalidInput("name the groups or the sources whose evidence is split off", path=("groups",), reason="MISSING")
        with by_argument():
            receipt = context.graph.split(
                context.namespace,
                key_of(id, Kind.ENTITY),
                groups=chats,
                sources=origins,
                discriminator=checked_name(context.ingestion.shown(discriminator), path=("discriminator",)),
                name=given(name),
                reason=context.scrubbed(given(reason)),
                actor=context.actor,
            )
        return _entity(context, receipt)

"""Subscription: what is told as it happens."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from functools import partial
from time import time_ns

import strawberry
from anyio import to_thread
from strawberry.types import Info

from api.context import Context
from api.feeds import Asked, Behind, Fed
from api.schema.change import IN_EDGE, ChangeEdge, change_edge, cursor_at, position_in
from api.schema.inputs import StatementFilter, filter_of, given
from api.schema.job import IngestJob, job, job_key
from api.schema.support import followed
from api.selection import wanted
from api.watches import JobKey
from graph.views import Positions
from ontology.errors import NotFound, Overloaded


async def _steps(context: Context, key: JobKey) -> AsyncGenerator[IngestJob, None]:
    async with aclosing(context.watches.jobs.follow(key)) as steps:
        async for view in steps:
            if view is None:
                raise NotFound("there is no such job in this namespace", id=key.id)
            # What is read along with it stands on the present of this step.
            context.committed(time_ns() // 1000)
            yield job(view)
            if view.finished_at is not None:
                return


async def _changes(context: Context, fed: Fed, after: Positions | None, asked: Asked) -> AsyncGenerator[ChangeEdge, None]:
    try:
        async with aclosing(context.watches.changes.follow(fed, after, asked)) as changes:
            async for view, position in changes:
                yield change_edge(context, view, position, asked.want)
    except Behind as ended:
        raise Overloaded(ended.message, retry_after=ended.retry_after, cursor=cursor_at(ended.position)) from ended


@strawberry.type(description="Live events over graphql-transport-ws or Server-Sent Events.")
class Subscription:
    """All that can be followed."""

    @followed("Every committed change after a cursor, without gaps or repeats; from now on without one.")
    async def changes(
        self, info: Info[Context, None], after: str | None = strawberry.UNSET, filter: StatementFilter | None = strawberry.UNSET
    ) -> AsyncGenerator[ChangeEdge, None]:
        """As `Query.changes` tells them, each when it is committed."""
        context = info.context
        feed = context.graph.changes
        position: Positions | None = position_in(given(after))
        asked = Asked(filter_of(filter), wanted(info, *IN_EDGE))
        # Read once ahead: what is wrong with a cursor or a filter is an answer of its own, and no event.
        await to_thread.run_sync(partial(feed.page, context.namespace, after=position, first=1, filter=asked.filter, want=asked.want))
        if position is None:
            position = await to_thread.run_sync(feed.last, context.namespace)
        return _changes(context, Fed(feed, context.namespace), position, asked)

    @followed("A job after each step, until it ends.")
    async def ingest_job(self, info: Info[Context, None], id: strawberry.ID) -> AsyncGenerator[IngestJob, None]:
        """At once, then after each change; of quick changes the last."""
        context, key = info.context, job_key(id)
        # Looked for here and not in the generator: what it raises is an answer of its own, and no event.
        found = None if key is None else await to_thread.run_sync(context.graph.jobs.job, context.namespace, key)
        if found is None:
            raise NotFound("there is no such job in this namespace", id=id)
        return _steps(context, JobKey(context.graph.jobs, context.namespace, found.id))

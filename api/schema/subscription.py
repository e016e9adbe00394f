"""Subscription: what is told as it happens."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import aclosing
from time import time_ns

import strawberry
from anyio import to_thread
from strawberry.types import Info

from api.context import Context
from api.schema.job import IngestJob, job, job_key
from api.schema.support import followed
from api.subscriptions import JobKey
from ontology.errors import NotFound


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


@strawberry.type(description="Live events over graphql-transport-ws or Server-Sent Events.")
class Subscription:
    """All that can be followed."""

    @followed("A job after each step, until it ends.")
    async def ingest_job(self, info: Info[Context, None], id: strawberry.ID) -> AsyncGenerator[IngestJob, None]:
        """At once, then after each change; of quick changes the last."""
        context, key = info.context, job_key(id)
        # Looked for here and not in the generator: what it raises is an answer of its own, and no event.
        found = None if key is None else await to_thread.run_sync(context.graph.jobs.job, context.namespace, key)
        if found is None:
            raise NotFound("there is no such job in this namespace", id=id)
        return _steps(context, JobKey(context.graph.jobs, context.namespace, found.id))

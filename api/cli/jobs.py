"""The command about jobs: what was handed in by the thousand, and what became of it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from api.cli import documents, rendering
from api.cli.link import LocalLink
from api.cli.options import Data, First, Json, Namespace, hint, more, payload, reading_link, show
from api.cli.rendering import Node
from ontology.errors import InvalidInput, NotFound
from ontology.names import DEFAULT_NAMESPACE


def jobs(
    job: Annotated[str | None, typer.Argument(metavar="[JOB]", help="One job, as the list names it.")] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Follow the job until it ends.")] = False,
    retry: Annotated[bool, typer.Option("--retry", help="Send its failed episodes again.")] = False,
    cancel: Annotated[bool, typer.Option("--cancel", help="Stop it; what is committed stays.")] = False,
    first: First = 20,
    namespace: Namespace = DEFAULT_NAMESPACE,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """List bulk jobs, newest first, or show one with its failures (dead letters)."""
    if job is None and (watch or retry or cancel):
        raise InvalidInput("name the job; `erstwhile jobs` lists them", path=("job",))
    if retry and cancel:
        raise InvalidInput("--retry and --cancel exclude each other", path=("retry",))
    with reading_link(data, namespace) as link:
        if job is None:
            from api.cli.tables import jobs as listed

            found = link.execute(documents.JOBS, {"first": first})["ingestJobs"]
            nodes = [edge["node"] for edge in found["edges"]]
            show(nodes, as_json, listed(nodes) if nodes else ["there are no jobs"], more(found, first))
            return
        if retry or cancel:
            document, field = (documents.RETRY_JOB, "retryIngestJob") if retry else (documents.CANCEL_JOB, "cancelIngestJob")
            changed = payload(link, document, {"id": job}, field)["job"]
            if changed["progress"]["pending"] and not watch and isinstance(link, LocalLink):
                hint("no server runs here: they are extracted when one starts, or with --watch")
        if watch:
            from api.cli.watching import watch as followed

            if isinstance(link, LocalLink):
                # Nobody else works it off.
                link.service.start()
            followed(link, job)
        shown = link.execute(documents.JOB, {"id": job, "first": first})["ingestJob"]
    if shown is None:
        raise NotFound(f"there is no job {job!r}; `erstwhile jobs` lists them", id=job)
    show(shown, as_json, _one(shown), more(shown["failures"], first))


def _one(job: Node) -> Iterator[str]:
    """A job with its counts and its failures."""
    progress = job["progress"]
    ended = f"  ended {job['finishedAt']}" if job["finishedAt"] else ""
    yield f"{job['key']}  {job['state']}  created {job['createdAt']}{ended}"
    yield (
        f"accepted {progress['accepted']:,}: committed {progress['committed']:,} (empty {progress['empty']:,})"
        f"  known {progress['deduplicated']:,}  held back {progress['quarantined']:,}"
        f"  failed {progress['failed']:,}  waiting {progress['pending']:,}"
    )
    if job["trace"]:
        yield f"trace {rendering.escaped(job['trace'])}"
    for edge in job["failures"]["edges"]:
        node = edge["node"]
        where = " ".join(node["episode"][name] for name in ("source", "externalId") if node["episode"][name])
        tries = f" (begun {node['attempts']} times)" if node["attempts"] > 1 else ""
        yield f"  {rendering.escaped(where)}: {rendering.cut(rendering.escaped(node['message']), 300)}{tries}"

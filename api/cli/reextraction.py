"""`erstwhile reextract`: what reading everything again changed, as a diff in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from api.cli import rendering
from api.service import Service
from graph.views import ClaimView, EntityView
from ontology.instant import Instant, format_instant
from workers.bulk import place_of
from workers.reextracting import Outcome, claims_named, reextract


@dataclass(slots=True)
class Changes:
    """What a run did: how many episodes it read, the ones that changed, and the claims concerned by their IDs."""

    read: int = 0
    kept: int = 0
    changed: list[Outcome] = field(default_factory=list)
    failed: list[Outcome] = field(default_factory=list)
    words: dict[str, str] = field(default_factory=dict)


def run(service: Service, namespace: str, *, since: Instant | None, source: str | None, threads: int) -> Changes:
    """Read everything again. What went is told as it was before, what came as it is now."""
    graph, found = service.graph, Changes()
    before = graph.snapshot(namespace).basis.transaction
    for outcome in reextract(graph, service.ingestion.pool, namespace, since=since, source=source, threads=threads):
        found.read += 1
        if outcome.done is None:
            found.failed.append(outcome)
            continue
        found.kept += outcome.done.kept
        if outcome.done.added or outcome.done.gone:
            found.changed.append(outcome)
    added = {claim for outcome in found.changed if outcome.done for claim in outcome.done.added}
    gone = {claim for outcome in found.changed if outcome.done for claim in outcome.done.gone}
    for ids, transaction in ((gone, before), (added, None)):
        known = claims_named(graph, namespace, ids, transaction=transaction, source=source)
        found.words |= {id: _words(view) for id, view in known.items()}
    return found


def _words(view: ClaimView) -> str:
    object = view.object.name if isinstance(view.object, EntityView) else view.object.value
    parts = {"subject": view.subject.name, "predicate": view.predicate, "qualifier": view.qualifier, "object": object}
    shown: dict[str, Any] = {**parts, "polarity": view.polarity, "validFrom": view.valid_from, "validTo": view.valid_to}
    sure: dict[str, Any] = {
        "kind": view.kind.value,
        "modality": view.modality.value,
        "candidate": view.candidate,
        "rejected": view.rejected,
    }
    sure |= {"confidence": view.confidence, "rule": view.rule, "rejection": view.rejection}
    return f"{rendering.reading(shown)}   ({rendering.sureness(sure)})"


def report(found: Changes) -> dict[str, Any]:
    """The answer of `--json`."""
    changed: list[dict[str, Any]] = []
    for outcome in found.changed:
        done, draft = outcome.done, outcome.episode.draft
        if done is not None:
            row: dict[str, Any] = {
                "episode": place_of(draft),
                "saidAt": format_instant(outcome.episode.said),
                "transaction": done.transaction,
            }
            # One that a concurrent writer took away in between has no words.
            row |= {part: [{"id": id, "claim": found.words.get(id, id)} for id in ids] for part, ids in _sides(done.added, done.gone)}
            changed.append(row)
    failures = [f"{place_of(each.episode.draft)}: {each.failure}" for each in found.failed]
    counts = {part: sum(len(row[part]) for row in changed) for part in ("added", "gone")}
    return {"episodes": found.read, "changed": changed, **counts, "kept": found.kept, "failures": failures}


def _sides(added: tuple[str, ...], gone: tuple[str, ...]) -> Iterator[tuple[str, tuple[str, ...]]]:
    yield "added", added
    yield "gone", gone


def report_lines(found: Mapping[str, Any]) -> Iterator[str]:
    """The same for people: what each episode gained and lost, then the counts."""
    for row in found["changed"]:
        yield f"{rendering.printable(row['episode'])}, said {row['saidAt']}"
        yield from (f"  + {claim['claim']}" for claim in row["added"])
        yield from (f"  - {claim['claim']}" for claim in row["gone"])
    yield from (f"  {rendering.printable(failure)}" for failure in found["failures"][:50])
    counts = f"added {found['added']}  gone {found['gone']}  kept {found['kept']}  failed {len(found['failures'])}"
    yield f"episodes {found['episodes']}  changed {len(found['changed'])}  {counts}"

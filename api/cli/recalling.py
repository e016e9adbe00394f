"""Commands that find: what bears on a question, and a block of it for a prompt."""

from __future__ import annotations

from enum import Enum
from typing import Annotated

import typer

from api.cli import documents
from api.cli.options import At, Data, First, Json, Namespace, Recorded, Until, hint, show, times
from api.cli.vectors import recalling_link
from ontology.names import DEFAULT_NAMESPACE, checked_predicate


class Kind(Enum):
    """What can be found."""

    STATEMENT = "statement"
    EPISODE = "episode"


Text = Annotated[str, typer.Argument(help="A question, or words.")]
Predicate = Annotated[str | None, typer.Option(help="Only this predicate.")]
Group = Annotated[str | None, typer.Option(help="Only what this conversation says.")]
Source = Annotated[str | None, typer.Option(help="Only what this source says.")]
Speaker = Annotated[str | None, typer.Option(help="Only what this person says.")]
Past = Annotated[bool, typer.Option("--past", help="Also statements that no longer hold.")]


def _filter(predicate: str | None, group: str | None, source: str | None, speaker: str | None, past: bool) -> dict[str, object]:
    predicates = None if predicate is None else [checked_predicate(predicate)]
    return {"predicates": predicates, "group": group, "source": source, "speaker": speaker, "includeInvalidated": past}


def recall(
    text: Text,
    kind: Annotated[list[Kind] | None, typer.Option(help="What to find; may be given twice. Default: statements.")] = None,
    predicate: Predicate = None,
    group: Group = None,
    source: Source = None,
    speaker: Speaker = None,
    past: Past = False,
    namespace: Namespace = DEFAULT_NAMESPACE,
    data: Data = None,
    at: At = None,
    recorded_at: Recorded = None,
    evidence_until: Until = None,
    first: First = 10,
    as_json: Json = False,
) -> None:
    """Find what bears on a question, best first, with the score and rank that each arm gives it."""
    # Loaded here: only this command draws a table.
    from api.cli.tables import hits

    variables = {
        **times(at, recorded_at, evidence_until),
        "query": text,
        "first": first,
        "filter": _filter(predicate, group, source, speaker, past),
        "options": {"kinds": [each.name for each in kind]} if kind else None,
    }
    with recalling_link(data, namespace) as link:
        found = link.execute(documents.RECALL, variables)["asOf"]
    answer = found["recall"]
    rest = [f"({answer['notShown']} more were weighed; more with --first)"] if answer["pageInfo"]["hasNextPage"] else []
    degraded = [f"without {part}" for part in answer["degraded"]]
    found_hits = hits(answer["edges"]) if answer["edges"] and not as_json else ["  nothing bears on it"]
    show({"basis": found["basis"], **answer}, as_json, degraded, found_hits, rest)


def context(
    text: Text,
    budget: Annotated[int, typer.Option(min=1, help="Most tokens, counted as docs/recall.md says.")] = 1500,
    predicate: Predicate = None,
    group: Group = None,
    source: Source = None,
    speaker: Speaker = None,
    past: Past = False,
    namespace: Namespace = DEFAULT_NAMESPACE,
    data: Data = None,
    at: At = None,
    recorded_at: Recorded = None,
    evidence_until: Until = None,
    as_json: Json = False,
) -> None:
    """Print what bears on a question as a block of text for a prompt; the same question makes the same bytes."""
    variables = {
        **times(at, recorded_at, evidence_until),
        "query": text,
        "tokenBudget": budget,
        "filter": _filter(predicate, group, source, speaker, past),
    }
    with recalling_link(data, namespace) as link:
        found = link.execute(documents.CONTEXT, variables)["asOf"]["context"]
    for part in found["degraded"]:
        hint(f"without {part}")
    show(found, as_json, [found["text"]])

"""The command that joins patterns."""

from __future__ import annotations

from typing import Annotated

import typer

from api.cli import drift_documents as documents
from api.cli import rendering
from api.cli.names import why_nothing
from api.cli.options import At, Data, First, Json, Namespace, Recorded, Until, more, reading_link, show, times
from api.cli.pattern import pattern
from ontology.names import DEFAULT_NAMESPACE


def match(
    patterns: Annotated[list[str], typer.Argument(metavar="PATTERN...", help='Such as "?p works_at \'Acme Corp\'" "?p lives_in ?city".')],
    namespace: Namespace = DEFAULT_NAMESPACE,
    data: Data = None,
    at: At = None,
    recorded_at: Recorded = None,
    evidence_until: Until = None,
    first: First = 50,
    as_json: Json = False,
) -> None:
    """Find what fits all patterns at once: SUBJECT PREDICATE OBJECT, with ?variables, and quotes around names with spaces."""
    from api.cli.drift_tables import matches

    asked = [pattern(text) for text in patterns]
    with reading_link(data, namespace) as link:
        found = link.execute(documents.MATCH, {**times(at, recorded_at, evidence_until), "patterns": asked, "first": first})["asOf"]
        rows = [edge["node"] for edge in found["match"]["edges"]]
        if not rows:
            subjects = [each["subject"]["name"] for each in asked if "name" in each["subject"]]
            why_nothing(link, subjects=subjects, predicates=[each["predicate"] for each in asked])
    body = matches(rows) if rows else ["  nothing fits"]
    show({"basis": found["basis"], "matches": rows}, as_json, [rendering.basis(found["basis"])], body, more(found["match"], first))

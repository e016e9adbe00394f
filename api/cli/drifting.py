"""Commands that ask what changed and why, and what to distrust."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

import typer

from api.cli import drift_documents as documents
from api.cli import rendering
from api.cli.link import Link
from api.cli.names import key_named, why_nothing
from api.cli.options import (
    At,
    Data,
    First,
    Json,
    Namespace,
    Qualifier,
    Recorded,
    Until,
    instant_of,
    more,
    reading_link,
    show,
    times,
)
from ontology.errors import InvalidInput
from ontology.names import DEFAULT_NAMESPACE, checked_predicate

About = Annotated[str | None, typer.Option(help="Only this person or thing.")]
Predicate = Annotated[str | None, typer.Option(help="Only this predicate.")]


def chosen(link: Link, about: str | None, predicate: str | None) -> dict[str, Any]:
    """A StatementFilter. Raises NotFound for a name that nothing is known of."""
    return {
        "subjects": None if about is None else [key_named(link, about)],
        "predicates": None if predicate is None else [checked_predicate(predicate)],
    }


def diff(
    a: Annotated[str, typer.Argument(metavar="A", help="A date, RFC 3339, or words such as 'last March'.")],
    b: Annotated[str | None, typer.Argument(metavar="[B]", help="Default: now.")] = None,
    valid: Annotated[bool, typer.Option("--valid", help="A and B are times of the world (the default).")] = False,
    recorded: Annotated[bool, typer.Option("--recorded", help="A and B are times of recording: what is believed otherwise?")] = False,
    said: Annotated[bool, typer.Option("--said", help="Of each side only what was said by A, or B.")] = False,
    about: About = None,
    predicate: Predicate = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    data: Data = None,
    at: At = None,
    recorded_at: Recorded = None,
    evidence_until: Until = None,
    first: First = 50,
    as_json: Json = False,
) -> None:
    """Show what differs between A and B, and whether the world changed or what is believed of it.

    Several clocks may move together: `--valid --recorded` compares what was believed at A of A with what was believed at B of B. The
    clocks that stand still are set by --at, --recorded-at and --evidence-until.
    """
    from api.cli.drift_tables import differences

    moving = {"valid": valid or not (recorded or said), "recorded": recorded, "said": said}
    variables = _sides(a, b, moving, at, recorded_at, evidence_until)
    with reading_link(data, namespace) as link:
        found = link.execute(documents.DIFF, {**variables, "filter": chosen(link, about, predicate), "first": first})
        rows = [edge["node"] for edge in found["diff"]["edges"]]
        if not rows:
            why_nothing(link, predicates=[predicate])
    head = [f"from {rendering.basis(found['from']['basis'])}", f"to   {rendering.basis(found['to']['basis'])}"]
    answer = {"from": found["from"]["basis"], "to": found["to"]["basis"], "differences": rows}
    show(answer, as_json, head, differences(rows) if rows else ["  nothing differs"], more(found["diff"], first))


_STANDING = {"valid": "--at", "recorded": "--recorded-at", "said": "--evidence-until"}


def _sides(
    a: str, b: str | None, moving: Mapping[str, bool], at: str | None, recorded_at: str | None, evidence_until: str | None
) -> dict[str, str | None]:
    """Both bases as variables. Raises InvalidInput where a clock would move and stand still."""
    standing = {"valid": at, "recorded": recorded_at, "said": evidence_until}
    for clock, moves in moving.items():
        if moves and standing[clock] is not None:
            raise InvalidInput(f"{_STANDING[clock]} holds still what A and B move; give --recorded or --said to move another clock")
    sides = {"A": instant_of("A", a), "B": instant_of("B", b)}
    found: dict[str, str | None] = {}
    for clock, moves in moving.items():
        still = instant_of(_STANDING[clock], standing[clock])
        found |= {f"{clock}{side}": instant if moves else still for side, instant in sides.items()}
    return found


def why(
    subject: str,
    predicate: str,
    qualifier: Qualifier = "",
    since: Annotated[str | None, typer.Option("--from", help="Only changes from this time on.")] = None,
    until: Annotated[str | None, typer.Option("--to", help="Only changes before this time.")] = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    data: Data = None,
    at: At = None,
    recorded_at: Recorded = None,
    evidence_until: Until = None,
    as_json: Json = False,
) -> None:
    """Show when a slot changed and why: the rule, and the words that say so."""
    variables = {
        **times(at, recorded_at, evidence_until),
        "subject": {"name": subject},
        "predicate": checked_predicate(predicate),
        "qualifier": qualifier,
        "from": instant_of("--from", since),
        "to": instant_of("--to", until),
    }
    with reading_link(data, namespace) as link:
        found = link.execute(documents.WHY, variables)["asOf"]
        rows = found["whyChanged"]
        if not rows:
            why_nothing(link, subjects=[subject], predicates=[predicate])
    body = [line for row in rows for line in rendering.boundary(row)] or ["  nothing changed"]
    title = f"{subject} {checked_predicate(predicate)} {qualifier}".rstrip()
    show({"basis": found["basis"], "boundaries": rows}, as_json, [title, rendering.basis(found["basis"])], body)


def stale(
    about: Annotated[str | None, typer.Argument(metavar="[SUBJECT]", help="A person or thing; default: everything.")] = None,
    predicate: Predicate = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    data: Data = None,
    at: At = None,
    recorded_at: Recorded = None,
    evidence_until: Until = None,
    first: First = 50,
    as_json: Json = False,
) -> None:
    """List what still counts and nobody has attested for long, longest first."""
    from api.cli.drift_tables import stale as table

    basis, rows, rest = _listed(documents.STALE, about, predicate, namespace, data, times(at, recorded_at, evidence_until), first)
    body = table(rows, basis["validAt"]) if rows else ["  nothing is stale"]
    show({"basis": basis, "statements": rows}, as_json, [rendering.basis(basis)], body, rest)


def contested(
    about: Annotated[str | None, typer.Argument(metavar="[SUBJECT]", help="A person or thing; default: everything.")] = None,
    predicate: Predicate = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    data: Data = None,
    at: At = None,
    recorded_at: Recorded = None,
    evidence_until: Until = None,
    first: First = 50,
    as_json: Json = False,
) -> None:
    """List what other evidence disagrees with."""
    from api.cli.drift_tables import contested as table

    basis, rows, rest = _listed(documents.CONTESTED, about, predicate, namespace, data, times(at, recorded_at, evidence_until), first)
    body = table(rows) if rows else ["  nothing is contested"]
    show({"basis": basis, "statements": rows}, as_json, [rendering.basis(basis)], body, rest)


def _listed(
    document: str, about: str | None, predicate: str | None, namespace: str, data: Data, asked: Mapping[str, Any], first: int
) -> tuple[Mapping[str, Any], list[Mapping[str, Any]], list[str]]:
    """The basis, the statements, and what is said where there are more."""
    with reading_link(data, namespace) as link:
        found = link.execute(document, {**asked, "filter": chosen(link, about, predicate), "first": first})["asOf"]
        rows = [edge["node"] for edge in found["found"]["edges"]]
        if not rows:
            why_nothing(link, predicates=[predicate])
    return found["basis"], rows, more(found["found"], first)

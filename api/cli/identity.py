"""Commands that take something back, or say who is who."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer

from api.cli import documents, rendering
from api.cli.names import key_named
from api.cli.options import Data, Json, Namespace, Reason, payload, reading_link, show
from ontology.names import DEFAULT_NAMESPACE

Claims = Annotated[list[str], typer.Argument(metavar="CLAIM...", help="IDs as `erstwhile claims` shows them.")]


def retract(
    source: str,
    external_id: str,
    reason: Reason = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Withdraw an episode: it is no longer evidence, and what it had ended lives again."""
    with reading_link(data, namespace) as link:
        variables = {"ref": {"source": source, "externalId": external_id}, "reason": reason}
        result = payload(link, documents.RETRACT, variables, "retractEpisode")
    body = [line for row in result["restored"] for line in rendering.statement(row)]
    restored = [f"{len(result['restored'])} statements live again:"] if body else []
    show(result, as_json, [f"withdrawn in transaction {result['transaction']}"], restored, body)


def reject(
    claims: Claims,
    reason: Annotated[str, typer.Option(help="Why they are wrong, for the record.")],
    namespace: Namespace = DEFAULT_NAMESPACE,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Declare claims wrong: they are no longer evidence, also when their text is read again."""
    with reading_link(data, namespace) as link:
        result = payload(link, documents.REJECT, {"ids": claims, "reason": reason}, "rejectClaims")
    show(result, as_json, [f"{_counted(result['claims'])} rejected in transaction {result['transaction']}"], rendering.effect(result))


def restore(
    claims: Claims, reason: Reason = None, namespace: Namespace = DEFAULT_NAMESPACE, data: Data = None, as_json: Json = False
) -> None:
    """Take rejections back."""
    with reading_link(data, namespace) as link:
        result = payload(link, documents.RESTORE, {"ids": claims, "reason": reason}, "restoreClaims")
    show(result, as_json, [f"{_counted(result['claims'])} restored in transaction {result['transaction']}"], rendering.effect(result))


def merge(
    names: Annotated[list[str], typer.Argument(metavar="NAME NAME...", help="Names of one person or thing.")],
    reason: Reason = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """State that names denote one entity. `erstwhile reject` takes the join back."""
    with reading_link(data, namespace) as link:
        ids = [key_named(link, name) for name in names]
        result = payload(link, documents.MERGE, {"ids": ids, "reason": reason}, "mergeEntities")
    also = ", ".join(result["entity"]["aliases"])
    title = f"joined in transaction {result['transaction']}: {rendering.named(result['entity'])}" + (f" (also {also})" if also else "")
    show(result, as_json, [title], _taken_back(result), rendering.effect(result))


def split(
    name: Annotated[str, typer.Argument(help="The name that two share.")],
    discriminator: Annotated[str, typer.Option("--as", help="What tells the other one apart, such as 'of Globex'.")],
    group: Annotated[list[str] | None, typer.Option("--group", help="A conversation that speaks of the other one.")] = None,
    source: Annotated[list[str] | None, typer.Option("--source", help="A source that speaks of the other one.")] = None,
    only: Annotated[bool, typer.Option("--only", help="Split off this name alone, not the other names of the same one.")] = False,
    reason: Reason = None,
    namespace: Namespace = DEFAULT_NAMESPACE,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """State that some conversations speak of another one of the same name. `erstwhile reject` takes it back."""
    with reading_link(data, namespace) as link:
        variables: dict[str, Any] = {"id": key_named(link, name), "groups": group or [], "sources": source or []}
        variables |= {"discriminator": discriminator, "reason": reason, "name": name if only else None}
        result = payload(link, documents.SPLIT, variables, "splitEntity")
    title = f"split in transaction {result['transaction']}: {rendering.named(result['entity'])}"
    show(result, as_json, [title], _taken_back(result), rendering.effect(result))


def _counted(claims: Sequence[str]) -> str:
    return f"{len(claims)} claim" + ("" if len(claims) == 1 else "s")


def _taken_back(result: dict[str, Any]) -> list[str]:
    return [f"  taken back by: erstwhile reject {' '.join(result['claims'])} --reason ..."] if result["claims"] else []

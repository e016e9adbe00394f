"""Commands about episodes that the threat scan holds back: a person looks at them, and lets them through or not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import typer

from api.cli import documents, rendering
from api.cli.options import Data, First, Json, Namespace, more, payload, reading_link, show
from api.cli.rendering import Node
from api.identity import Kind, ObjectId, decode_id, encode_id
from ontology.errors import NotFound
from ontology.names import DEFAULT_NAMESPACE

app = typer.Typer(help="Episodes that are held back: list, show, release.")
Episode = Annotated[str, typer.Argument(metavar="EPISODE", help="As the list names it.")]


@app.callback(invoke_without_command=True)
def listed(
    context: typer.Context,
    first: First = 20,
    namespace: Namespace = DEFAULT_NAMESPACE,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """List the episodes that are held back, newest first, with their flags and first words. What is not seen is shown as <U+XXXX>."""
    if context.invoked_subcommand is not None:
        return
    from api.cli.tables import held_back

    with reading_link(data, namespace) as link:
        found = link.execute(documents.QUARANTINED, {"first": first})["asOf"]["episodes"]
    nodes = [edge["node"] for edge in found["edges"]]
    show(nodes, as_json, held_back(nodes) if nodes else ["nothing is held back"], more(found, first), ascii=True)


@app.command("show")
def show_one(episode: Episode, namespace: Namespace = DEFAULT_NAMESPACE, data: Data = None, as_json: Json = False) -> None:
    """Show the whole text of an episode, with all that is not seen made visible."""
    id = episode if decode_id(episode) else encode_id(ObjectId(Kind.EPISODE, episode))
    with reading_link(data, namespace) as link:
        found = link.execute(documents.EPISODE, {"id": id})["node"]
    if not found:
        raise NotFound(f"there is no episode {episode!r} in this namespace", id=episode)
    show(found, as_json, _whole(found), ascii=True)


def _whole(node: Node) -> Iterator[str]:
    yield f"{node['key']}  {node['status']}  flags: {rendering.escaped(', '.join(node['flags'])) or 'none'}"
    told = (f"{name} {node[key]}" for name, key in (("id", "externalId"), ("group", "group"), ("speaker", "speaker")) if node[key])
    yield rendering.escaped("  ".join([node["source"], *told, f"said {node['saidAt']}"]))
    yield ""
    yield rendering.escaped(node["content"] or "", lines=True)


@app.command("release")
def release(
    episode: Episode,
    reason: Annotated[str, typer.Option(help="Why it may pass, for the record.")],
    namespace: Namespace = DEFAULT_NAMESPACE,
    data: Data = None,
    as_json: Json = False,
) -> None:
    """Let an episode through: it is extracted, and what it says counts from now on."""
    with reading_link(data, namespace) as link:
        result = payload(link, documents.RELEASE, {"id": episode, "reason": reason}, "releaseEpisode")
    status = result["episode"]["status"] if result["episode"] else "PENDING"
    later = "" if status == "EXTRACTED" else f"; it is {status}"
    body = [line for row in result["restored"] for line in rendering.statement(row)]
    title = [f"statements that begin to hold: {len(result['restored'])}"] if body else []
    show(result, as_json, [f"released in transaction {result['transaction']}{later}"], title, body)

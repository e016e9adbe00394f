"""Commands that take something back, or say who is who."""

from __future__ import annotations

from api.cli import documents, rendering
from api.cli.options import Data, Json, Namespace, Reason, payload, reading_link, show
from ontology.names import DEFAULT_NAMESPACE


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

"""`erstwhile preview`: words or a file as inputs, and a dry run in lines."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from api.cli import rendering
from api.cli.importing import episode_input, one_meeting, read_options
from workers.readers.options import DateOrder

SOURCE = "preview"
Node = Mapping[str, Any]


def inputs(
    file: Path | None,
    text: str,
    stated: Mapping[str, str | None],
    speakers: Path | None,
    *,
    date_order: DateOrder | None = None,
    start: str | None = None,
) -> Iterator[dict[str, Any]]:
    """Each message as `EpisodeInput`: of the file, else the words themselves with what is stated of them."""
    if file is None:
        yield {"content": text, "source": SOURCE, **{name: value for name, value in stated.items() if value is not None}}
        return
    # Loaded here: words need no readers.
    from api.cli.transcripts import drafts_of

    one_meeting([file], start)
    options = read_options(speakers, speaker=stated["speaker"], time_zone=stated["timeZone"], date_order=date_order, start=start)
    yield from (episode_input(draft) for draft in drafts_of(file, options))


def preview_lines(found: Node, *, dropped: bool, brief: bool) -> Iterator[str]:
    """A dry run for people; `brief`: nothing of a message that would do nothing."""
    if brief and not found["claims"] and not found["flags"]:
        return
    yield f"{rendering.shortened(found['content'])}"
    if found["flags"]:
        yield f"  found by the scan: {', '.join(found['flags'])}"
    if not found["claims"]:
        yield "  nothing would be noted"
    for claim in found["claims"]:
        yield f"  {rendering.reading(claim)}   ({rendering.sureness(claim)})"
        yield f'      "{rendering.shortened(claim["quote"])}"'
    for sign, part in (("+", "asserted"), ("-", "invalidated")):
        for node in found[part]:
            why = f"  ({node['reason']} by rule {node['rule']})" if node["reason"] else ""
            yield f"  {sign} {_statement(node)}   {rendering.period(node)}{why}"
    for piece in found["dropped"] if dropped else ():
        yield f'  left out ({rendering.printable(piece["reason"])}): "{rendering.shortened(piece["text"], 80)}"'


def _statement(node: Node) -> str:
    relation = node["predicate"] + (f" [{node['qualifier']}]" if node["qualifier"] else "")
    return rendering.printable(f"{node['subject']} | {'' if node['polarity'] else 'NOT '}{relation} | {node['object']}")


def totals(found: Sequence[Node]) -> Iterator[str]:
    """Counts at the end."""
    claims = [claim for each in found for claim in each["claims"]]
    candidates = sum(claim["candidate"] for claim in claims)
    yield f"messages {len(found)}  claims {len(claims)}  of these candidates {candidates}  (nothing was stored)"

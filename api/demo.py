"""A short tour of what can be asked: `python -m api.demo`. Reads `examples/` into a folder of its own, which it removes after."""

from __future__ import annotations

import asyncio
import textwrap
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from api.cli import documents, rendering
from api.cli.link import LocalLink
from api.cli.tables import hits
from api.cli.vectors import finish
from api.folder import owned
from api.settings import Settings
from api.wiring import open_service
from graph.recall.embedding.choosing import EmbedderSettings
from workers.bulk import import_drafts
from workers.readers import ReadOptions, ReadReport, read_path
from workers.sink import LocalSink

EXAMPLES = Path(__file__).parents[1] / "examples"
NAMESPACE = "default"
WIDTH = 100
MORNING = "2024-06-05T00:00:00Z"

REDACTED = """query Redacted { asOf { episodes(source: "claude-code", first: 100) { edges { node { content speaker saidAt } } } } }"""


def main() -> None:
    """Ingest, ask, say how to go on."""
    # The user's own settings and data stay out of it, whatever the environment says.
    with TemporaryDirectory(prefix="erstwhile-demo-") as name:
        settings = Settings(data=Path(name), ontology=None, graph_engine="kuzu", extraction_workers=2, qdrant_url=None)
        with owned(settings.data), asyncio.Runner() as runner:
            service = open_service(settings, embedder=EmbedderSettings(embedder="minilm"))
            try:
                link = LocalLink(service, runner, NAMESPACE)
                _read(link)
                _tour(link)
            finally:
                service.close()
    _onward()


def _read(link: LocalLink) -> None:
    _title("Reading examples/: two friends over two years, and six coding sessions of a billing service")
    began, report, service = time.monotonic(), ReadReport(), link.service
    if service.embedding is not None:
        service.embedding.start()
    items = read_path(EXAMPLES, ReadOptions(speaker="Maya", include_artifacts=False), report)
    tally = import_drafts(items, LocalSink(service.graph, service.ingestion, service.ingestion.pool, NAMESPACE), threads=3, progress=None)
    stats, seconds = link.execute(documents.STATUS)["stats"], time.monotonic() - began
    _show(
        [
            f"  {tally.accepted} messages in {seconds:.0f} s: {stats['statements']} statements about {stats['entities']} people and things",
            f"  passed over: {sum(report.skipped.values())} records that are no speech (tool calls, summaries, side threads)",
        ]
    )


def _tour(link: LocalLink) -> None:
    _title("What was true of Lena in June 2023, and in June 2024?")
    for day in ("2023-06-01", "2024-06-01"):
        found = link.execute(documents.ABOUT, {"validAt": f"{day}T00:00:00Z", "name": "Lena", "first": 20})["asOf"]
        _show([f"  on {day}"])
        _show(
            f"    {rendering.predicate(node):<9} {rendering.value(node)}"
            for node in sorted(_nodes(found["entity"]["statements"]), key=rendering.predicate)
            if node["polarity"] and node["predicate"]["name"] in ("lives_in", "works_at", "has_role", "diet")
        )

    _title("Where has Lena lived?                                     erstwhile timeline Lena lives_in")
    slot = link.execute(documents.TIMELINE, {"subject": {"name": "Lena"}, "predicate": "lives_in"})["asOf"]["timeline"]
    _show(rendering.segments(slot))

    _title("What changed about her food, when, and who says so?           erstwhile timeline Lena diet")
    slot = link.execute(documents.TIMELINE, {"subject": {"name": "Lena"}, "predicate": "diet"})["asOf"]["timeline"]
    ended = next(node for segment in slot["segments"] for node in segment["statements"] if node["invalidation"])
    _show([f"  {rendering.value(ended)} until {ended['validTime']['to']}", *rendering.ending(ended)])

    _title("Were Lena and Jonas a couple on 5 June 2024?   erstwhile ask Lena partner_of Jonas --at 2024-06-05")
    asked = {"subject": {"name": "Lena"}, "predicate": "partner_of", "object": {"name": "Jonas"}, "validAt": MORNING}
    for until, words in (
        (MORNING, "by what had been said until that day (--evidence-until 2024-06-05)"),
        (None, "by all that was said"),
    ):
        answer = link.execute(documents.ASK, {**asked, "evidenceUntil": until})["asOf"]["ask"]
        _show([f"  {answer['value'].lower()}, {words}"])
        _show(line for node in answer["statements"] for line in rendering.sources(node))

    _title('Questions in words: what bears on them?        erstwhile recall "does anybody keep animals?" --first 2')
    finish(link.service)
    for question in ("does anybody keep animals?", "which database does the billing service use?"):
        _show([f"  {question}"])
        _show(f"  {line}" for line in hits(link.execute(documents.RECALL, {"query": question, "first": 2})["asOf"]["recall"]["edges"]))

    _title("A secret that somebody pasted was taken out before anything was stored")
    _show(
        line
        for node in _nodes(link.execute(REDACTED)["asOf"]["episodes"])
        if "[REDACTED:" in node["content"]
        for line in textwrap.wrap(
            f'"{node["content"]}" - {node["speaker"]}, {node["saidAt"][:10]}', WIDTH, initial_indent="  ", subsequent_indent="   "
        )
    )


def _onward() -> None:
    _title("Go on")
    _show(
        [
            "  .venv/bin/erstwhile ingest examples --speaker Maya     read it into a folder that stays; or any transcripts of yours",
            "  .venv/bin/erstwhile as-of 'last March' Lena            ask; `erstwhile --help` lists the commands",
            "  make serve                                             GraphQL on http://127.0.0.1:8000/graphql",
        ]
    )


def _nodes(connection: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    return [edge["node"] for edge in connection["edges"]]


def _title(text: str) -> None:
    print(f"\n{text}\n{'-' * WIDTH}", flush=True)


def _show(lines: Iterable[str]) -> None:
    for line in lines:
        print(line, flush=True)


if __name__ == "__main__":
    main()

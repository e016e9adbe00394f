"""`python -m benchmarks.ingest`: how fast facts and transcripts go in, beside a plain table and bare spaCy in the same run."""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path

from api.settings import Settings
from api.wiring import open_service, rest_the_collector
from benchmarks.facts import batched, facts, record
from benchmarks.measuring import machine, table
from benchmarks.plain import PlainTable
from extraction.extractor import SpacyExtractor
from graph.opening import open_graph
from ontology.episode import EpisodeDraft, Turn
from ontology.instant import DAY
from ontology.loading import load_vocabulary
from workers.bulk import import_drafts
from workers.readers import read_path
from workers.sink import LocalSink

EXAMPLES = Path(__file__).parents[1] / "examples"


def seconds(call: Callable[[], object]) -> float:
    """How long a call takes."""
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def structured(folder: Path, batch_facts: int, single_facts: int) -> list[tuple[str, str, str]]:
    """Facts through the facade in batches of 1,000 and one by one, and the graph that follows."""
    graph = open_graph(folder / "data", load_vocabulary())
    plain = PlainTable(folder / "plain.db")
    batches = list(batched(batch_facts, 1000))
    last = 0
    start = time.perf_counter()
    for number, batch in enumerate(batches):
        last = record(graph, "batches", batch, f"batch {number}")
    ledger = time.perf_counter() - start
    graph.await_transaction(last, timeout=600)
    caught_up = time.perf_counter() - start
    baseline = seconds(lambda: plain.record_each(batches))
    singles = list(facts(single_facts))
    one_by_one = seconds(lambda: [record(graph, "singles", [fact], f"single {number}") for number, fact in enumerate(singles)])
    plain_singles = PlainTable(folder / "plain-singles.db")
    baseline_singles = seconds(lambda: plain_singles.record_each([fact] for fact in singles))
    graph.close()
    return [
        (f"facts, batches of 1,000 ({batch_facts:,})", f"{batch_facts / ledger:,.0f}/s", f"{batch_facts / baseline:,.0f}/s"),
        ("  the graph caught up within", f"{caught_up / ledger:.2f} x that time", ""),
        (
            f"facts, one durable commit each ({single_facts:,})",
            f"{single_facts / one_by_one:,.0f}/s",
            f"{single_facts / baseline_singles:,.0f}/s",
        ),
    ]


def drafts_of(path: Path, wanted: int) -> list[EpisodeDraft]:
    """At least `wanted` turns: those of a transcript, told again under other IDs until there are enough."""
    found = [item for item in read_path(path) if isinstance(item, EpisodeDraft)]
    copies = -(-wanted // len(found))
    return [
        EpisodeDraft(d.content, d.source, f"{copy}/{d.external_id}", d.group, d.speaker, d.addressee, d.said_at, project=d.project)
        for copy in range(copies)
        for d in found
    ]


def extracted(folder: Path, drafts: Sequence[EpisodeDraft], workers: int) -> tuple[str, str, str]:
    """Transcripts through the whole embedded path, processes already warm."""
    service = open_service(Settings(data=folder / f"turns-{workers}", graph_engine="sql", extraction_workers=workers))
    try:
        sink = partial(LocalSink, service.graph, service.ingestion, service.ingestion.pool)
        import_drafts(drafts[: 64 * workers], sink("warm-up"), threads=workers + 1)
        took = seconds(lambda: import_drafts(drafts, sink("turns"), threads=workers + 1))
    finally:
        service.close()
    return f"turns, extracted and committed, {workers} processes ({len(drafts):,})", f"{len(drafts) / took:,.0f}/s", ""


def words(drafts: Sequence[EpisodeDraft]) -> tuple[str, str, str]:
    """Words a second in one process: the extractor, and the model alone on the same texts."""
    turns = [Turn(str(place), draft.content, 20_000 * DAY, draft.speaker, draft.addressee) for place, draft in enumerate(drafts)]
    extractor = SpacyExtractor(load_vocabulary())
    extractor.extract(turns[:64])
    count = sum(len(turn.text.split()) for turn in turns)
    bare = seconds(lambda: list(extractor.model.pipe((turn.text for turn in turns), batch_size=64)))
    ours = seconds(lambda: extractor.extract(turns))
    return f"words, one process ({count:,})", f"{count / ours:,.0f}/s ({bare / ours:.2f} of bare spaCy)", f"{count / bare:,.0f}/s"


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--facts", type=int, default=20_000)
    parser.add_argument("--singles", type=int, default=1_000)
    parser.add_argument("--turns", type=int, default=2_000)
    parser.add_argument("--transcripts", type=Path, default=EXAMPLES, help="what the turns are taken from")
    options = parser.parse_args()
    if not options.transcripts.exists():
        parser.error(f"there are no transcripts at {options.transcripts}; name a file or folder with --transcripts")
    print(machine())
    rest_the_collector()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        rows = structured(folder, options.facts, options.singles)
        drafts = drafts_of(options.transcripts, options.turns)
        rows += [extracted(folder, drafts, workers) for workers in (1, 2)]
        rows.append(words(drafts))
    print(table(("what", "Erstwhile", "plain SQLite table / bare spaCy"), rows))


if __name__ == "__main__":
    main()

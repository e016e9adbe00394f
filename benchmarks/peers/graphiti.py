"""Graphiti on Kuzu: nodes and edges through its own bulk writer, its own hybrid search. No LLM and no cross-encoder.

What its ingestion does beside (extracting, finding duplicates and contradictions) is asked of an LLM, and not measured here.
"""

from __future__ import annotations

import asyncio
import os
import sys
import warnings
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.peers.common import (
    BATCH,
    DIM,
    TOP,
    Fact,
    Measured,
    Searched,
    batches,
    facts,
    measured,
    now,
    numbers,
    offline,
    report,
    searched,
    since,
)

GROUP = "benchmark"


def opened(folder: Path) -> Any:
    """A Graphiti over a Kuzu file."""
    from graphiti_core import Graphiti
    from graphiti_core.cross_encoder.client import CrossEncoderClient
    from graphiti_core.driver.kuzu_driver import KuzuDriver
    from graphiti_core.embedder.client import EmbedderClient
    from graphiti_core.llm_client.client import LLMClient

    class Hashing(EmbedderClient):
        async def create(self, input_data: Any) -> list[float]:
            return numbers(input_data if isinstance(input_data, str) else input_data[0])

        async def create_batch(self, input_data_list: list[str]) -> list[list[float]]:
            return [numbers(text) for text in input_data_list]

    class NoModel(LLMClient):
        async def _generate_response(self, *_arguments: Any, **_options: Any) -> dict[str, Any]:
            raise AssertionError("no LLM is part of this")

    class NoEncoder(CrossEncoderClient):
        async def rank(self, query: str, passages: list[str]) -> list[tuple[str, float]]:
            raise AssertionError("no cross-encoder is part of this")

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        driver = KuzuDriver(str(folder / "graphiti.kuzu"))
    return Graphiti(graph_driver=driver, llm_client=NoModel(None), embedder=Hashing(), cross_encoder=NoEncoder())


class Writer:
    """Turns facts into Graphiti's nodes and edges: an episode for each batch, an entity for each name when it first comes."""

    def __init__(self, graphiti: Any) -> None:
        self._graphiti = graphiti
        self._entities: dict[str, Any] = {}

    async def write(self, batch: Sequence[Fact]) -> None:
        """One call of the bulk writer."""
        from graphiti_core.edges import EntityEdge, EpisodicEdge
        from graphiti_core.nodes import EntityNode, EpisodeType, EpisodicNode
        from graphiti_core.utils.bulk_utils import add_nodes_and_edges_bulk

        said = batch[-1].said
        common = {"group_id": GROUP, "created_at": said}
        names = dict.fromkeys(name for fact in batch for name in (fact.subject, fact.object))
        new = {name: EntityNode(name=name, labels=["Entity"], summary="", **common) for name in names if name not in self._entities}
        self._entities |= new
        content = "\n".join(fact.sentence for fact in batch)
        episode = EpisodicNode(
            name="facts", source=EpisodeType.text, source_description="benchmark", content=content, valid_at=said, **common
        )
        edges = [
            EntityEdge(
                source_node_uuid=self._entities[fact.subject].uuid,
                target_node_uuid=self._entities[fact.object].uuid,
                name=fact.predicate.upper(),
                fact=fact.sentence,
                episodes=[episode.uuid],
                valid_at=fact.said,
                **common,
            )
            for fact in batch
        ]
        episode.entity_edges = [edge.uuid for edge in edges]
        mentions = [EpisodicEdge(source_node_uuid=episode.uuid, target_node_uuid=self._entities[name].uuid, **common) for name in names]
        await add_nodes_and_edges_bulk(self._graphiti.driver, [episode], mentions, list(new.values()), edges, self._graphiti.embedder)


async def measure(folder: Path, size: int, indexed_first: bool) -> Measured:
    """Written in batches of a size, then searched. The indexes of words are made before or after writing, and kept up by Kuzu."""
    graphiti = opened(folder)

    async def index() -> None:
        # Kuzu's driver makes them here alone; `Graphiti.build_indices_and_constraints` makes none.
        await graphiti.driver.graph_ops.build_indices_and_constraints(graphiti.driver)

    if indexed_first:
        await index()
    all_facts = facts()
    writer = Writer(graphiti)
    started = now()
    for batch in batches(all_facts, size):
        await writer.write(batch)
    if not indexed_first:
        await index()
    taken = since(started)
    searches = await _searched(graphiti, all_facts)
    name = "Graphiti on Kuzu, one by one" if size == 1 else f"Graphiti on Kuzu, batches of {size}"
    name += "" if indexed_first else ", words indexed last"
    note = "without what its ingestion asks of an LLM"
    return measured(name, version("graphiti-core"), taken, len(all_facts), note, searches)


async def _searched(graphiti: Any, all_facts: Sequence[Fact]) -> Searched:
    loop = asyncio.get_running_loop()

    def search(question: str) -> list[str]:
        asking = asyncio.run_coroutine_threadsafe(graphiti.search(question, group_ids=[GROUP], num_results=TOP), loop)
        return [edge.fact for edge in asking.result()]

    return await asyncio.to_thread(searched, all_facts, search)


def main() -> None:
    """Measure and report."""
    os.environ |= {"GRAPHITI_TELEMETRY_ENABLED": "false", "EMBEDDING_DIM": str(DIM)}
    offline()
    rows = []
    for size, indexed_first in ((1, True), (BATCH, True), (BATCH, False)):
        with TemporaryDirectory() as name:
            rows.append(asyncio.run(measure(Path(name), size, indexed_first)))
    report(Path(sys.argv[1]), rows)


if __name__ == "__main__":
    main()

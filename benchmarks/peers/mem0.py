"""mem0: `Memory.add(..., infer=False)`, each sentence a memory, with its local Qdrant. No LLM, and no extras installed."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from benchmarks.peers.common import DIM, TOP, facts, measured, now, numbers, offline, report, searched, since

USER = "benchmark"


def opened(folder: Path) -> Any:
    """A Memory whose files lie in a folder."""
    # Read when the package is imported.
    os.environ["MEM0_DIR"] = str(folder / "mem0")
    from mem0 import Memory
    from mem0.embeddings.base import EmbeddingBase

    class Hashing(EmbeddingBase):
        def embed(self, text: str, memory_action: str | None = None) -> list[float]:
            return numbers(text)

        def embed_batch(self, texts: Sequence[str], memory_action: str = "add") -> list[list[float]]:
            return [numbers(text) for text in texts]

    # Neither client of OpenAI is ever called: one embeds no more, the other is for `infer=True`.
    unused = {"provider": "openai", "config": {"api_key": "unused"}}
    store = {"path": str(folder / "qdrant"), "embedding_model_dims": DIM, "on_disk": True}
    memory = Memory.from_config(
        {
            "vector_store": {"provider": "qdrant", "config": store},
            "embedder": unused,
            "llm": unused,
            "history_db_path": str(folder / "history.db"),
        }
    )
    memory.embedding_model = Hashing()
    return memory


def main() -> None:
    """Measure and report."""
    os.environ["MEM0_TELEMETRY"] = "false"
    offline()
    all_facts = facts()
    with TemporaryDirectory() as name:
        memory = opened(Path(name))
        started = now()
        for fact in all_facts:
            memory.add(fact.sentence, user_id=USER, metadata={"said_at": fact.said.isoformat()}, infer=False)
        taken = since(started)

        def search(question: str) -> list[str]:
            found = memory.search(question, top_k=TOP, filters={"user_id": USER})
            return [item["memory"] for item in found["results"]]

        note = "vectors only: words need extras that fetch a model"
        report(
            Path(sys.argv[1]), [measured("mem0, one by one", version("mem0ai"), taken, len(all_facts), note, searched(all_facts, search))]
        )


if __name__ == "__main__":
    main()

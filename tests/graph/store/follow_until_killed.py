"""Run in a process of its own, to be killed: follows a ledger into a graph for ever, beginning again when it is done.

Arguments: the ledger's file, the graph's folder, rows from which COPY is used. Prints a line for every batch.
"""

from __future__ import annotations

import sys
from pathlib import Path

from sqlalchemy import create_engine

from graph.store.feed import Feed
from graph.store.files import GraphFiles
from graph.store.kuzu_engine import KuzuStore
from tests.graph.store.conftest import ENGINE, SETTINGS
from tests.graph.store.ledgers import vocabulary_at


def main(ledger: str, folder: str, copy_from: int) -> None:
    """Follow; after the end, set the graph aside and begin again."""
    feed = Feed(create_engine(f"sqlite:///{ledger}"), vocabulary_at, batch_rows=4)
    files = GraphFiles(Path(folder), ENGINE)
    settings = SETTINGS.model_copy(update={"copy_from": copy_from, "checkpoint_rows": 25})
    while True:
        store = KuzuStore(files.live, feed.keys, settings)
        for batch in feed.batches(store.watermark()):
            store.apply(batch)
            sys.stdout.write(f"{batch.upto}\n")
            sys.stdout.flush()
        store.close()
        files.set_aside()


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]))

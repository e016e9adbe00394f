"""A worker in a process of its own, with the small extractor: `python -m tests.workers.broker.process QUEUES PROCESSES`."""

from __future__ import annotations

import logging
import sys

from ontology.vocabulary import Vocabulary
from tests.workers.extracting import TripleExtractor
from workers.broker.settings import BrokerSettings
from workers.broker.worker import work


def extractor(vocabulary: Vocabulary) -> TripleExtractor:
    """It reads no vocabulary."""
    return TripleExtractor()


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(process)d %(name)s: %(message)s")
    sys.exit(work(BrokerSettings(), sys.argv[1].split(","), extractor, processes=int(sys.argv[2])))

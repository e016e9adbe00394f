"""What the extraction pool's processes make: a module of its own, since each of them imports it and nothing else of the service."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ontology.vocabulary import Vocabulary

if TYPE_CHECKING:
    from extraction.extractor import Extractor


def spacy_extractor(vocabulary: Vocabulary) -> Extractor:
    """The extractor of a worker process."""
    # Loaded here: the process that opens the service names this function, and parses nothing.
    from extraction.extractor import SpacyExtractor

    return SpacyExtractor(vocabulary)

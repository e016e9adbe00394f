"""What the extraction pool's processes make: a module of its own, since each of them imports it and nothing else of the service."""

from __future__ import annotations

from extraction.extractor import Extractor, SpacyExtractor
from ontology.vocabulary import Vocabulary


def spacy_extractor(vocabulary: Vocabulary) -> Extractor:
    """The extractor of a worker process."""
    return SpacyExtractor(vocabulary)

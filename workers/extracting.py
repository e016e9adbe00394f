"""What the extraction pool's processes make: a module of its own, since each of them imports it and nothing else of the service."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ontology.vocabulary import Vocabulary

if TYPE_CHECKING:
    from spacy.language import Language

    from extraction.extractor import Extractor


def spacy_extractor(vocabulary: Vocabulary) -> Extractor:
    """The extractor of a worker process."""
    # Loaded here: the process that opens the service names this function, and parses nothing.
    from extraction.extractor import SpacyExtractor

    return SpacyExtractor(vocabulary)


class SpacyExtractors:
    """Makes extractors of any vocabulary, for a worker whose tasks name theirs. They share one parser, which `warm` loads."""

    def __init__(self) -> None:
        """Loads nothing: a worker makes this before it forks. Raises ModelMissing."""
        from extraction.model import check_model

        check_model()
        self._model: Language | None = None

    def warm(self) -> None:
        """Load the parser, in the process that is to use it."""
        from extraction.model import load_model

        self._model = load_model()

    def __call__(self, vocabulary: Vocabulary) -> Extractor:
        """The extractor of a vocabulary."""
        from extraction.extractor import SpacyExtractor

        return SpacyExtractor(vocabulary, self._model)

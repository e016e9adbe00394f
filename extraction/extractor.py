"""Extractors: from turns to claims. Everything after them is deterministic, whatever they are."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from threading import Lock
from typing import TYPE_CHECKING, Protocol

from extraction.about import with_subjects
from extraction.matching import Patterns
from extraction.model import load_model
from extraction.passage import Passage, passages
from extraction.recording import Examined
from extraction.segmentation import speech_spans
from extraction.turns import examined
from ontology.claim import ClaimDraft
from ontology.episode import Turn
from ontology.vocabulary import Vocabulary

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

BATCH = 128
"""Passages that are parsed together."""


class Extractor(Protocol):
    """What finds claims in text. `id` names it and its version; re-extraction compares it."""

    id: str

    def extract(self, turns: Sequence[Turn]) -> list[list[ClaimDraft]]:
        """The claims of each turn, in the order of the turns; each list in the order of its text."""
        ...


class SpacyExtractor:
    """The default extractor: spaCy's small English model and the vocabulary's patterns.

    The model is loaded when first needed, or handed in. Raises ModelMissing where none is installed.
    """

    def __init__(self, vocabulary: Vocabulary, model: Language | None = None) -> None:
        self._vocabulary = vocabulary
        self._patterns = Patterns(vocabulary)
        self._model = model
        self._loading = Lock()
        self.id = f"spacy-sm-2/{vocabulary.version}"

    @property
    def model(self) -> Language:
        """The parser."""
        with self._loading:
            if self._model is None:
                self._model = load_model()
        return self._model

    def extract(self, turns: Sequence[Turn]) -> list[list[ClaimDraft]]:
        """The claims of each turn."""
        return [found.claims for found in self.examine(turns)]

    def examine(self, turns: Sequence[Turn]) -> list[Examined]:
        """The claims of each turn, with what was dropped and why."""
        pieces = [list(passages(turn.text, speech_spans(turn.text))) for turn in turns]
        if any(turn.about for turn in turns):
            pieces = with_subjects(turns, pieces, self.model)
        docs = self.model.pipe((piece.text for pieces_ in pieces for piece in pieces_), batch_size=BATCH)
        return [
            examined(turn, self._vocabulary, self._patterns, _paired(of_turn, docs)) for turn, of_turn in zip(turns, pieces, strict=True)
        ]


def _paired(pieces: list[Passage], docs: Iterator[Doc]) -> Iterator[tuple[Passage, Doc]]:
    for piece in pieces:
        yield piece, next(docs)

"""`erstwhile extract`: what extraction would find in a file, with nothing stored."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from api.cli.transcripts import turns_of
from extraction.extractor import SpacyExtractor
from extraction.hygiene import Hygiene
from extraction.rows import claim_row
from ontology.claim import CANDIDATE_BELOW, Modality
from ontology.vocabulary import Vocabulary
from workers.readers import ReadOptions

BATCH = 256


def claim_rows(path: Path, vocabulary: Vocabulary, hygiene: Hygiene, options: ReadOptions, *, candidates: bool) -> Iterator[dict[str, Any]]:
    """One row for each claim of a file of turns or of any transcript; what cannot be read is said on standard error."""
    extractor, scrubber = SpacyExtractor(vocabulary), hygiene.scrubber(secrets.token_bytes(32))
    turns = iter(turns_of(path, options))
    while batch := [replace(turn, text=scrubber.scrub(turn.text).text) for turn in islice(turns, BATCH)]:
        for turn, claims in zip(batch, extractor.extract(batch), strict=True):
            for claim in claims:
                if candidates or (claim.confidence >= CANDIDATE_BELOW and claim.modality is not Modality.HYPOTHETICAL):
                    yield claim_row(turn, claim, vocabulary)

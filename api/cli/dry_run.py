"""`erstwhile extract`: what extraction would find in a file, with nothing stored."""

from __future__ import annotations

import json
import secrets
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Any

from extraction.extractor import SpacyExtractor
from extraction.rows import claim_row, turn_from_row
from extraction.scrubbing import Scrubber
from ontology.claim import CANDIDATE_BELOW, Modality
from ontology.episode import Turn
from ontology.errors import ErstwhileError
from ontology.vocabulary import Vocabulary
from workers.ingestion import said_at, turn_of
from workers.readers import ReadOptions, Rejected, read_path

BATCH = 256


def claim_rows(path: Path, vocabulary: Vocabulary, options: ReadOptions, *, candidates: bool) -> Iterator[dict[str, Any]]:
    """One row for each claim of a file of turns or of any transcript; what cannot be read is said on standard error."""
    extractor, scrubber = SpacyExtractor(vocabulary), Scrubber(secrets.token_bytes(32))
    turns = iter(_turns(path, options))
    while batch := [replace(turn, text=scrubber.scrub(turn.text).text) for turn in islice(turns, BATCH)]:
        for turn, claims in zip(batch, extractor.extract(batch), strict=True):
            for claim in claims:
                if candidates or (claim.confidence >= CANDIDATE_BELOW and claim.modality is not Modality.HYPOTHETICAL):
                    yield claim_row(turn, claim, vocabulary)


def _turns(path: Path, options: ReadOptions) -> Iterable[Turn]:
    rows = _turn_rows(path)
    if rows is not None:
        yield from (turn_from_row(row) for row in rows)
        return
    for item in read_path(path, options):
        if isinstance(item, Rejected):
            print(f"erstwhile: {item}", file=sys.stderr)
        elif item.speech:
            yield turn_of(item, said_at(item))


def _turn_rows(path: Path) -> list[dict[str, Any]] | None:
    """The rows of a file of turns (`id`, `said`, `text` on each line); None where it is something else."""
    try:
        with path.open(encoding="utf-8", newline="\n") as lines:
            rows = [json.loads(line) for line in lines if line.strip()]
    except IsADirectoryError:
        return None
    except OSError as failure:
        raise ErstwhileError(f"{path} cannot be read: {failure.strerror}") from failure
    except ValueError:
        return None
    turns = all(isinstance(row, dict) and {"id", "said", "text"} <= row.keys() for row in rows)
    return rows if rows and turns else None

"""Claims of gold files for the scorer, and the speed of extraction beside bare spaCy.

python -m benchmarks.extraction turns.jsonl ... > claims.jsonl     # claims, one a line
python -m benchmarks.extraction --speed turns.jsonl ...            # turns/s and words/s, both in one run
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from time import perf_counter

from extraction.extractor import SpacyExtractor
from extraction.rows import claim_row, turn_from_row
from ontology.claim import CANDIDATE_BELOW
from ontology.episode import Turn
from ontology.errors import ErstwhileError
from ontology.loading import load_vocabulary


def read_turns(paths: list[Path]) -> list[Turn]:
    """The turns of JSON Lines files. Ends the program with one sentence where a file is missing or a line is no turn."""
    turns = []
    for path in paths:
        if not path.is_file():
            sys.exit(f'{path} does not exist: give JSON Lines of {{"id", "speaker", "addressee", "said", "text"}}')
        for number, line in enumerate(path.read_text(encoding="utf-8").split("\n"), 1):
            if line.strip():
                try:
                    turns.append(turn_from_row(json.loads(line)))
                except (ErstwhileError, ValueError) as failure:
                    sys.exit(f"{path}, line {number}: {failure}")
    return turns


def measure(turns: list[Turn], repeat: int) -> str:
    """Words per second of extraction and of bare spaCy on the same turns, the better of three runs each."""
    extractor = SpacyExtractor(load_vocabulary())
    turns = turns * repeat
    words = sum(len(turn.text.split()) for turn in turns)
    model = extractor.model
    extractor.extract(turns[:50])
    ours = bare = float("inf")
    for _ in range(3):
        began = perf_counter()
        extractor.extract(turns)
        ours = min(ours, perf_counter() - began)
        began = perf_counter()
        for _doc in model.pipe(turn.text for turn in turns):
            pass
        bare = min(bare, perf_counter() - began)
    return (
        f"{len(turns)} turns, {words} words: extraction {len(turns) / ours:.0f} turns/s, {words / ours:.0f} words/s; "
        f"bare spaCy {words / bare:.0f} words/s; share {bare / ours:.2f}"
    )


def main() -> None:
    """Print claims, or with --speed the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path)
    parser.add_argument("--speed", action="store_true")
    parser.add_argument("--repeat", type=int, default=5, help="how often the turns are read in a speed run")
    parser.add_argument("--candidates", action="store_true", help="print claims of confidence under .5 too")
    options = parser.parse_args()
    turns = read_turns(options.paths)
    if options.speed:
        print(measure(turns, options.repeat))
        return
    vocabulary = load_vocabulary()
    for turn, claims in zip(turns, SpacyExtractor(vocabulary).extract(turns), strict=True):
        for claim in claims:
            if options.candidates or claim.confidence >= CANDIDATE_BELOW:
                print(json.dumps(claim_row(turn, claim, vocabulary), ensure_ascii=False))


if __name__ == "__main__":
    main()

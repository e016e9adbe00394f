"""`python -m benchmarks.recall --locomo FILE --beam FOLDER [--pairs FILE ...]`: how well recall finds the turns that answer a question.

R@5 and R@10 are the shares of a question's evidence turns among the first hits, MRR the mean of 1 / the place of the first one; means over
questions with their 95 % bootstrap intervals.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from benchmarks.measuring import machine, table
from benchmarks.recall.asking import BASELINE, DEFAULT, Answers, answers, opened
from benchmarks.recall.measures import row, told
from benchmarks.recall.newest import outcomes, pairs_table, updates_line
from benchmarks.recall.questions import ADVERSARIAL, Conversation, read_beam, read_locomo, read_pairs

NEEDS = {
    "locomo": "LoCoMo's JSON (a list of samples with `conversation` and `qa`; github.com/snap-research/locomo, data/locomo10.json)",
    "beam": "a folder of BEAM chats (`N/chat.json` and `N/questions.json`; github.com/mohammadtavakoli78/BEAM)",
    "pairs": 'JSON Lines of {"id", "a": {"speaker", "said", "text"}, "b": ..., "label"}; those labelled `supersedes` are taken',
}


def report(name: str, conversations: Sequence[Conversation], found: Answers) -> str:
    """The tables of one set: by arms and fusion, by kind of question, and what is gained over BM25."""
    measured = {way: [each for _, each, _ in mine] for way, mine in found.items()}
    turns = sum(len(each.turns) for each in conversations)
    kinds = sorted({question.kind for question, _, _ in found[DEFAULT]})
    groups = {kind: {kind} for kind in kinds}
    if ADVERSARIAL in kinds:
        groups[f"all but {ADVERSARIAL}"] = {*kinds} - {ADVERSARIAL}
    by_kind = []
    for group, among in groups.items():
        mine = {way: [each for question, each, _ in found[way] if question.kind in among] for way in (BASELINE, "convex", DEFAULT)}
        by_kind.append((group, len(mine[DEFAULT]), *(" / ".join(row(each, sure=False)) for each in mine.values())))
    both = list(zip(measured[DEFAULT], measured[BASELINE], strict=True))
    gains = (
        f"R@10 {told([ours.recall_10 - theirs.recall_10 for ours, theirs in both])}",
        f"MRR {told([ours.reciprocal - theirs.reciprocal for ours, theirs in both])}",
    )
    parts = [
        f"## {name}: {len(measured[DEFAULT])} questions of {len(conversations)} conversations ({turns} turns)",
        table(("arms", "R@5", "R@10", "MRR"), ((way, *row(mine)) for way, mine in measured.items())),
        f"{DEFAULT} over {BASELINE}: {', '.join(gains)}.",
        table(("R@5 / R@10 / MRR", "questions", BASELINE, "convex", DEFAULT), by_kind),
        updates_line(found),
    ]
    return "\n\n".join(part for part in parts if part)


def main() -> None:
    """Print the tables of the sets that are given."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.recall", description=__doc__)
    parser.add_argument("--locomo", type=Path, help=NEEDS["locomo"])
    parser.add_argument("--beam", type=Path, help=NEEDS["beam"])
    parser.add_argument("--pairs", type=Path, nargs="+", default=[], help=NEEDS["pairs"])
    parser.add_argument("--conversations", type=int, help="only the first so many of each set")
    parser.add_argument("--workers", type=int, default=1, help="processes that extract")
    options = parser.parse_args()
    given = [("locomo", options.locomo), ("beam", options.beam), *(("pairs", path) for path in options.pairs)]
    given = [(kind, path) for kind, path in given if path is not None]
    if not given:
        parser.error("name a set: " + "; ".join(f"--{kind}: {what}" for kind, what in NEEDS.items()))
    for kind, path in given:
        if not (path.is_dir() if kind == "beam" else path.is_file()):
            parser.error(f"{path} is not there; --{kind} needs {NEEDS[kind]}")
    print(machine(), flush=True)
    with opened(options.workers) as service:
        for kind, reader in (("locomo", read_locomo), ("beam", read_beam)):
            for path in (path for each, path in given if each == kind):
                conversations = reader(path)[: options.conversations]
                if not any(conversation.questions for conversation in conversations):
                    parser.error(f"{path} has no question with evidence; --{kind} needs {NEEDS[kind]}")
                print(f"\n{report(kind, conversations, answers(service, conversations, options.workers))}", flush=True)
        if options.pairs:
            pairs = [pair for path in options.pairs for pair in read_pairs(path)][: options.conversations]
            print(f"\n## Pairs of turns of which one supersedes the other\n\n{pairs_table(outcomes(service, pairs, options.workers))}")


if __name__ == "__main__":
    main()

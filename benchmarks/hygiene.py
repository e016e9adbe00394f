"""What hygiene does to clean text: redactions, texts held back, and the speed of both scans.

python -m benchmarks.hygiene --locomo FILE --beam FOLDER --turns FILE.jsonl ... --files FOLDER ...
python -m benchmarks.hygiene --adversarial      # a megabyte each of what should be hard

Every finding is printed with what stands round it, so that a person can judge whether it was right.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from time import process_time

from benchmarks.measuring import machine, table
from extraction.scrubbing import Scrubber
from extraction.threats import ThreatScanner

TURN = 2_000
"""Characters of a file that are read as one turn, cut at blank lines."""
SUFFIXES = frozenset(
    {".py", ".md", ".rst", ".txt", ".json", ".yaml", ".yml", ".toml", ".cfg", ".js", ".ts", ".pyi", ".h", ".c", ".cpp", ".sh"}
)
MOST_BYTES = 400_000
"""Larger files are data, not talk."""
HOSTILE = (
    "password=a1 ",
    "password: ",
    "sk-",
    "-----BEGIN PRIVATE KEY-----\n",
    "://a:b@",
    "://",
    "eyJ",
    "password is ",
    "mysql ",
    "curl -u ",
    "secret='",
    "aws secret ",
    "a.",
    "0123456789abcdef",
    "token: é",
    "[REDACTED:",
    "Server=",
    "ignore all previous ",
    "\u200b",
)
"""Beginnings of secrets and attacks, to be repeated."""
_MARK = re.compile(r"\[REDACTED:[a-z0-9-]+:[0-9a-f]{12}\]")


@dataclass
class Tally:
    """What was found in the turns of one set."""

    turns: int = 0
    size: int = 0
    redacted: int = 0
    held: int = 0
    flagged: int = 0
    scrubbing: float = 0.0
    scanning: float = 0.0
    rules: Counter[str] = field(default_factory=Counter)


def locomo(path: Path) -> Iterator[str]:
    """The turns of LoCoMo conversations."""
    for sample in json.loads(path.read_text(encoding="utf-8")):
        for session in sample["conversation"].values():
            if isinstance(session, list):
                yield from (turn["text"] for turn in session)


def beam(folder: Path) -> Iterator[str]:
    """The turns of BEAM chats, those of the assistant too."""
    for path in sorted(folder.glob("*/chat.json")):
        for batch in json.loads(path.read_text(encoding="utf-8")):
            for turns in batch["turns"]:
                yield from (turn["content"] for turn in turns)


def rows(path: Path) -> Iterator[str]:
    """The texts of JSON Lines: of turns, of pairs of turns, and of questions."""
    for line in path.read_text(encoding="utf-8").split("\n"):
        if line.strip():
            row = json.loads(line)
            sides = [row[side] for side in ("a", "b") if side in row] or [row]
            yield from (str(side.get("text") or side.get("edited_question") or side["question"]) for side in sides)


def files(folder: Path) -> Iterator[str]:
    """The text files under a folder, in pieces of up to some thousand characters."""
    for path in sorted(folder.rglob("*")):
        if path.suffix.lower() in SUFFIXES and path.is_file() and path.stat().st_size <= MOST_BYTES:
            piece = ""
            for paragraph in path.read_text(encoding="utf-8", errors="replace").split("\n\n"):
                if piece and len(piece) + len(paragraph) > TURN:
                    yield piece
                    piece = ""
                piece += ("\n\n" if piece else "") + paragraph
            if piece.strip():
                yield piece


def judge(name: str, texts: Iterable[str], scrubber: Scrubber, scanner: ThreatScanner, *, shown: int) -> Tally:
    """Scrub and scan the texts of a set, and print what was found."""
    tally = Tally()
    for text in texts:
        tally.turns += 1
        tally.size += len(text.encode("utf-8", "surrogatepass"))
        began = process_time()
        scrubbed = scrubber.scrub(text)
        middle = process_time()
        threats = scanner.scan(scrubbed.text)
        ended = process_time()
        tally.scrubbing += middle - began
        tally.scanning += ended - middle
        tally.rules.update((*scrubbed.findings, *threats.flags))
        tally.redacted += bool(scrubbed.findings)
        tally.held += threats.quarantine
        tally.flagged += bool(threats.flags)
        if scrubbed.findings and tally.redacted <= shown:
            for before, after, was in differences(text, scrubbed.text):
                print(f"{name}: {before!r} -> {was!r} <- {after!r}")
        if threats.quarantine and tally.held <= shown:
            print(f"{name}: held back for {', '.join(threats.flags)}: {text[:300]!r}")
    return tally


def differences(text: str, scrubbed: str) -> Iterator[tuple[str, str, str]]:
    """(what stands before, after, mark and what it replaced) of each redaction."""
    parts = _MARK.split(scrubbed)
    marks = _MARK.findall(scrubbed)
    at = len(parts[0])
    for mark, part in zip(marks, parts[1:], strict=True):
        after = text.find(part, at + 1) if part else len(text)
        yield text[max(0, at - 60) : at], text[after : after + 30], f"{mark.split(':')[1]}: {text[at:after][:120]}"
        at = after + len(part)


def hostile(scrubber: Scrubber, scanner: ThreatScanner) -> str:
    """Seconds of CPU for a megabyte and for two of each hostile text: twice the text takes twice the time."""
    lines = []
    for unit in HOSTILE:
        took = []
        for size in (1_000_000, 2_000_000):
            text = unit * (size // len(unit))
            began = process_time()
            scanner.scan(scrubber.scrub(text).text)
            took.append(process_time() - began)
        lines.append((f"`{unit.encode('unicode_escape').decode().strip()}`", f"{took[0]:.2f}", f"{took[1]:.2f}"))
    return table(("repeated", "1 MB, s", "2 MB, s"), lines)


def main() -> None:
    """Print each finding, then the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--locomo", type=Path, help="LoCoMo conversations (JSON)")
    parser.add_argument("--beam", type=Path, help="a folder of BEAM chats (`N/chat.json`)")
    parser.add_argument("--turns", type=Path, nargs="*", default=[], help="JSON Lines of turns, pairs or questions")
    parser.add_argument("--files", type=Path, nargs="*", default=[], help="folders of code and documentation")
    parser.add_argument("--adversarial", action="store_true", help="time texts that should be hard")
    parser.add_argument("--shown", type=int, default=200, help="how many findings of a set are printed")
    options = parser.parse_args()
    given = [*filter(None, (options.locomo, options.beam)), *options.turns, *options.files]
    for path in given:
        if not path.exists():
            parser.error(f"{path} does not exist")
    if not given and not options.adversarial:
        parser.error("name a set: --locomo, --beam, --turns or --files; or --adversarial")
    scrubber, scanner = Scrubber(b"benchmark"), ThreatScanner()
    sets: list[tuple[str, Iterable[str]]] = []
    sets += [("LoCoMo", locomo(options.locomo))] if options.locomo else []
    sets += [("BEAM", beam(options.beam))] if options.beam else []
    sets += [(path.stem, rows(path)) for path in options.turns]
    sets += [(f"files in {path.name}", files(path)) for path in options.files]
    tallies = {name: judge(name, texts, scrubber, scanner, shown=options.shown) for name, texts in sets}
    print(machine())
    if tallies:
        print(
            table(
                ("set", "turns", "MB", "redacted", "held back", "only marked", "scrubbing MB/s", "scan MB/s"),
                [
                    (
                        name,
                        f"{tally.turns:,}",
                        f"{tally.size / 1e6:.2f}",
                        tally.redacted,
                        tally.held,
                        tally.flagged - tally.held,
                        f"{tally.size / 1e6 / max(tally.scrubbing, 1e-9):.1f}",
                        f"{tally.size / 1e6 / max(tally.scanning, 1e-9):.1f}",
                    )
                    for name, tally in tallies.items()
                ],
            )
        )
        for name, tally in tallies.items():
            print(f"{name}: {dict(tally.rules.most_common())}")
    if options.adversarial:
        print(hostile(scrubber, scanner))


if __name__ == "__main__":
    main()

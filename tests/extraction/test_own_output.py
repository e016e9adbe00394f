"""What the service wrote for a prompt makes no claims when it comes back in a transcript."""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Sequence

import pytest

from extraction.segmentation import speech_spans
from extraction.threats import scan
from graph.recall.context import HEADER, SOURCES
from ontology import marking

BODY = "\n".join(
    [
        HEADER,
        '- Lena | lives_in | Graça | since 2024-02-03 | current | "We live in Graça." [1]',
        '- Bob | works_at | Acme | since 2024 | current | "Bob works at Acme." [1]',
        SOURCES,
        "[1] chat | Lena | 2024-02-03 | f575cac146c180ae7810deaf2d2c29db",
    ]
)
BLOCK = f"{marking.BEGIN}\n{BODY}\n{marking.END}"
PLAIN = "Bob works at Acme.\nLena lives in Hamburg. My stack:\n- api: fastapi\n- db: postgres"
"""What would make claims anywhere else."""
WRAPPED = {
    "as it is": BLOCK,
    "indented": textwrap.indent(BLOCK, "      "),
    "quoted": textwrap.indent(BLOCK, "> "),
    "quoted twice": textwrap.indent(BLOCK, "> > "),
    "in a fence": f"```\n{BLOCK}\n```",
    "in a fence with a language": f"~~~text\n{BLOCK}\n~~~",
    "behind words": f"Context: {BLOCK}",
    "in one line": BLOCK.replace("\n", " "),
    "with windows line ends": BLOCK.replace("\n", "\r\n"),
    "in capitals": BLOCK.replace(marking.BEGIN, marking.BEGIN.upper()).replace(marking.END, marking.END.upper()),
    "twice": f"{BLOCK}\n\n{BLOCK}",
    "around plain words": f"{marking.BEGIN}\n{PLAIN}\n{marking.END}",
    "around an open fence": f"{marking.BEGIN}\n```\n{PLAIN}\n{marking.END}",
}
CUT = {
    "cut off": BLOCK[: BLOCK.index("[1] chat")],
    "cut off in the middle of a mark": BLOCK[:-4],
    "cut off and quoted": textwrap.indent(f"{marking.BEGIN}\n{PLAIN}", "> "),
    "cut off behind words": f"Context: {marking.BEGIN}\n{PLAIN}",
    "cut off in a list": f"- {marking.BEGIN}\n  {PLAIN}",
    "cut off in a fence": f"```\n{marking.BEGIN}\n{PLAIN}\n```",
}


def said(text: str) -> list[str]:
    return [text[start:end] for start, end in speech_spans(text)]


@pytest.mark.parametrize("block", WRAPPED.values(), ids=WRAPPED)
def test_only_what_stands_around_the_block_is_speech(block: str) -> None:
    found = said(f"Ada joined Globex.\n\n{block}\n\nCarl left.")
    assert [part for part in found if part != "Context:"] == ["Ada joined Globex.", "Carl left."]


@pytest.mark.parametrize("block", CUT.values(), ids=CUT)
def test_of_a_block_that_is_cut_off_everything_behind_its_mark_is_ours(block: str) -> None:
    found = said(f"Ada joined Globex.\n\n{block}")
    assert [part for part in found if part != "Context:"] == ["Ada joined Globex."]


@pytest.mark.parametrize("block", [*WRAPPED.values(), *CUT.values()], ids=[*WRAPPED, *CUT])
def test_no_claim_is_made_of_it(triples: Callable[..., Sequence[tuple[str, str, str]]], block: str) -> None:
    assert triples(block, candidates=True) == []


def test_the_block_itself_is_no_threat() -> None:
    assert scan(BLOCK).flags == ()


def test_tags_in_one_long_line_are_read_in_linear_time() -> None:
    assert len(said(f"{'<system-reminder> ' * 20_000}Ada left.")) <= 1

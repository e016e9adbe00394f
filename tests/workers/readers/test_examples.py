"""The examples hold what the readers must cope with, and nothing that is held back."""

from __future__ import annotations

from pathlib import Path

from extraction.scrubbing import Scrubber
from extraction.threats import ThreatScanner
from tests.workers.readers.writing import read

EXAMPLES = Path(__file__).parents[3] / "examples"


def test_the_examples_are_read_whole_and_hold_one_secret() -> None:
    scrubber, scanner = Scrubber(b"key"), ThreatScanner()
    drafts, rejected, report = read(EXAMPLES)
    assert not rejected
    sessions = [draft for draft in drafts if draft.source == "claude-code" and draft.speech]
    friends = [draft for draft in drafts if draft.source == "chat"]
    assert len({draft.external_id for draft in sessions}) > 60
    assert len({draft.group for draft in sessions}) == 6
    assert len(friends) == 90
    assert {draft.speaker for draft in friends} == {draft.addressee for draft in friends} == {"Lena", "Omar"}
    assert {"tool_use", "thinking", "sidechain", "meta", "system"} <= set(report.skipped)
    assert set(report.artifacts) == {"tool_result", "summary", "compact summary"}
    # A compaction wrote part of a session again.
    assert len(sessions) > len({draft.external_id for draft in sessions})
    findings = [finding for draft in drafts for finding in scrubber.scrub(draft.content).findings]
    assert findings == ["secret:aws-access-key"]
    assert not any(scanner.scan(draft.content).quarantine for draft in drafts)

"""Of 150 and more made-up secrets of 30 kinds and more none survives, wherever it stands."""

from __future__ import annotations

import json
import re

import pytest

from extraction.scrubbing import Scrubber
from tests.hygiene.secrets import Sample, samples

SCRUBBER = Scrubber(b"test key")
ALL = samples()


def test_the_suite_is_as_large_as_it_says_and_always_the_same() -> None:
    assert len(ALL) >= 150
    assert len({sample.kind for sample in ALL}) >= 30
    assert samples() == ALL
    assert all(sample.secret in sample.text for sample in ALL)
    assert sum(sample.secret in other.text for sample in ALL for other in ALL) == len(ALL)


@pytest.mark.parametrize("sample", ALL, ids=[f"{number}-{sample.kind}" for number, sample in enumerate(ALL)])
def test_a_secret_is_gone_and_the_text_round_it_stays(sample: Sample) -> None:
    scrubbed = SCRUBBER.scrub(sample.text)
    assert sample.secret not in scrubbed.text
    assert re.search(r"\[REDACTED:[a-z0-9-]+:[0-9a-f]{12}\]", scrubbed.text)
    assert sum(scrubbed.counts.values()) == scrubbed.text.count("[REDACTED:")
    assert SCRUBBER.scrub(scrubbed.text).text == scrubbed.text
    # No part of it either; words such as "production" may stand round it as well.
    parts = {sample.secret[at : at + 10] for at in range(len(sample.secret) - 9)}
    assert not [part for part in parts if part in scrubbed.text and any(c.isdigit() for c in part)]


def test_the_text_before_and_after_survives() -> None:
    for sample in ALL:
        if sample.text.startswith("Alice left Acme.\n") and sample.text.endswith("\nBob stayed."):
            scrubbed = SCRUBBER.scrub(sample.text).text
            assert scrubbed.startswith("Alice left Acme.\n"), sample
            assert scrubbed.endswith("\nBob stayed."), sample


def test_all_of_them_are_gone_from_one_long_text_and_from_metadata() -> None:
    text = "\n\n".join(sample.text for sample in ALL)
    scrubbed = SCRUBBER.scrub(text)
    assert [sample.kind for sample in ALL if sample.secret in scrubbed.text] == []
    metadata = {"turns": [{"content": sample.text} for sample in ALL], "env": {sample.text: 1 for sample in ALL}}
    stored = json.dumps(SCRUBBER.scrub_metadata(metadata).metadata)
    assert [sample.kind for sample in ALL if json.dumps(sample.secret)[1:-1] in stored] == []

"""Every built-in rule keeps its own examples: alone, and beside all the others."""

from __future__ import annotations

import pytest
import re2

from extraction import scrubbing, threats
from extraction.examples import expanded, made
from extraction.hygiene import secret_problems, threat_problems

SECRETS = scrubbing.built_in().rules
THREATS = threats.built_in().rules
SCRUBBER = scrubbing.Scrubber(b"test key")
SCANNER = threats.ThreatScanner()


@pytest.mark.parametrize("name", SECRETS)
def test_a_secret_rule_finds_what_its_examples_mark_and_leaves_its_near_misses(name: str) -> None:
    assert list(secret_problems(name, SECRETS[name])) == []
    assert all(expanded(example)[1] for example in SECRETS[name].finds), "every example of a built-in rule marks its secret"


@pytest.mark.parametrize("name", SECRETS)
def test_what_a_rule_finds_is_gone_and_what_stands_round_it_stays(name: str) -> None:
    for example in SECRETS[name].finds:
        text, marked = expanded(example)
        scrubbed = SCRUBBER.scrub(text).text
        for start, end in marked:
            assert text[start:end] not in scrubbed
        assert scrubbed.startswith(text[: marked[0][0]][:4])


@pytest.mark.parametrize("name", THREATS)
def test_a_threat_rule_catches_its_examples_and_leaves_its_near_misses(name: str) -> None:
    assert list(threat_problems(name, THREATS[name])) == []


@pytest.mark.parametrize("name", [name for name, rule in THREATS.items() if rule.quarantine])
def test_the_near_misses_of_a_rule_that_holds_back_are_held_back_by_no_other(name: str) -> None:
    for example in THREATS[name].leaves:
        assert not SCANNER.scan(expanded(example)[0]).quarantine, example


@pytest.mark.parametrize("name", [*SECRETS, *THREATS])
def test_every_pattern_is_linear_and_takes_no_empty_text(name: str) -> None:
    rule = SECRETS.get(name)
    patterns = [THREATS[name].pattern] if rule is None else [rule.pattern, rule.begin, rule.end, rule.body, rule.not_after, *rule.unless]
    for pattern in patterns:
        if pattern is not None:
            re2.compile(pattern)
    looked_for = THREATS[name].pattern if rule is None else rule.pattern
    assert looked_for is None or re2.fullmatch(looked_for, "") is None


def test_there_are_rules_for_60_providers_and_more() -> None:
    assert len(SECRETS) >= 100
    assert len(THREATS) >= 30


def test_no_example_of_the_files_is_written_out_as_a_key() -> None:
    whole = SCRUBBER.scrub("\n".join(example for rule in SECRETS.values() for example in rule.finds)).findings
    providers = list(SECRETS)[list(SECRETS).index("anthropic-key") : list(SECRETS).index("service-key") + 1]
    assert not {f"secret:{name}" for name in providers} & set(whole)


def test_made_up_parts_have_their_length_and_marks_their_place() -> None:
    assert expanded("a {hex:4} «{}b{upper:2}» {other:3} {}") == ("a 3f9a «bK7» {other:3} ".replace("«", "").replace("»", ""), [(7, 10)])
    assert len(made("mixed", 100)) == 100

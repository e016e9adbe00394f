"""A user's own file adds rules and switches built-in ones off; what is wrong in it is named by file, line and key, never shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from extraction.hygiene import Hygiene, load_hygiene
from ontology.errors import InvalidInput

FILE = r"""
secrets:
  off: [discord-token, jwt]
  rules:
    acme-badge:
      what: Badges of Acme
      pattern: '\bACME-(?P<secret>[0-9a-f]{16})\b'
      any_of: [ACME-]
      finds: ['badge ACME-«{hex:16}».', 'ACME-{hex:16}']
      leaves: [ACME-1234, ACME-Berlin]
threats:
  off: ['command:fork-bomb']
  rules:
    injection:acme:
      what: Orders to our bot
      pattern: '(?i)acme override'
      quarantine: true
      finds: [acme override, Acme override now]
      leaves: [acme, 'He wrote "acme override" there.']
"""


def loaded(tmp_path: Path, text: str) -> Hygiene:
    path = tmp_path / "hygiene.yaml"
    path.write_text(text, encoding="utf-8")
    return load_hygiene(path)


def test_own_rules_come_into_force_and_others_go(tmp_path: Path) -> None:
    hygiene = loaded(tmp_path, FILE)
    scrubbed = hygiene.scrubber(b"k").scrub("badge ACME-0123456789abcdef, " + "gh" + "p_" + "aB3" * 12)
    assert scrubbed.counts == {"secret:acme-badge": 1, "secret:github-token": 1}
    assert scrubbed.text.startswith("badge ACME-[REDACTED:acme-badge:")
    token = "ey" + "JhbGciOiJIUzI1NiJ9.ey" + "JzdWIiOiIxMjM0In0.abcdefghij"
    assert token in hygiene.scrubber(b"k").scrub(token).text
    scanner = hygiene.scanner()
    assert scanner.scan("acme override").quarantine
    assert scanner.scan(":(){ :|:& };:").flags == ()
    assert load_hygiene().scanner().scan(":(){ :|:& };:").flags == ("command:fork-bomb",)


def test_a_built_in_rule_that_is_switched_off_can_be_written_anew(tmp_path: Path) -> None:
    ours = r"{what: Ours, pattern: 'JWT-\d{4}', finds: [JWT-1234, a JWT-9999], leaves: [JWT, JWT-12]}"
    assert loaded(tmp_path, f"secrets: {{off: [jwt], rules: {{jwt: {ours}}}}}").scrubber(b"k").scrub("JWT-1234").findings == ("secret:jwt",)


def test_an_empty_file_changes_nothing(tmp_path: Path) -> None:
    assert loaded(tmp_path, "# nothing yet\n") == load_hygiene()


def test_a_users_rule_of_a_built_in_kind_reads_ascii_texts_too(tmp_path: Path) -> None:
    rule = "{what: Ours, pattern: 'xyzzy', quarantine: true, finds: [xyzzy, say xyzzy], leaves: [x, y]}"
    assert loaded(tmp_path, f"threats: {{rules: {{'hidden:ours': {rule}}}}}").scanner().scan("xyzzy").quarantine


@pytest.mark.parametrize(
    ("old", "new", "line", "told"),
    [
        ("ACME-1234", "ACME-0123456789abcdef", 10, "secrets.rules.acme-badge.leaves.0: example 0 is found by the rule"),
        ("'ACME-{hex:16}'", "'ACME-{hex:12}'", 9, "finds.1: example 1 is not found by the rule"),
        ("«{hex:16}»", "{hex:15}«0»", 9, "finds.0: example 0 is found, but not what stands in «»"),
        ("finds: [acme override", "finds: [acme", 18, "threats.rules.injection:acme.finds.0: example 0 is not held back by the rule"),
        ("leaves: [acme,", "leaves: [acme override,", 19, "leaves.0: example 0 is held back by the rule"),
        ("{16})\\b", "{16}\\b", 7, "secrets.rules.acme-badge.pattern: no RE2 pattern: missing )"),
        ("'\\bACME-(?P<secret>[0-9a-f]{16})\\b'", "'(?=hunter2)'", 7, "pattern: no RE2 pattern"),
        ("'\\bACME-(?P<secret>[0-9a-f]{16})\\b'", "'x*'", 5, "the pattern matches an empty text"),
        ("off: [discord-token, jwt]", "off: [jwt, discordtoken]", 3, "secrets.off.1: no built-in rule has this name"),
        ("off: ['command:fork-bomb']", "off: [fork-bomb]", 12, "threats.off.0: no built-in rule has this name"),
        ("acme-badge:", "github-token:", 5, "secrets.rules.github-token: a built-in rule has this name"),
        ("acme-badge:", "Acme Badge:", 5, "Acme Badge: a rule's name is up to 40"),
        ("injection:acme:", "acme:", 14, "a threat's name is KIND:NAME"),
        ("what: Badges of Acme", "what: 7", 6, "what: Input should be a valid string"),
        ("pattern: '\\b", "patern: '\\b", 7, "patern"),
        ("any_of: [ACME-]", "begin: x", 5, "a rule has a `pattern`, or `begin`, `end` and `body`"),
        ("any_of: [ACME-]", "finds: [a, b]", 9, "finds: stands here twice"),
        ("finds: ['badge ACME-«{hex:16}».', ", "finds: [", 9, "finds: List should have at least 2 items"),
        ("quarantine: true", "quarantine: maybe", 17, "quarantine: Input should be a valid boolean"),
        ("secrets:", "secrets: ]", 2, "no valid YAML"),
        ("threats:", "attacks:", 11, "attacks: Extra inputs are not permitted"),
        ("any_of: [ACME-]", "any_of: *words", None, "no aliases"),
    ],
)
def test_a_mistake_is_named_by_file_line_and_key(tmp_path: Path, old: str, new: str, line: int | None, told: str) -> None:
    assert FILE.count(old) >= 1
    with pytest.raises(InvalidInput) as refused:
        loaded(tmp_path, FILE.replace(old, new, 1))
    assert refused.value.reason == "INVALID_HYGIENE"
    assert told in refused.value.message
    assert str(tmp_path / "hygiene.yaml") in refused.value.message
    assert line is None or f", line {line}" in refused.value.message


@pytest.mark.parametrize(
    "text",
    [
        "secrets: {rules: {a-b: {what: x y z, pattern: 'hunter2(', finds: [hunter2, hunter2], leaves: [hunter2, hunter2]}}}",
        "secrets: {rules: {a-b: {what: x y z, pattern: 'x', finds: [hunter2, hunter2], leaves: [hunter2, hunter2]}}}",
        "secrets: {rules: {a-b: {what: [hunter2], pattern: 'hunter2(?<', finds: hunter2, leaves: {hunter2: hunter2}}}}",
        "secrets: hunter2",
        "hunter2",
        "- hunter2",
        "secrets: {off: [hunter2]}",
        "secrets: 'hunter2",
        "secrets: &hunter2 {}\nthreats: *hunter2",
        "secrets: !hunter2 x",
        "secrets: {rules: {a-b: {what: x y z, pattern: '[z-a]hunter2', entropy: hunter2, finds: [a, b], leaves: [c, d]}}}",
        "secrets: {rules: {a-b: {what: x y z, pattern: '\\hunter2', finds: [a, b], leaves: [c, d]}}}",
    ],
)
def test_no_message_shows_a_value_of_the_file(tmp_path: Path, text: str) -> None:
    with pytest.raises(InvalidInput) as refused:
        loaded(tmp_path, text)
    assert "hunter2" not in refused.value.message.replace("leaves.hunter2", "")


def test_a_file_that_cannot_be_read_is_named(tmp_path: Path) -> None:
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    (tmp_path / "large").write_bytes(b"#" * 1_000_001)
    for name, told in (("nowhere", "No such file"), ("binary", "no UTF-8"), ("large", "bytes"), (".", "directory")):
        with pytest.raises(InvalidInput, match=told) as refused:
            load_hygiene(tmp_path / name)
        assert str(tmp_path) in refused.value.message

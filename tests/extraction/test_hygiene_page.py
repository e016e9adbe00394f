"""docs/hygiene.md says what the rules do."""

from __future__ import annotations

import re
from pathlib import Path

from extraction.hygiene import load_hygiene
from extraction.rule_files import SecretRule, ThreatRule
from extraction.scrubbing import Scrubber
from tests.extraction.hygiene_page import MARK, PAGE, render

TEXT = PAGE.read_text(encoding="utf-8")


def test_the_tables_are_those_of_the_rule_files() -> None:
    assert TEXT.partition(MARK)[2] == render(), "run: python -m tests.extraction.hygiene_page"


def test_the_file_of_the_page_loads_and_works(tmp_path: Path) -> None:
    (example,) = re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)
    path = tmp_path / "hygiene.yaml"
    path.write_text(example, encoding="utf-8")
    hygiene = load_hygiene(path)
    assert hygiene.scrubber(b"k").scrub("ACME-0123456789abcdef").findings == ("secret:acme-badge",)
    assert hygiene.scanner().scan("Acme override").quarantine


def test_every_key_of_a_rule_is_explained() -> None:
    for key in {*SecretRule.model_fields, *ThreatRule.model_fields}:
        assert f"`{key}`" in TEXT, key


def test_what_the_page_says_is_found_or_not_is_so() -> None:
    scrubber = Scrubber(b"k")
    assert scrubber.scrub("DB_PASSWORD=hunter2").text.startswith("DB_PASSWORD=[REDACTED:password-assignment:")
    for text in ("the password is swordfish", "PASSWORD=changeme", "key = 'your-api-key'", 'password = "password123"', "maya:hunter2"):
        assert scrubber.scrub(text).findings == (), text
    for text in ('the password is "swordfish"', "DB_PASSWORD=swordfish", "password: swordfish"):
        assert scrubber.scrub(text).findings, text

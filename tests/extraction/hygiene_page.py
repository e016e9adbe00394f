"""The table of rules in docs/hygiene.md, from the rule files.

python -m tests.extraction.hygiene_page     writes it again
"""

from __future__ import annotations

from pathlib import Path

from extraction import scrubbing, threats

PAGE = Path(__file__).parents[2] / "docs" / "hygiene.md"
MARK = "<!-- rules -->\n"


def render() -> str:
    """The tables."""
    secrets = [f"| `{name}` | {rule.what} |" for name, rule in scrubbing.built_in().rules.items()]
    found = [f"| `{name}`{' *' if rule.quarantine else ''} | {rule.what} |" for name, rule in threats.built_in().rules.items()]
    return "\n".join(["", "| secrets | |", "|---|---|", *secrets, "", "| threats (* held back) | |", "|---|---|", *found, ""])


def main() -> None:
    """Write the page again."""
    text = PAGE.read_text(encoding="utf-8").partition(MARK)[0]
    PAGE.write_text(text + MARK + render(), encoding="utf-8")


if __name__ == "__main__":
    main()

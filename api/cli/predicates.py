"""Names of predicates as people type them: a misspelt one is no empty answer."""

from __future__ import annotations

from difflib import get_close_matches

from api.cli.link import Link

DECLARED = "query Declared { ontology { predicates { name } } }"


def suggestion(link: Link, name: str) -> str | None:
    """What to say where nothing is known under a name that the vocabulary does not declare."""
    declared = [each["name"] for each in link.execute(DECLARED)["ontology"]["predicates"]]
    if name in declared:
        return None
    near = get_close_matches(name, declared, n=2, cutoff=0.6)
    return f"the vocabulary has no predicate {name!r}" + (f"; near it: {', '.join(near)}" if near else "")

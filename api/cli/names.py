"""Names as people type them: a misspelt one is no empty answer."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

from api.cli import documents
from api.cli.link import Link
from api.cli.options import hint
from ontology.errors import NotFound
from ontology.names import checked_name

DECLARED = "query Declared { ontology { predicates { name } } }"


def suggestion(link: Link, name: str) -> str | None:
    """What to say where nothing is known under a name that the vocabulary does not declare."""
    declared = [each["name"] for each in link.execute(DECLARED)["ontology"]["predicates"]]
    if name in declared:
        return None
    near = get_close_matches(name, declared, n=2, cutoff=0.6)
    return f"the vocabulary has no predicate {name!r}" + (f"; near it: {', '.join(near)}" if near else "")


def key_named(link: Link, name: str) -> str:
    """The key of an entity that is given by name, alias or key. Raises NotFound."""
    found = link.execute(documents.KEYS, {"name": checked_name(name), "id": name})["asOf"]
    known = found["named"] or found["keyed"]
    if known is None:
        raise NotFound(f"nothing is known of {name!r}; `erstwhile entities {name}` lists names that hold it", id=name)
    return str(known["key"])


def why_nothing(link: Link, *, subjects: Iterable[str] = (), predicates: Iterable[str | None] = ()) -> None:
    """Say beside an empty answer which of the names in its question nothing is known under."""
    for predicate in dict.fromkeys(predicates):
        hint(None if predicate is None else suggestion(link, predicate))
    for subject in dict.fromkeys(subjects):
        try:
            key_named(link, subject)
        except NotFound as failure:
            hint(failure.message)

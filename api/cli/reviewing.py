"""The command that walks claims with a person."""

from __future__ import annotations

from typing import Annotated

import typer

from api.cli.options import Data, Namespace, instant_of, reading_link
from ontology.instant import parse_instant
from ontology.names import DEFAULT_NAMESPACE


def review(
    candidates: Annotated[bool, typer.Option("--candidates", help="Claims that make no belief.")] = False,
    contested: Annotated[bool, typer.Option("--contested", help="Claims of slots in which evidence disagrees.")] = False,
    below: Annotated[float | None, typer.Option(min=0, max=1, help="Claims of a confidence below this.")] = None,
    since: Annotated[str | None, typer.Option(help="Only what was said at or after this time.")] = None,
    source: Annotated[str | None, typer.Option(help="Only this source.")] = None,
    first: Annotated[int, typer.Option(min=1, max=1000, help="Most claims.")] = 50,
    namespace: Namespace = DEFAULT_NAMESPACE,
    data: Data = None,
) -> None:
    """Walk doubtful and new claims: keep, reject or correct each with one key. Answers may be piped in, one letter a line."""
    from api.cli.choosing import Choice, walked
    from api.cli.review import Review
    from api.cli.terminal import answers

    start = None if since is None else parse_instant(str(instant_of("since", since)))
    choice = Choice(candidates, contested, below, start, source)
    with reading_link(data, namespace) as link:
        claims = list(walked(link, choice, first))
        if not claims:
            print(f"nothing to review: there are no {choice.words}" + (" in that time or source" if start or source else ""))
            return
        print(f"{len(claims)} to review: {choice.words}, newest first")
        counts = Review(link, answers(), claims).run()
    print("\n" + "  ".join(f"{name} {count}" for name, count in counts.items()))

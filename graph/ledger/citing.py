"""Which statements rest on evidence as a filter asks for it: by what they cite, not by what was ever told."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Any

from sqlalchemy import ColumnElement, select

from graph.ledger.chunks import among, rows_among
from graph.ledger.details import Describer
from graph.ledger.rectangles import Rectangle
from graph.ledger.schema import claims, episodes
from graph.ledger.selection import TOLD_IN


def citing(describer: Describer, rows: Collection[Rectangle], told: Sequence[ColumnElement[Any]]) -> set[Rectangle]:
    """Those of some rectangles that cite a claim of which all of `told` (`Selection.told`) is true."""
    cited = describer.cited(list(rows))
    query = select(claims.c.row).join(episodes, TOLD_IN).where(among(claims.c.row), *told)
    numbers = {claim.row for cite in cited.values() for claim in cite.rows}
    found = {row.row for row in rows_among(describer.connection, query, numbers)}
    return {row for row, cite in cited.items() if any(claim.row in found for claim in cite.rows)}

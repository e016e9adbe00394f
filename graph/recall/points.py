"""What a document is on a Qdrant server: its point's number, what is kept beside the vector, and the filter of a basis.

Range filters compare floats, which hold microseconds exactly only within 2^53 of 1970, and integer indexes round such bounds to the
wrong side (qdrant/qdrant#7955, #8538). So every bound is moved outward: a filter may let through what does not count, and the exact
mask decides afterwards, but it keeps nothing back that counts.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import Any
from uuid import UUID

import numpy as np
from qdrant_client import models

from graph.recall.columns import Ints
from graph.recall.dense import Around, Life, Vectors
from ontology.instant import UNBOUNDED_FUTURE, UNBOUNDED_PAST

EXACT = 2**53
"""Up to here every integer is a float."""
HALVES = 2**51
"""Up to here, in 2041, a float between two integers stays between them where it is read a bit wrong."""

ALWAYS = Life(UNBOUNDED_PAST, UNBOUNDED_FUTURE, UNBOUNDED_PAST, None)
"""Of a document of which nothing is known: it is never kept back."""

_NUMBERS = ("tx_from", "tx_to", "said", *(f"spans[].{bound}" for bound in ("v_from", "v_to", "tx_from", "tx_to")))

INDEXES: dict[str, models.PayloadSchemaParams] = {
    # Qdrant lays the points of a tenant together, and (where it may be approximate) joins them to a graph of their own.
    "space": models.KeywordIndexParams(type=models.KeywordIndexType.KEYWORD, is_tenant=True),
    "free": models.BoolIndexParams(type=models.BoolIndexType.BOOL),
    **{name: models.FloatIndexParams(type=models.FloatIndexType.FLOAT) for name in _NUMBERS},
}


def above(value: int) -> float:
    """A float that no number up to this one exceeds, however it is read: JSON readers are known that miss the last bit."""
    return value + 0.5 if abs(value) <= HALVES else _stepped(value, math.inf)


def below(value: int) -> float:
    """A float that every greater number exceeds, however it is read."""
    return value + 0.5 if abs(value) <= HALVES else _stepped(value, -math.inf)


def _stepped(value: int, towards: float) -> float:
    # Rounding takes half a step at most, a careless reader one.
    return math.nextafter(math.nextafter(float(value), towards), towards)


def _from(value: int) -> int | float:
    """A beginning as it is kept: exact where a float can hold it, else earlier."""
    return value if abs(value) <= EXACT else _stepped(value, -math.inf)


def _to(value: int) -> int | float:
    """An end as it is kept: exact where a float can hold it, else later."""
    return value if abs(value) <= EXACT else _stepped(value, math.inf)


# ---------------------------------------------------------------- points


class Space:
    """The points of one part of a namespace: 64 bits of each number tell the space, the others the document."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._high = int.from_bytes(blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest()) << 64

    def point(self, doc: int) -> str:
        """The number of a document's point: the same whenever an index is made of the same ledger."""
        return str(UUID(int=self._high | doc))

    def points(self, docs: Iterable[int]) -> list[models.ExtendedPointId]:
        """Numbers of points."""
        return [self.point(doc) for doc in docs]

    @staticmethod
    def docs(points: Sequence[models.ScoredPoint] | Sequence[models.Record]) -> Ints:
        """The documents of points of this space."""
        return np.array([UUID(str(point.id)).int & (2**64 - 1) for point in points], np.int64)

    @property
    def mine(self) -> models.FieldCondition:
        """Holds for the points of this space."""
        return models.FieldCondition(key="space", match=models.MatchValue(value=self.name))


def payload(life: Life) -> dict[str, Any]:
    """What is kept of when a document counts."""
    names = ("v_from", "v_to", "tx_from", "tx_to")
    spans = [dict(zip(names, (_from(a), _to(b), _from(c), _to(d)), strict=True)) for a, b, c, d in life.spans or ()]
    return {
        "tx_from": _from(life.tx_from),
        "tx_to": _to(life.tx_to),
        "said": _from(life.said),
        "free": life.spans is None,
        "spans": spans,
        "life": life_mark(life),
    }


def life_mark(life: Life) -> int:
    """Tells a life from another, in 48 bits: JSON numbers are safe up to there."""
    return _mark(repr((life.tx_from, life.tx_to, life.said, life.spans)).encode())


def vector_mark(vector: Vectors) -> int:
    """Tells a vector from another, in 48 bits."""
    return _mark(np.ascontiguousarray(vector, "<f4").tobytes())


def _mark(content: bytes) -> int:
    return int.from_bytes(blake2b(content, digest_size=6).digest())


# ---------------------------------------------------------------- filters


def these(space: Space, docs: Iterable[int]) -> models.Filter:
    """Some documents."""
    return models.Filter(must=[models.HasIdCondition(has_id=space.points(docs))])


def during(space: Space, around: Around) -> models.Filter:
    """All documents that may count on a basis, and perhaps others."""
    at = around.transaction
    conditions: list[models.Condition] = [space.mine, _at_most("tx_from", at)]
    if around.said_until is not None:
        conditions.append(_at_most("said", around.said_until))
    if around.valid_at is None:
        # Whoever asks for a stretch of time or for the past sees documents that have ended too.
        return models.Filter(must=conditions)
    conditions.append(_more("tx_to", at))
    if around.said_until is None:
        # Else what is told is resolved anew, and the rectangles are not those that are kept.
        inside: list[models.Condition] = [
            _at_most("v_from", around.valid_at),
            _more("v_to", around.valid_at),
            _at_most("tx_from", at),
            _more("tx_to", at),
        ]
        told = models.NestedCondition(nested=models.Nested(key="spans", filter=models.Filter(must=inside)))
        free = models.FieldCondition(key="free", match=models.MatchValue(value=True))
        conditions.append(models.Filter(should=[free, told]))
    return models.Filter(must=conditions)


def _at_most(name: str, value: int) -> models.FieldCondition:
    return models.FieldCondition(key=name, range=models.Range(lte=above(value)))


def _more(name: str, value: int) -> models.FieldCondition:
    return models.FieldCondition(key=name, range=models.Range(gt=below(value)))

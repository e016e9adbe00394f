"""Extraction patterns of a predicate, as the vocabulary file has them."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class PatternModel(BaseModel):
    """How a predicate is worded."""

    model_config = ConfigDict(extra="forbid", frozen=True)

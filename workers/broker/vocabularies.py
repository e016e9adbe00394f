"""A vocabulary on its way to the workers: whole, with the extraction patterns."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from ontology.patterns import PatternModel
from ontology.vocabulary import Vocabulary, restored


def published(vocabulary: Vocabulary) -> str:
    """A vocabulary as text, for `received`."""
    patterns = {
        name: [pattern.model_dump(mode="json", by_alias=True, exclude_defaults=True) for pattern in predicate.patterns]
        for name, predicate in vocabulary.predicates.items()
        if predicate.patterns
    }
    return json.dumps({"vocabulary": vocabulary.dumped(), "patterns": patterns}, separators=(",", ":"))


def received(text: str | bytes) -> Vocabulary:
    """A vocabulary from what `published` gave, equal to the first. Raises ValueError."""
    content: dict[str, Any] = json.loads(text)
    bare = restored(content["vocabulary"])
    patterns = {name: tuple(map(PatternModel.model_validate, rows)) for name, rows in content["patterns"].items()}
    predicates = {
        name: replace(predicate, patterns=patterns[name]) if name in patterns else predicate for name, predicate in bare.predicates.items()
    }
    return Vocabulary(bare.version, predicates, bare.entity_types)

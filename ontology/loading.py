"""Reading vocabulary files: YAML validated by pydantic; every error names the file, the key and the line."""

from __future__ import annotations

import json
from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path
from typing import Annotated

import yaml
from pydantic import AfterValidator, AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from ontology.errors import InvalidInput
from ontology.patterns import PatternModel
from ontology.vocabulary import AfterRival, Aspect, Cardinality, EntityType, Predicate, Temporality, Vocabulary

BUILT_IN = Path(__file__).parent / "data" / "vocabulary.yaml"
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The C parser reads the built-in vocabulary ten times as fast."""
LITERALS = frozenset({"xsd:string", "xsd:date", "xsd:integer", "xsd:decimal", "xsd:boolean", "xsd:duration", "xsd:anyURI"})


def _identifier(value: str) -> str:
    if not value.replace("_", "").isalnum() or not value.islower() or not value[0].isalpha() or len(value) > 64:
        raise ValueError("a predicate's name is 1 to 64 lower-case letters, digits and '_', beginning with a letter")
    return value


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class PredicateModel(_Strict):
    """A predicate as the file has it. Absent keys take the defaults."""

    cardinality: Cardinality = Cardinality.MANY
    temporal: Temporality = Temporality.STATE
    afterRival: AfterRival = Field(AfterRival.CLIP, validation_alias=AliasChoices("afterRival", "after_rival"))
    inverse: str | None = None
    symmetric: bool = False
    antonyms: list[str] = []
    domain: str | None = None
    range: str | None = None
    aspect: Aspect = Aspect.KNOWLEDGE
    staleAfter: Annotated[float, Field(gt=0)] | None = Field(None, validation_alias=AliasChoices("staleAfter", "stale_after"))
    description: str | None = None
    patterns: list[PatternModel] | None = None


class EntityTypeModel(_Strict):
    """An entity type as the file has it."""

    description: str | None = None
    parent: str | None = None


class VocabularyModel(_Strict):
    """A vocabulary file or an overlay."""

    predicates: dict[Annotated[str, AfterValidator(_identifier)], PredicateModel] = {}
    entityTypes: dict[str, EntityTypeModel] = {}


def _lines(node: yaml.Node | None, path: tuple[str, ...] = ()) -> dict[tuple[str, ...], int]:
    """Line number of every key path of a YAML document."""
    found = {path: node.start_mark.line + 1} if node is not None else {}
    if isinstance(node, yaml.MappingNode):
        for key, value in node.value:
            here = (*path, str(key.value))
            found.update(_lines(value, here))
            found[here] = key.start_mark.line + 1
    elif isinstance(node, yaml.SequenceNode):
        for place, value in enumerate(node.value):
            found.update(_lines(value, (*path, str(place))))
    return found


def _mistake(path: Path, lines: Mapping[tuple[str, ...], int], key: tuple[str, ...], why: str) -> InvalidInput:
    at = key
    while at not in lines and at:
        at = at[:-1]
    return InvalidInput(f"{path}, line {lines.get(at, 1)}, {'.'.join(key) or 'document'}: {why}", path=key, reason="INVALID_ONTOLOGY")


def _read(path: Path) -> tuple[VocabularyModel, dict[tuple[str, ...], int]]:
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as failure:
        raise InvalidInput(f"{path} cannot be read as an ontology: {failure}", reason="INVALID_ONTOLOGY") from failure
    try:
        lines = _lines(yaml.compose(text, Loader=_LOADER))
        data = yaml.load(text, Loader=_LOADER)  # noqa: S506 - a safe loader, in C where there is one
    except yaml.YAMLError as failure:
        mark = getattr(failure, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        raise InvalidInput(f"{path}{where}: no valid YAML: {getattr(failure, 'problem', failure)}", reason="INVALID_ONTOLOGY") from failure
    try:
        return VocabularyModel.model_validate(data if data is not None else {}), lines
    except ValidationError as failure:
        first = failure.errors()[0]
        key = tuple(str(part) for part in first["loc"] if part != "[key]")
        raise _mistake(path, lines, key, str(first["msg"])) from failure


def load_vocabulary(overlay: Path | None = None) -> Vocabulary:
    """The built-in vocabulary, with an overlay's definitions in place of its own where given.

    A predicate of the overlay replaces the built-in one whole, except that its extraction patterns stay unless given.
    Raises InvalidInput (INVALID_ONTOLOGY) naming file, line and key.
    """
    model, lines = _read(BUILT_IN)
    predicates, types = dict(model.predicates), dict(model.entityTypes)
    origin = dict.fromkeys(predicates, (BUILT_IN, lines))
    if overlay is not None:
        ours, our_lines = _read(overlay)
        for name, definition in ours.predicates.items():
            if definition.patterns is None and name in predicates:
                definition = definition.model_copy(update={"patterns": predicates[name].patterns})
            predicates[name] = definition
            origin[name] = (overlay, our_lines)
        types |= ours.entityTypes
        for name, kind in ours.entityTypes.items():
            if kind.parent is not None and kind.parent not in types:
                raise _mistake(overlay, our_lines, ("entityTypes", name, "parent"), f"there is no entity type {kind.parent!r}")
    inverses, antonyms = _links(predicates, origin)
    for name, definition in predicates.items():
        path, at = origin[name]
        for side, value in (("domain", definition.domain), ("range", definition.range)):
            if value is not None and value not in types and not (side == "range" and value in LITERALS):
                raise _mistake(path, at, ("predicates", name, side), f"there is no entity type or literal type {value!r}")
    built = {
        name: Predicate(
            name,
            cardinality=definition.cardinality,
            temporal=definition.temporal,
            after_rival=definition.afterRival,
            inverse=inverses.get(name),
            symmetric=definition.symmetric,
            antonyms=tuple(antonyms.get(name, ())),
            domain=definition.domain,
            range=definition.range,
            aspect=definition.aspect,
            stale_after=definition.staleAfter,
            description=definition.description,
            patterns=tuple(definition.patterns or ()),
        )
        for name, definition in predicates.items()
    }
    content = json.dumps(
        [
            {name: definition.model_dump(mode="json") for name, definition in predicates.items()},
            {n: t.model_dump() for n, t in types.items()},
        ],
        sort_keys=False,
    )
    entity_types = {name: EntityType(name, kind.description, kind.parent) for name, kind in types.items()}
    return Vocabulary(sha256(content.encode()).hexdigest()[:16], built, entity_types)


def _links(
    predicates: Mapping[str, PredicateModel], origin: Mapping[str, tuple[Path, dict[tuple[str, ...], int]]]
) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Inverses and antonyms, both ways, whichever side declared them."""
    inverses: dict[str, str] = {}
    antonyms: dict[str, list[str]] = {}
    for name, definition in predicates.items():
        path, at = origin[name]
        if definition.inverse is not None:
            if definition.inverse not in predicates or definition.symmetric or definition.inverse == name:
                raise _mistake(
                    path, at, ("predicates", name, "inverse"), f"{definition.inverse!r} is not declared, or {name!r} is symmetric"
                )
            for one, other in ((name, definition.inverse), (definition.inverse, name)):
                if inverses.setdefault(one, other) != other:
                    raise _mistake(path, at, ("predicates", name, "inverse"), f"{one!r} already has the inverse {inverses[one]!r}")
        for other in definition.antonyms:
            if other not in predicates or other == name:
                raise _mistake(path, at, ("predicates", name, "antonyms"), f"{other!r} is no other declared predicate")
            for one, two in ((name, other), (other, name)):
                if two not in antonyms.setdefault(one, []):
                    antonyms[one].append(two)
    return inverses, antonyms

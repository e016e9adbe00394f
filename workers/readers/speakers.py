"""Who the speakers of the sources are: IDs and handles mapped to names, from a YAML file."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from ontology.errors import InvalidInput
from ontology.names import checked_name

DEFAULT = "default"
UNNAMED = frozenset({"user", "human"})
"""What sources call somebody whose name they do not know."""


@dataclass(frozen=True, slots=True)
class Speakers:
    """Names by source and by the speaker's ID in it. `defaults` are those of "user" and of turns without a speaker; "" is every source."""

    names: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    defaults: Mapping[str, str] = field(default_factory=dict)

    def name_of(self, source: str, speaker: str) -> str | None:
        """The name that the file gives to a speaker, or None. An ID may be written with or without its "@"."""
        given = self.names.get(source, {})
        return given.get(speaker, given.get(speaker.removeprefix("@"), given.get(f"@{speaker}")))

    def default(self, source: str) -> str | None:
        """Who "user" and turns without a speaker are in a source."""
        return self.defaults.get(source, self.defaults.get(""))


def load_speakers(path: Path, sources: Collection[str]) -> Speakers:
    """Read `default: NAME` and, for each of the `sources`, `ID: NAME` and a `default` of its own.

    IDs and names are texts as they are written (`12345` is "12345"). Raises InvalidInput naming file, line and key.
    """
    try:
        node = yaml.compose(path.read_text(encoding="utf-8-sig"), Loader=yaml.SafeLoader)
    except (OSError, UnicodeDecodeError) as failure:
        why = getattr(failure, "strerror", None) or "it is no UTF-8"
        raise InvalidInput(f"{path} cannot be read as a speaker map: {why}", path=("speakers",), reason="INVALID_SPEAKERS") from failure
    except yaml.YAMLError as failure:
        mark = getattr(failure, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        problem = getattr(failure, "problem", None) or "it cannot be parsed"
        raise InvalidInput(f"{path}{where}: no valid YAML: {problem}", path=("speakers",), reason="INVALID_SPEAKERS") from failure
    names: dict[str, dict[str, str]] = {}
    defaults: dict[str, str] = {}
    if node is None:
        return Speakers()
    for key, source, value in _pairs(path, node, ""):
        if source == DEFAULT:
            defaults[""] = _name(path, value, DEFAULT)
        elif source not in sources:
            raise _mistake(path, key, source, f"there is no such source; there are {', '.join(sorted(sources))}")
        else:
            given = {who: _name(path, name, f"{source}.{who}") for _, who, name in _pairs(path, value, source)}
            if DEFAULT in given:
                defaults[source] = given.pop(DEFAULT)
            names[source] = given
    return Speakers(names, defaults)


def _pairs(path: Path, node: yaml.Node, key: str) -> Iterator[tuple[yaml.Node, str, yaml.Node]]:
    """The keys of a mapping with their values, each once."""
    if not isinstance(node, yaml.MappingNode):
        raise _mistake(path, node, key, "this must be a mapping of IDs to names" if key else "the file must be a mapping of sources")
    seen: set[str] = set()
    for name, value in node.value:
        if not isinstance(name, yaml.ScalarNode) or not name.value.strip():
            raise _mistake(path, name, key, "an ID is a text")
        text = name.value.strip()
        if text in seen:
            raise _mistake(path, name, f"{key}.{text}".strip("."), "this stands here twice")
        seen.add(text)
        yield name, text, value


def _name(path: Path, node: yaml.Node, key: str) -> str:
    if not isinstance(node, yaml.ScalarNode):
        raise _mistake(path, node, key, "a name is a text")
    try:
        return checked_name("" if node.tag.endswith(":null") else node.value)
    except InvalidInput as failure:
        raise _mistake(path, node, key, failure.message) from failure


def _mistake(path: Path, node: yaml.Node, key: str, why: str) -> InvalidInput:
    where = f"{path}, line {node.start_mark.line + 1}, {key or 'document'}"
    return InvalidInput(f"{where}: {why}", path=("speakers", *key.split(".", 1)), reason="INVALID_SPEAKERS")

"""Rule files of hygiene: YAML checked against models; every mistake names the file, the line and the key, and shows no value.

The built-in files are `data/secrets.yaml` and `data/threats.yaml`. A user's own file adds rules and switches built-in ones off:

    secrets: {off: [discord-token], rules: {badge: {what: ..., pattern: ..., finds: [...], leaves: [...]}}}
    threats: {off: [], rules: {}}
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any, TypeVar

import re2
import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, ValidationError, ValidationInfo, model_validator

from ontology.errors import InvalidInput

DATA = Path(__file__).parent / "data"
BUILT_IN = "built in"
"""The context in which the files that come along are read."""
MOST_BYTES = 1_000_000
"""A rule file is written by hand; what is larger is another file."""
_BOOL, _STAMP = "tag:yaml.org,2002:bool", "tag:yaml.org,2002:timestamp"
_Key = tuple[str, ...]
_REFERENCE = re.compile(r"\(\?&([a-z_]+)\)")
_NAME = re.compile("[a-z_]+")
Model = TypeVar("Model", bound=BaseModel)


def _loader() -> type[yaml.SafeLoader]:
    """The safe loader, in C where there is one, for which `off` and `no` are words, and dates are text."""
    loader: type[yaml.SafeLoader] = type("Loader", (getattr(yaml, "CSafeLoader", yaml.SafeLoader),), {})
    loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag not in (_BOOL, _STAMP)]
        for first, resolvers in loader.yaml_implicit_resolvers.items()
    }
    loader.add_implicit_resolver(_BOOL, re.compile("^(?:true|false)$"), list("tf"))
    return loader


_LOADER = _loader()


def _pattern(text: str, info: ValidationInfo) -> str:
    # The tests compile what comes along; to compile all of it at every start would take a tenth of a second.
    if info.context == BUILT_IN:
        return text
    options = re2.Options()
    options.log_errors = False
    try:
        re2.compile(text, options)
    except re2.error as failure:
        # What RE2 says after the colon is a part of the pattern.
        why = failure.args[0].decode() if failure.args and isinstance(failure.args[0], bytes) else str(failure)
        raise ValueError(f"no RE2 pattern: {why.partition(':')[0]}") from None
    return text


def _secret_name(name: str) -> str:
    if not re2.fullmatch(r"[a-z]+(?:-[a-z0-9]+)*", name) or len(name) > 40:
        raise ValueError("a rule's name is up to 40 lower-case letters, digits and '-', beginning with a letter")
    return name


def _threat_name(name: str) -> str:
    if not re2.fullmatch(r"[a-z]+:[a-z]+(?:-[a-z0-9]+)*", name) or len(name) > 60:
        raise ValueError("a threat's name is KIND:NAME of lower-case letters, digits and '-', such as 'injection:override'")
    return name


def _word(text: str, info: ValidationInfo) -> str:
    if len(text) > 2 and text[0] == text[-1] == "/":
        _pattern(text[1:-1], info)
        return text
    return text.lower()


Pattern = Annotated[str, AfterValidator(_pattern)]
Word = Annotated[str, Field(min_length=1), AfterValidator(_word)]
Examples = Annotated[list[str], Field(min_length=2)]
"""Texts of the kind that the rule is for, or of the kind that it must leave. `{hex:32}` stands for 32 made-up digits, and
`«...»` stands round what is to be replaced (`extraction.examples`)."""


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class SecretRule(_Strict):
    """What one kind of secret looks like: a `pattern`, or a block from `begin` to `end`.

    Of a pattern the groups whose names begin with `secret` are replaced, where none of them takes part the whole match. It is none where
    `unless` matches it whole, where `not_after` matches the end of what stands before, or where it has less than `entropy`
    bits a character. `any_of`: the text must hold one of these words (`/a pattern/` between slashes).
    """

    what: Annotated[str, Field(min_length=3, max_length=400)]
    pattern: Pattern | None = None
    begin: Pattern | None = None
    end: Pattern | None = None
    body: Pattern | None = None
    unless: list[Pattern] = []
    not_after: Pattern | None = None
    entropy: Annotated[float, Field(gt=0, le=8)] | None = None
    any_of: list[Word] = []
    finds: Examples
    leaves: Examples

    @model_validator(mode="after")
    def _one_way(self, info: ValidationInfo) -> SecretRule:
        block = [part is not None for part in (self.begin, self.end, self.body)]
        if (self.pattern is None) != all(block) or any(block) != all(block):
            raise ValueError("a rule has a `pattern`, or `begin`, `end` and `body`")
        if info.context != BUILT_IN and self.pattern is not None and re2.fullmatch(self.pattern, "") is not None:
            raise ValueError("the pattern matches an empty text")
        return self


class ThreatRule(_Strict):
    """What makes a text suspicious. `quarantine`: it is held back, else only marked."""

    what: Annotated[str, Field(min_length=3, max_length=400)]
    pattern: Pattern
    quarantine: bool = False
    any_of: list[Word] = []
    finds: Examples
    leaves: Examples


SecretRules = dict[Annotated[str, AfterValidator(_secret_name)], SecretRule]
ThreatRules = dict[Annotated[str, AfterValidator(_threat_name)], ThreatRule]


class SecretsFile(_Strict):
    """`data/secrets.yaml`."""

    shared: dict[str, str] = {}
    rules: SecretRules
    secret_names: Pattern


class ThreatsFile(_Strict):
    """`data/threats.yaml`."""

    shared: dict[str, str] = {}
    rules: ThreatRules
    about: Pattern
    quoted: Pattern


class SecretsOverlay(_Strict):
    """What a user's file says of secrets."""

    off: list[str] = []
    rules: SecretRules = {}


class ThreatsOverlay(_Strict):
    """What a user's file says of threats."""

    off: list[str] = []
    rules: ThreatRules = {}


class HygieneFile(_Strict):
    """A user's file."""

    secrets: SecretsOverlay = SecretsOverlay()
    threats: ThreatsOverlay = ThreatsOverlay()


class Lines:
    """Where the keys of a file stand, for messages."""

    def __init__(self, path: Path, node: yaml.Node | None) -> None:
        self.path = path
        self._lines: dict[_Key, int] = {}
        if node is not None:
            self._walk(node, ())

    def _walk(self, node: yaml.Node, key: _Key) -> None:
        self._lines.setdefault(key, node.start_mark.line + 1)
        if isinstance(node, yaml.MappingNode):
            for name, value in node.value:
                here = (*key, str(name.value))
                if here in self._lines:
                    raise self.mistake(here, "stands here twice", line=name.start_mark.line + 1)
                self._lines[here] = name.start_mark.line + 1
                self._walk(value, here)
        elif isinstance(node, yaml.SequenceNode):
            for place, value in enumerate(node.value):
                self._walk(value, (*key, str(place)))

    def mistake(self, key: _Key, why: str, *, line: int | None = None) -> InvalidInput:
        """The error for a key, of the nearest line that is known."""
        at = key
        while at not in self._lines and at:
            at = at[:-1]
        shown = ".".join(part[:80] for part in key) or "document"
        return InvalidInput(f"{self.path}, line {line or self._lines.get(at, 1)}, {shown}: {why}", path=key, reason="INVALID_HYGIENE")


def built_in(name: str, model: type[Model]) -> Model:
    """A file that comes along, such as `secrets.yaml`."""
    data = yaml.load((DATA / name).read_text(encoding="utf-8"), Loader=_LOADER)  # noqa: S506 - a safe loader
    return model.model_validate(_with_shared(data), context=BUILT_IN)


def read(path: Path, model: type[Model]) -> tuple[Model, Lines]:
    """A rule file and where its keys stand. Raises InvalidInput (INVALID_HYGIENE) naming file, line and key."""
    try:
        if path.is_file() and path.stat().st_size > MOST_BYTES:
            raise InvalidInput(f"{path} is no rule file: it has more than {MOST_BYTES:,} bytes", reason="INVALID_HYGIENE")
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as failure:
        why = failure.strerror if isinstance(failure, OSError) else "it is no UTF-8"
        raise InvalidInput(f"{path} cannot be read as a rule file: {why}", reason="INVALID_HYGIENE") from None
    try:
        # The tree first: an alias that holds itself would be walked for ever, so aliases are refused.
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=_LOADER)):
            raise InvalidInput(f"{path}: a rule file has no aliases (`*name`)", reason="INVALID_HYGIENE")
        lines = Lines(path, yaml.compose(text, Loader=_LOADER))
        data: Any = yaml.load(text, Loader=_LOADER)  # noqa: S506 - a safe loader
    except yaml.YAMLError as failure:
        mark = getattr(failure, "problem_mark", None)
        where = f", line {mark.line + 1}" if mark else ""
        # What it quotes is of the file.
        why = re.sub("'.*'", "...", str(getattr(failure, "problem", None) or "it cannot be read"))
        raise InvalidInput(f"{path}{where}: no valid YAML: {why}", reason="INVALID_HYGIENE") from None
    except ValueError:
        raise InvalidInput(f"{path}: no valid YAML: a value cannot be read", reason="INVALID_HYGIENE") from None
    try:
        return model.model_validate({} if data is None else data), lines
    except ValidationError as failure:
        first = failure.errors(include_input=False, include_context=False, include_url=False)[0]
        key = tuple(str(part) for part in first["loc"] if part != "[key]")
        raise lines.mistake(key, str(first["msg"]).removeprefix("Value error, ")) from None


def _with_shared(data: dict[str, Any]) -> dict[str, Any]:
    """A built-in file with `(?&name)` in its patterns, and bare names in `unless`, replaced by the shared pattern of that name."""
    shared: dict[str, str] = {}

    def whole(pattern: str) -> str:
        return _REFERENCE.sub(lambda reference: shared[reference[1]], pattern)

    for name, pattern in data.get("shared", {}).items():
        shared[name] = whole(pattern)
    for rule in data["rules"].values():
        if "unless" in rule:
            rule["unless"] = [shared[each] if _NAME.fullmatch(each) else whole(each) for each in rule["unless"]]
        if "pattern" in rule:
            rule["pattern"] = whole(rule["pattern"])
    if "secret_names" in data:
        data["secret_names"] = whole(data["secret_names"])
    return {**data, "shared": shared}

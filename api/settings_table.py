"""The table of settings in docs/operations.md: `python -m api.settings_table` writes it anew from the settings classes."""

from __future__ import annotations

import ast
import types
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import ByteSize, SecretStr
from pydantic.fields import FieldInfo
from pydantic_core import PydanticUndefined
from pydantic_settings import BaseSettings

ROOT = Path(__file__).parents[1]
PACKAGES = ("api", "workers", "graph", "extraction")
PAGE = ROOT / "docs" / "operations.md"
BEGIN, END = "<!-- settings: python -m api.settings_table -->", "<!-- end of settings -->"
_WORDS = {"str": "text", "int": "whole number", "float": "number", "bool": "true or false", "Path": "path"}


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting. `default` None: not set, or computed as its meaning says."""

    variable: str
    kind: str
    default: str | None
    meaning: str

    @property
    def row(self) -> str:
        """Its line of the table."""
        default = f"`{self.default}`" if self.default else "" if self.default is None else "empty"
        return f"| `{self.variable}` | {self.kind} | {default} | {self.meaning} |".replace("|  |", "| |")


def settings_classes() -> list[type[BaseSettings]]:
    """All settings classes of the packages, by module."""
    found = []
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            for name in _settings_in(path):
                module = import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
                found.append(getattr(module, name))
    return found


def _settings_in(path: Path) -> Iterator[str]:
    text = path.read_text(encoding="utf-8")
    if "BaseSettings" not in text:
        return
    for node in ast.parse(text).body:
        if isinstance(node, ast.ClassDef) and any(isinstance(base, ast.Name) and base.id == "BaseSettings" for base in node.bases):
            yield node.name


def settings_of(kind: type[BaseSettings]) -> Iterator[Setting]:
    """The settings of a class, as environment variables."""
    prefix = str(kind.model_config.get("env_prefix", ""))
    for name, field in kind.model_fields.items():
        variable = f"{prefix}{name}".upper()
        yield Setting(variable, kind_of(field.annotation), _default_of(field), " ".join((field.description or "").split()))


def kind_of(annotation: Any) -> str:
    """A type in the words of a reader."""
    if get_origin(annotation) in (Union, types.UnionType):
        return ", ".join(kind_of(part) for part in get_args(annotation) if part is not type(None))
    if get_origin(annotation) is Literal:
        return " or ".join(f"`{value}`" for value in get_args(annotation))
    if get_origin(annotation) is tuple:
        return "list"
    if annotation is SecretStr:
        return "secret"
    if annotation is ByteSize:
        return "size"
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return " or ".join(f"`{member.value}`" for member in annotation)
    name = getattr(annotation, "__name__", str(annotation))
    return _WORDS.get(name, name)


def _default_of(field: FieldInfo) -> str | None:
    if field.default is None or field.default is PydanticUndefined or field.default == ():
        return None
    if isinstance(field.default, bool):
        return str(field.default).lower()
    if isinstance(field.default, ByteSize):
        return field.default.human_readable().replace(".0", "")
    return str(field.default)


def table() -> str:
    """The table, in the order of the packages. A variable that two classes read stands once, as the first tells it."""
    rows: dict[str, str] = {}
    for kind in settings_classes():
        for setting in settings_of(kind):
            rows.setdefault(setting.variable, setting.row)
    return "\n".join(["| variable | type | default | meaning |", "|---|---|---|---|", *rows.values()])


def filled(page: str) -> str:
    """The page with the table of now between its marks. Raises ValueError where they are missing."""
    before, mark, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not mark or not end:
        raise ValueError(f"{PAGE.name} has no {BEGIN} ... {END}")
    return f"{before}{BEGIN}\n{table()}\n{END}{after}"


if __name__ == "__main__":
    PAGE.write_text(filled(PAGE.read_text(encoding="utf-8")), encoding="utf-8")

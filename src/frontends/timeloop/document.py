"""YAML as Timeloop's users write it: values with the line they stand on, of bounded size."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import yaml

from ...errors import TilewrightError
from ...files import read_text

MAX_BYTES = 1 << 19
MAX_ITEMS = 100_000
"""Most values of a document, those that aliases repeat counted again."""

MAX_DEPTH = 64
NULLS = ("", "~", "null", "Null", "NULL")


@dataclass(frozen=True)
class Item:
    """A value of a document: the text of a scalar, a list, or a mapping; `tag` is what `!Tag` says of it.

    Hyphens in keys are underscores here, as in Timeloop's own reader.
    """

    file: str
    line: int
    tag: str
    value: str | tuple[Item, ...] | dict[str, Item]
    plain: bool = False  # a scalar without quotes

    @property
    def where(self) -> str:
        """`file:line`."""
        return f"{self.file}:{self.line}"

    def error(self, expected: str, found: object) -> TilewrightError:
        """A complaint about this value."""
        shown = str(found)
        return TilewrightError("parse", self.where, expected, shown if len(shown) <= 80 else f"{shown[:77]}...")

    def kind(self) -> str:
        """What it is, for people."""
        if isinstance(self.value, str):
            return f"`{self.value}`" if self.value else "nothing"
        return "a list" if isinstance(self.value, tuple) else "a mapping"

    @property
    def is_null(self) -> bool:
        """Whether nothing is said."""
        return self.plain and self.value in NULLS

    def mapping(self, what: str) -> dict[str, Item]:
        """Values by key, those that say nothing left out."""
        if self.is_null:
            return {}
        if not isinstance(self.value, dict):
            raise self.error(f"{what}: a mapping", self.kind())
        return {key: item for key, item in self.value.items() if not item.is_null}

    def items(self, what: str) -> tuple[Item, ...]:
        """The values of a list."""
        if self.is_null:
            return ()
        if not isinstance(self.value, tuple):
            raise self.error(f"{what}: a list", self.kind())
        return self.value

    def text(self, what: str) -> str:
        """A scalar as it is written."""
        if not isinstance(self.value, str) or not self.value.strip():
            raise self.error(what, self.kind())
        return self.value.strip()

    def number(self, what: str) -> float:
        """A finite number of at least 0."""
        text = self.text(what)
        if not re.fullmatch(r"[+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?", text) or len(text) > 40:
            lever = "write out the value of expressions" if re.search(r"[a-zA-Z*(]", text) else ""
            raise TilewrightError("parse", self.where, f"{what}: a number of at least 0", f"`{text[:80]}`", lever)
        return float(text)

    def whole(self, what: str) -> int:
        """A whole number of at least 0."""
        value = self.number(what)
        if not value.is_integer() or value > 1 << 53:
            raise self.error(f"{what}: a whole number below 2^53", self.kind())
        return int(value)

    def flag(self, what: str) -> bool:
        """True or false."""
        text = self.text(what).lower()
        if text not in ("true", "false", "1", "0"):
            raise self.error(f"{what}: true or false", self.kind())
        return text in ("true", "1")

    def names(self, what: str) -> tuple[str, ...]:
        """The scalars of a list."""
        return tuple(item.text(f"a name in {what}") for item in self.items(what))

    def find(self, what: str, *keys: str) -> Item | None:
        """The value under the first of `keys` that is there."""
        mapping = self.mapping(what)
        return next((mapping[key] for key in keys if key in mapping), None)

    def part(self, what: str, *keys: str) -> Item:
        """The value under the first of `keys` that is there, else one that says nothing."""
        return self.find(what, *keys) or replace(self, value="", plain=True)

    def need(self, what: str, *keys: str) -> Item:
        """The value under one of `keys`, which must be there."""
        found = self.find(what, *keys)
        if found is None:
            raise self.error(f"{what}: {' or '.join(keys)}", "none")
        return found


def read_yaml(path: Path) -> Item:
    """The document in a file of at most `MAX_BYTES`."""
    return parse_yaml(read_text(path, MAX_BYTES), str(path))


def parse_yaml(text: str, file: str = "yaml") -> Item:
    """The one document in `text`; tags build nothing, aliases are copied up to `MAX_ITEMS`."""
    if len(text) > MAX_BYTES:
        raise TilewrightError("parse", file, f"at most {MAX_BYTES} characters", f"{len(text)}")
    template = re.search(r"{{|{%", text)
    if template is not None:
        line = text.count("\n", 0, template.start()) + 1
        lever = "let Timeloop's front end write it out (parsed-processed-input.yaml)"
        raise TilewrightError("parse", f"{file}:{line}", "plain YAML", "a Jinja template", lever)
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except yaml.MarkedYAMLError as error:
        line = f":{error.problem_mark.line + 1}" if error.problem_mark is not None else ""
        raise TilewrightError("parse", f"{file}{line}", "YAML", f"text that does not parse ({error.problem})") from None
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise TilewrightError(
            "parse", file, "YAML", f"text that does not parse ({str(error).splitlines()[0][:120]})"
        ) from None
    if node is None:
        raise TilewrightError("parse", file, "a document", "nothing")
    return _Copy(file).item(node, 0)


class _Copy:
    """Items of nodes, counted."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.count = 0

    def item(self, node: yaml.Node, depth: int) -> Item:
        line = node.start_mark.line + 1
        self.count += 1
        if self.count > MAX_ITEMS or depth > MAX_DEPTH:
            expected = f"at most {MAX_ITEMS} values (aliases count), nested at most {MAX_DEPTH} deep"
            raise TilewrightError("parse", f"{self.file}:{line}", expected, "more")
        tag = node.tag.removeprefix("!") if node.tag.startswith("!") else ""
        if isinstance(node, yaml.ScalarNode):
            return Item(self.file, line, tag, node.value, node.style is None)
        if isinstance(node, yaml.SequenceNode):
            return Item(self.file, line, tag, tuple(self.item(child, depth + 1) for child in node.value))
        assert isinstance(node, yaml.MappingNode)
        return Item(self.file, line, tag, self.mapping(node, line, depth))

    def mapping(self, node: yaml.MappingNode, line: int, depth: int) -> dict[str, Item]:
        found: dict[str, Item] = {}
        merged: dict[str, Item] = {}
        for key, child in node.value:
            if not isinstance(key, yaml.ScalarNode):
                raise TilewrightError("parse", f"{self.file}:{line}", "keys that are names", "a collection")
            item = self.item(child, depth + 1)
            name = str(key.value).replace("-", "_")
            if name == "<<":
                for source in item.value if isinstance(item.value, tuple) else (item,):
                    merged = source.mapping("what is merged") | merged
                continue
            if name in found:
                raise TilewrightError("parse", f"{self.file}:{key.start_mark.line + 1}", f"{name} once", "it twice")
            found[name] = item
        return merged | found


def refuse(item: Item, what: str, keys: Iterable[str]) -> None:
    """Complain about keys whose meaning we do not have, unless they are switched off."""
    for key in keys:
        found = item.find(what, key)
        if found is None or found.value in ("0", "0.0", "1.0", "False", "false", (), {}):
            continue
        raise TilewrightError("unsupported", found.where, f"{what} without {key}", found.kind(), "leave it out")

"""Machines of the shipped targets, cached as JSON beside the source where Python keeps compiled modules.

Reading one again takes a thirtieth of the time that making the parser's tables and parsing take, a third of a second
of processor time.  What is cached counts while the target's text and the code that reads it are as they were.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import fields, is_dataclass
from functools import cache, lru_cache
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from typing import Any

from ...errors import TilewrightError
from ...files import replacing
from ...machine import Machine

PACKAGE = __name__.partition(".")[0]

SOURCES = "algebra", "frontends/acg", "machine"
"""Folders of the package whose code decides what a text means."""


@lru_cache(maxsize=32)
def cached_machine(name: str, text: str, parse: Callable[[str, str], Machine]) -> Machine:
    """The machine of a shipped target: as it was cached, or as `parse(text, file)` has it, which is then cached."""
    path = Path(__file__).parent / "__pycache__" / f"{name}.{sys.implementation.cache_tag}.machine"
    version = _version(text)
    with suppress(Exception):  # not there, of other code, or damaged
        dated = path.read_bytes()
        if dated.startswith(version):
            return value_of(json.loads(dated[len(version) :]))
    machine = parse(text, f"{name}.acg")
    if not sys.dont_write_bytecode:
        with suppress(OSError, TilewrightError):  # a package that others installed
            path.parent.mkdir(exist_ok=True)
            with replacing(path) as place:
                place.write_bytes(version + json.dumps(plain(machine)).encode())
    return machine


def plain(value: Any) -> Any:
    """A machine, or a part of one, as JSON: an object is a list that begins with its class, a tuple one with null."""
    if isinstance(value, tuple):
        return [None, *map(plain, value)]
    if is_dataclass(value):
        return [_name(type(value)), *(plain(getattr(value, field.name)) for field in fields(value))]
    assert value is None or isinstance(value, str | int | float), type(value)
    return value


def value_of(plain: Any) -> Any:
    """What `plain` was made from."""
    if not isinstance(plain, list):
        return plain
    name, *parts = plain
    values = map(value_of, parts)
    return tuple(values) if name is None else _class(name)(*values)


def _name(kind: type) -> str:
    return f"{kind.__module__.removeprefix(PACKAGE)}.{kind.__name__}"


@cache
def _class(name: str) -> type:
    module, _, kind = name.rpartition(".")
    found = getattr(import_module(f"{PACKAGE}{module}"), kind)
    assert isinstance(found, type)
    assert is_dataclass(found)
    return found


def _version(text: str) -> bytes:
    return blake2b(text.encode(), key=_version_of_code(), digest_size=16).digest()


@cache
def _version_of_code() -> bytes:
    """A digest of the sources."""
    found, package = blake2b(digest_size=16), Path(__file__).parents[2]
    for folder in SOURCES:
        for path in sorted((package / folder).rglob("*")):
            if path.suffix in (".py", ".lark", ".dram"):
                found.update(path.read_bytes())
    return found.digest()

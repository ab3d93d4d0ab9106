"""Targets by name or file.

Machines of the shipped targets are cached as JSON beside the source where Python keeps compiled modules: reading one
again takes a thirtieth of the time that making the parser's tables and parsing take, a third of a second of processor
time.  What is cached counts while the target's text and the code that reads it are as they were.
"""

import json
import logging
import re
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass, replace
from functools import cache, lru_cache
from hashlib import blake2b
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from ...dialects.acg import GraphOp
from ...errors import TilewrightError, check_type
from ...files import read_text, replacing
from ...machine import Machine
from ...machine.changes import attributes_of, changed
from ...machine.rules import check_machine
from ...machine.spreading import idle_axes

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


logger = logging.getLogger(__name__)

SIZES = {"depth": "depth", "banks": "banks", "data_width": "data_width_bits", "buffering": "buffering"}
"""Sizes of a memory that `load_target` takes as options, with their names in `Memory`."""


@cache
def target_files() -> Mapping[str, Path]:
    """The shipped targets by name."""
    folder = Path(__file__).parents[2] / "targets"
    return MappingProxyType({path.stem: path for path in sorted(folder.glob("*.acg"))})


@lru_cache(maxsize=16)
def parse_target(text: str, file: str = "target") -> Machine:
    """The machine that `.acg` text describes; warns of axes of arrays that instructions leave idle.

    Raises `TilewrightError`: kind `parse` for syntax, kind `target` for a machine that breaks a rule of
    `machine.rules`; the subject begins with `file:line`.
    """
    from .parse import parse_text  # slow to load, and not needed for machines that are cached

    source = parse_text(text, file)
    check_machine(source.machine, source.where)
    for warning in idle_axes(source.machine):
        logger.warning("%s: %s", file, warning)
    return source.machine


def parse_module(text: str, file: str = "target") -> ModuleOp:
    """A module with the `acg.graph` that `.acg` text describes; errors as for `parse_target`."""
    return ModuleOp([GraphOp.get(parse_target(text, file))])


def load_target(target: str | Path | Machine) -> Machine:
    """The machine of a shipped target (by name), of an `.acg` file or a Timeloop architecture in `.yaml` (by path), or
    the one given.

    Other numbers may follow a colon: `genesys16:IBUF.depth=16384,OBUF.depth=16384`, `edge16:DRAM.bandwidth=32`.
    """
    if isinstance(target, Machine):
        return target
    check_type("target", target, (str, Path), "the name of a target, or the path of an .acg file")
    name, colon, sizes = str(target).partition(":")
    if colon and not Path(target).is_file():
        return _resized(_load(name), str(target), sizes)
    return _load(target)


@lru_cache(maxsize=16)
def _resized(machine: Machine, target: str, items: str) -> Machine:
    """The machine with other numbers: `ATTRIBUTE=NUMBER`, separated by commas (`machine.changes`)."""
    resized = replace(machine, source="")
    for item in items.split(","):
        key, _, value = (part.strip() for part in item.partition("="))
        if not re.fullmatch(r"\d{1,15}(\.\d{1,9})?", value):
            raise _no_attribute(machine, target, item)
        resized = _with(
            resized, key, float(value) if "." in value else int(value), _no_attribute(machine, target, item)
        )
    check_machine(resized, lambda subject: f"{target[:200]} ({subject})")
    return resized


def _with(machine: Machine, key: str, value: float, error: TilewrightError) -> Machine:
    """The machine with an attribute, also with the size of a memory that has none; `error` where there is no such."""
    for place, memory in enumerate(machine.memories):
        name, _, size = key.rpartition(".")
        if name == memory.name and size in SIZES and value == int(value):
            memories = list(machine.memories)
            memories[place] = replace(memory, **{SIZES[size]: int(value)})
            return replace(machine, memories=tuple(memories))
    try:
        return changed(machine, key, value)
    except TilewrightError:
        raise error from None


def _no_attribute(machine: Machine, target: str, item: str) -> TilewrightError:
    names = ", ".join(memory.name for memory in machine.memories)
    sizes = f"MEMORY.{'|'.join(SIZES)}=NUMBER of the memories {names}"
    near = [path for path in attributes_of(machine) if path.endswith((".bandwidth", ".instances_x"))][:6]
    others = f", or another attribute such as {', '.join(near)}" if near else ""
    expected = sizes + others
    return TilewrightError("target", target[:200], expected, f"`{item[:80]}`")


def _load(target: str | Path) -> Machine:
    shipped = target_files()
    path = shipped.get(str(target), Path(target))
    if not path.is_file():
        raise TilewrightError("target", str(target), f"one of {', '.join(shipped)}, or an .acg file", "neither")
    if path.suffix in (".yaml", ".yml"):
        from ..timeloop import load_architecture, machine_of

        return machine_of(load_architecture(path), path.stem)
    text = read_text(path)
    return cached_machine(path.stem, text, parse_target) if path in shipped.values() else parse_target(text, str(path))

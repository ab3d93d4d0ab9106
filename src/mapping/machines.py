"""Machines as a person names them: a shipped target, or a file that describes one."""

import re
from functools import lru_cache
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp, StringAttr

from ..costs.hierarchy import Architecture, parse_architecture
from ..costs.json_fields import read_json
from ..dialects.acg import machine_of
from ..dialects.nest import GroupOp
from ..driver import parse_mlir, parse_text
from ..errors import TilewrightError, check_type
from ..frontends.einsum import is_kernel
from ..frontends.machine_files import YAML, is_map_only
from ..machine import Machine
from ..targets import DEFAULT_TARGET

TARGET = "target"
"""Attribute of a mapped `nest.group`: the machine that its mapping is for, as a person names it."""

_MACHINE = re.compile(r"^( *)acg\.graph ", re.MULTILINE)


def target_of(model: str | Path) -> str | Machine:
    """The target that the mappings of a `.mlir` file are for by their attribute, else the machine of its `acg.graph`;
    `DEFAULT_TARGET` where neither is there."""
    text = _text_of(model)
    if (target := mapped_for(model)) is not None or "acg.graph" not in text:
        return target or DEFAULT_TARGET
    try:
        return machine_of(parse_text(_machine_in(text), Path(model)))
    except TilewrightError:  # told when the file is taken
        return DEFAULT_TARGET


def _machine_in(text: str) -> str:
    """The first `acg.graph` of a text alone, as networks take long to parse; all of the text where none ends."""
    begin = _MACHINE.search(text)
    if begin is None:
        return text
    closing = f"\n{begin[1]}}}"
    end = text.find(closing, begin.end())
    return text[begin.start() : end + len(closing)] if end >= 0 else text


def mapped_for(model: str | Path) -> str | None:
    """The target that the mappings of a `.mlir` file are for, as `map -o` notes it; None for any other model."""
    if f'{TARGET} = "' not in _text_of(model):
        return None
    return _named_in(Path(model), Path(model).stat().st_mtime_ns)


@lru_cache(maxsize=4)
def _named_in(path: Path, edited_ns: int) -> str | None:
    """That of a file as it was when it was last edited."""
    try:
        return named_target(parse_mlir(path))
    except TilewrightError:  # told when the file is taken
        return None


def runs_mapping(model: str | Path, target: str | Path | Machine) -> bool:
    """Whether `model` runs as a mapping, as all do on targets without instructions, not as a program."""
    return is_map_only(target) or mapped_for(model) is not None


def _text_of(model: str | Path) -> str:
    """The text of a `.mlir` file; nothing for any other model."""
    path = Path(model)
    if is_kernel(str(model)) or path.suffix != ".mlir" or not path.is_file():
        return ""
    return path.read_text(encoding="utf-8", errors="replace")


def named_target(module: ModuleOp) -> str | None:
    """The target that the mapped groups of a module are for by their attribute; None where none or several are told."""
    told = {op.attributes.get(TARGET) for op in module.walk() if isinstance(op, GroupOp) and op.is_mapped}
    names = [name.data for name in told if isinstance(name, StringAttr)]
    return names[0] if len(names) == 1 else None


def find_architecture(target: str | Path | Machine) -> Architecture:
    """The memory hierarchy of a machine, of a shipped target (by name) or of a file: `.acg`, a Timeloop architecture
    (`.yaml`), or `.json` in the form that `costs.hierarchy.parse_architecture` reads."""
    from ..costs.hierarchy.of_machine import architecture_of

    if isinstance(target, Machine):
        return architecture_of(target)
    check_type("target", target, (str, Path), "the name of a target, or a path")
    path = Path(target)
    if path.suffix == ".json":
        return parse_architecture(read_json(path), str(path))
    if path.suffix in YAML:
        from ..frontends.timeloop import load_architecture

        return load_architecture(path)
    from ..frontends.acg import load_target

    return architecture_of(load_target(target))

"""Machines as a person names them: a shipped target, or a file that describes one."""

from pathlib import Path

from xdsl.dialects.builtin import ModuleOp, StringAttr

from ..costs.hierarchy import Architecture, parse_architecture
from ..costs.json_fields import read_json
from ..dialects.acg import has_target, machine_of
from ..dialects.nest import GroupOp
from ..driver import is_kernel, parse_mlir
from ..errors import TilewrightError, check_type
from ..frontends.machine_files import YAML
from ..machine import Machine

DEFAULT_TARGET = "edge16"
TARGET = "target"
"""Attribute of a mapped `nest.group`: the machine that its mapping is for, as a person names it."""


def target_of(model: str | Path) -> str | Machine:
    """The target that the mappings of a `.mlir` file are for by their attribute, else the machine of its `acg.graph`;
    `edge16` where neither is there."""
    path = Path(model)
    if is_kernel(str(model)) or path.suffix != ".mlir" or not path.is_file():
        return DEFAULT_TARGET
    text = path.read_bytes()
    if f'{TARGET} = "'.encode() not in text and b"acg.graph" not in text:  # networks take long to parse
        return DEFAULT_TARGET
    try:
        module = parse_mlir(path)
        return named_target(module) or (machine_of(module) if has_target(module) else DEFAULT_TARGET)
    except TilewrightError:  # told when the file is taken
        return DEFAULT_TARGET


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

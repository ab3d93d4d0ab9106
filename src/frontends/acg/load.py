"""Targets by name or file."""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

from xdsl.dialects.builtin import ModuleOp

from ...dialects.acg import GraphOp
from ...errors import TilewrightError
from ...machine import Machine
from ...machine.rules import first_complaint
from .parse import parse_text


def target_files() -> dict[str, Path]:
    """The shipped targets by name."""
    folder = Path(__file__).parents[2] / "targets"
    return {path.stem: path for path in sorted(folder.glob("*.acg"))}


@lru_cache(maxsize=16)
def parse_target(text: str, file: str = "target") -> Machine:
    """The machine that `.acg` text describes.

    Raises `TilewrightError`: kind `parse` for syntax, kind `target` for a machine that breaks a rule of
    `machine.rules`; the subject begins with `file:line`.
    """
    source = parse_text(text, file)
    complaint = first_complaint(source.machine)
    if complaint is not None:
        where = source.where(complaint.subject)
        raise TilewrightError("target", where, complaint.expected, complaint.found, complaint.lever)
    return source.machine


def parse_module(text: str, file: str = "target") -> ModuleOp:
    """A module with the `acg.graph` that `.acg` text describes; errors as for `parse_target`."""
    return ModuleOp([GraphOp.get(parse_target(text, file))])


def load_target(target: str | Path) -> Machine:
    """The machine of a shipped target (by name), of an `.acg` file or a Timeloop architecture in `.yaml` (by path)."""
    shipped = target_files()
    path = shipped.get(str(target), Path(target))
    if not path.is_file():
        raise TilewrightError("target", str(target), f"one of {', '.join(shipped)}, or an .acg file", "neither")
    if path.suffix in (".yaml", ".yml"):
        from ..timeloop import load_architecture, machine_of

        return machine_of(load_architecture(path), path.stem)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise TilewrightError("target", str(target), "a readable text file", str(error)) from None
    return parse_target(text, str(path) if path not in shipped.values() else path.name)

"""Machines as a person names them: a shipped target, or a file that describes one."""

from __future__ import annotations

from pathlib import Path

from ..costs.hierarchy import Architecture, parse_architecture
from ..costs.json_fields import read_json
from ..errors import check_type
from ..frontends.machine_files import YAML


def find_architecture(target: str | Path) -> Architecture:
    """The memory hierarchy of a shipped target (by name) or of a file: `.acg`, a Timeloop architecture (`.yaml`), or
    `.json` in the form that `costs.hierarchy.parse_architecture` reads."""
    check_type("target", target, (str, Path), "the name of a target, or a path")
    path = Path(target)
    if path.suffix == ".json":
        return parse_architecture(read_json(path), str(path))
    if path.suffix in YAML:
        from ..frontends.timeloop import load_architecture

        return load_architecture(path)
    from ..costs.hierarchy.of_machine import architecture_of
    from ..frontends.acg import load_target

    return architecture_of(load_target(target))

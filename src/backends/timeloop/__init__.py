"""Timeloop's YAML out: problems, machines and mappings that `timeloop-model` takes (docs/timeloop.md)."""

from __future__ import annotations

from pathlib import Path

from ...costs.hierarchy import Architecture, LoopMapping, Problem
from ...files import replacing_all
from .architecture import architecture_yaml
from .mapping import mapping_yaml
from .problem import dimension_letters, problem_yaml

__all__ = ["architecture_yaml", "dimension_letters", "mapping_yaml", "problem_yaml", "write_timeloop"]


def write_timeloop(folder: Path, arch: Architecture, problem: Problem, mapping: LoopMapping) -> list[Path]:
    """Write `arch.yaml`, `problem.yaml` and `mapping.yaml` to a folder, for `timeloop-model` on all three."""
    texts = {
        "arch.yaml": architecture_yaml(arch, problem),
        "problem.yaml": problem_yaml(problem),
        "mapping.yaml": mapping_yaml(arch, problem, mapping),
    }
    with replacing_all(folder, texts) as places:
        for name, text in texts.items():
            places[name].write_text(text, encoding="utf-8")
    return [folder / name for name in texts]

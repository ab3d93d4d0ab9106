"""A mapping as Timeloop's YAML."""

from __future__ import annotations

from ...costs.hierarchy import Architecture, Loop, LoopMapping, Problem
from ...errors import TilewrightError
from ...frontends.timeloop.mapping import border
from .problem import dimension_letters
from .text import Document, dump


def mapping_yaml(arch: Architecture, problem: Problem, mapping: LoopMapping) -> str:
    """The `mapping` of `timeloop-model`: temporal, spatial and bypass directives from DRAM inward.

    Imperfect factors get residues (`P=4,3`).  Raises `TilewrightError` (kind `unsupported`) for a dimension that lies
    along both axes of an array, or in two loops of one kind, which the format cannot say.
    """
    writer = _Writer(problem, mapping)
    directives: list[Document] = []
    for index in range(len(arch.levels) - 1, -1, -1):
        level, name = mapping.levels[index], arch.levels[index].name
        if any(tensor.name in level.bypass for tensor in problem.tensors):
            directives.append(_bypass(name, problem, level.bypass))
        directives.append({"target": name, "type": "temporal"} | writer.loops(index, "temporal", level.temporal, name))
        if arch.fan_out(index) != (1, 1):
            spatial = {"target": name, "type": "spatial"} | writer.loops(index, "spatial", level.spatial, name)
            directives.append(spatial | {"split": len({loop.dim for loop in level.spatial_x})})
        elif level.spatial:
            found = f"spatial loops at {name}, which has one child"
            raise TilewrightError("mapping", problem.name, "spatial loops where an array is", found)
    return dump({"mapping": directives})


def _bypass(name: str, problem: Problem, bypass: frozenset[str]) -> Document:
    keep = [tensor.name for tensor in problem.tensors if tensor.name not in bypass]
    away = [tensor.name for tensor in problem.tensors if tensor.name in bypass]
    return {"target": name, "type": "bypass"} | ({"keep": keep} if keep else {}) | {"bypass": away}


class _Writer:
    def __init__(self, problem: Problem, mapping: LoopMapping) -> None:
        self.problem = problem
        self.letters = dimension_letters(problem)
        self.residues: dict[tuple[int, str, int], int] = {}
        for dim, bound in enumerate(problem.bounds):
            for level, kind, _, residue in border(mapping, dim, bound):
                self.residues[level, "temporal" if kind == "temporal" else "spatial", dim] = residue

    def loops(self, level: int, kind: str, loops: tuple[Loop, ...], name: str) -> Document:
        order = [loop.dim for loop in loops]
        for dim in order:
            if order.count(dim) > 1:
                found = f"{self.problem.dims[dim]} in several {kind} loops at {name}"
                lever = "map without splitting a dimension over both axes" if kind == "spatial" else ""
                raise TilewrightError("unsupported", self.problem.name, "a dimension once per level", found, lever)
        bounds = {loop.dim: loop.bound for loop in loops}
        order += [dim for dim in range(len(self.letters)) if dim not in bounds]
        factors = [self.factor(level, kind, dim, bounds.get(dim, 1)) for dim in range(len(self.letters))]
        return {"factors": " ".join(factors), "permutation": "".join(self.letters[dim] for dim in order)}

    def factor(self, level: int, kind: str, dim: int, bound: int) -> str:
        residue = self.residues.get((level, kind, dim), bound)
        return f"{self.letters[dim]}={bound}" + (f",{residue}" if residue != bound else "")

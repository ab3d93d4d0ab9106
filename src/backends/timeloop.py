"""Timeloop's YAML out: problems, machines and mappings that `timeloop-model` takes (docs/timeloop.md)."""

from pathlib import Path
from string import ascii_letters
from typing import Any

import yaml

from ..costs.hierarchy import Architecture, Level, Loop, LoopMapping, Problem, Tensor
from ..errors import TilewrightError
from ..files import replacing_all
from ..frontends.timeloop.architecture import SPACES
from ..frontends.timeloop.mapping import border

__all__ = ["architecture_yaml", "dimension_letters", "mapping_yaml", "problem_yaml", "write_timeloop"]


Document = dict[str, Any]


def dump(document: Document) -> str:
    """YAML with lists and mappings of scalars on one line, keys in their order."""
    return yaml.safe_dump(document, sort_keys=False, default_flow_style=None, width=118)


def dimension_letters(problem: Problem) -> tuple[str, ...]:
    """A letter for each dimension, as permutations need it: its own name or initial where that is free."""
    taken = {name for name in problem.dims if len(name) == 1 and name in ascii_letters}
    letters: list[str] = []
    for name in problem.dims:
        wished = [c for c in (name[:1].upper(), name[:1].lower(), *ascii_letters) if c in ascii_letters and c]
        letter = name if name in taken else next((c for c in wished if c not in taken), "")
        if not letter:
            raise TilewrightError("unsupported", problem.name, f"at most {len(ascii_letters)} dimensions", name)
        taken.add(letter)
        letters.append(letter)
    return tuple(letters)


def problem_yaml(problem: Problem) -> str:
    """The `problem` of `timeloop-model`; dimensions of several letters are renamed, which a comment tells."""
    letters = dimension_letters(problem)
    factors = sorted({c for tensor in problem.tensors for row in tensor.coefficients for c in row} - {0, 1})
    names = {factor: f"by{factor}" if factor > 0 else f"minus{-factor}" for factor in factors}
    shape: Document = {
        "name": problem.name,
        "dimensions": list(letters),
        "coefficients": [{"name": name, "default": factor} for factor, name in names.items()],
        "data_spaces": [_data_space(tensor, letters, names) for tensor in problem.tensors],
    }
    if not factors:
        del shape["coefficients"]
    instance = dict(zip(letters, problem.bounds, strict=True)) | {name: factor for factor, name in names.items()}
    renamed = [f"{letter} is {name}" for letter, name in zip(letters, problem.dims, strict=True) if letter != name]
    comment = f"# {', '.join(renamed)}\n" if renamed else ""
    return comment + dump({"problem": {"shape": shape, "instance": instance}})


def _data_space(tensor: Tensor, letters: tuple[str, ...], names: dict[int, str]) -> dict[str, Any]:
    axes = [
        [[letter] if c == 1 else [letter, names[c]] for letter, c in zip(letters, row, strict=True) if c]
        for row in tensor.coefficients
    ]
    written = {"read_write": True} if tensor.is_output else {}
    return {"name": tensor.name, "projection": axes} | written


def architecture_yaml(arch: Architecture, problem: Problem | None = None) -> str:
    """The `arch` of `timeloop-model`, with an `ERT` beside it and constraints on what levels hold of a problem.

    The table has the energy of a multiply-accumulate (Timeloop reads whole numbers only from `arch`) and prices of
    writes that are not those of reads.  Not said, because Timeloop has no word for it: the bandwidth of networks.
    """
    document: Document = {
        "arch": {
            "name": arch.name,
            "arithmetic": {
                "name": arch.mac_name,
                "instances": arch.mac_instances,
                "meshX": arch.mac_mesh_x,
                "word_bits": arch.levels[0].word_bits,
            },
            "storage": [_storage(level, level is arch.levels[-1]) for level in arch.levels],
        },
        "ERT": {"version": 0.3, "tables": _tables(arch)},
    }
    if constraints := _constraints(arch, _operands(arch, problem)):
        document["architecture_constraints"] = {"targets": constraints}
    return dump(document)


def _storage(level: Level, outermost: bool) -> Document:
    values: Document = {
        "name": level.name,
        "technology": "DRAM" if outermost else "SRAM",
        "entries": level.entries,
        "instances": level.instances,
        "meshX": level.mesh_x,
        "word_bits": level.word_bits,
        "block_size": level.block_size,
        "vector_access_energy": level.energy_pj,
        "read_bandwidth": level.read_bandwidth,
        "write_bandwidth": level.write_bandwidth,
        "shared_bandwidth": level.shared_bandwidth,
        "energy_per_hop": level.hop_energy_pj or None,
        "multiple_buffering": level.multiple_buffering if level.multiple_buffering != 1 else None,
        "network_fill_latency": level.latency_cycles or None,
        "network_drain_latency": level.latency_cycles or None,
    }
    return {key: value for key, value in values.items() if value is not None}


def _tables(arch: Architecture) -> list[Document]:
    """Actions by the names that releases of Timeloop look for."""
    computes = [{"name": name, "energy": arch.mac_energy_pj} for name in ("mac_random", "mac", "compute")]
    tables: list[Document] = [{"name": f"system.{arch.mac_name}", "actions": computes}]
    for level in arch.levels:
        if level.write_energy_pj is None or level.write_energy_pj == level.energy_pj:
            continue
        prices = {"read": level.energy_pj, "write": level.write_energy_pj, "update": level.write_energy_pj}
        actions = [{"name": name, "energy": energy} for name, energy in prices.items()]
        tables.append({"name": f"system.{level.name}", "actions": actions})
    return tables


def _operands(arch: Architecture, problem: Problem | None) -> list[tuple[str, str]]:
    """Data spaces and the operands that they are; without a problem those of Timeloop's layers."""
    if problem is not None:
        return [(t.name, role) for t, role in zip(problem.tensors, arch.roles(problem), strict=True)]
    return [(space, operand) for space, operand in SPACES.items() if operand in arch.operands]


def _constraints(arch: Architecture, operands: list[tuple[str, str]]) -> list[Document]:
    found: list[Document] = []
    for level in arch.levels:
        if level.holds is not None:
            keep = [space for space, operand in operands if operand in level.holds]
            bypass = [space for space, operand in operands if operand not in level.holds]
            found.append(
                {"target": level.name, "type": "bypass"} | ({"keep": keep} if keep else {}) | {"bypass": bypass}
            )
    return found


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

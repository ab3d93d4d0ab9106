"""Machines, problems and mappings from and to their JSON forms, with errors that name the entry at fault."""

from collections.abc import Callable
from functools import partial
from math import prod
from typing import Any, TypeVar

from ..json_fields import Json, bad, bandwidth, count, list_of, number, object_of, text
from .values import Architecture, Level, LevelMapping, Loop, LoopMapping, Problem, Tensor

Value = TypeVar("Value")

ROLES = {"Outputs": "O", "Inputs": "I", "Weights": "W"}
"""Operands of a machine that tensors are by name: the names of Timeloop's layers."""

MAX_BOUND = 1 << 31
MAX_COEFFICIENT = 1 << 20
MAX_RANK = 16
MAX_DIMS = 32
MAX_MACS = 1 << 100
"""Limits of a problem: they keep offsets within 64 bits and counts within the range of a float."""


def parse_architecture(data: object, where: str = "arch") -> Architecture:
    """A machine: `{name, operands, mac: {name, instances, meshX, energy}, levels: [{name, entries, instances, ...}]}`.

    Levels run from the innermost to DRAM; energies in pJ, bandwidths in words per cycle.  A level's `keep` lists the
    operands that it may hold, one character each or as a list (`*` or nothing: all); `operands` are O, I, W if not
    given, the output first.
    """
    arch = object_of(data, where)
    name = text(arch, "name", where)
    mac = object_of(arch.get("mac"), f"{where}.mac")
    operands = tuple(str(item) for item in list_of(arch.get("operands") or ["O", "I", "W"], f"{where}.operands"))
    levels = tuple(
        _level(item, operands, f"{where}.levels[{i}]")
        for i, item in enumerate(list_of(arch.get("levels"), f"{where}.levels"))
    )
    if not levels or len({level.name for level in levels}) != len(levels):
        raise bad(
            f"{where}.levels", "at least one level, each with its own name", str([level.name for level in levels])
        )
    found = Architecture(
        name,
        levels,
        text(mac, "name", f"{where}.mac") if "name" in mac else "MAC",
        count(mac, "instances", f"{where}.mac"),
        count(mac, "meshX", f"{where}.mac", 1),
        number(mac, "energy", f"{where}.mac"),
        operands,
    )
    _check_instances(found, where)
    return found


def architecture_as_json(arch: Architecture) -> Json:
    """The JSON form of a machine; `parse_architecture` reads it back."""
    mac: Json = {"name": arch.mac_name, "instances": arch.mac_instances, "meshX": arch.mac_mesh_x}
    levels: list[Json] = []
    for level in arch.levels:
        held = None if level.holds is None else list(level.holds)
        levels.append({**{key: getattr(level, field) for key, (field, _) in LEVEL.items()}, "keep": held})
    mac["energy"] = arch.mac_energy_pj
    return {"name": arch.name, "operands": list(arch.operands), "mac": mac, "levels": levels}


def _given(read: Callable[[Json, str, str], Value]) -> Callable[[Json, str, str], Value | None]:
    """The value under a key, None where there is none."""
    return lambda data, key, where: None if data.get(key) is None else read(data, key, where)


LEVEL: dict[str, tuple[str, Callable[[Json, str, str], Any]]] = {
    "name": ("name", text),
    "entries": ("entries", _given(count)),
    "instances": ("instances", count),
    "meshX": ("mesh_x", partial(count, default=1)),
    "block_size": ("block_size", partial(count, default=1)),
    "energy": ("energy_pj", number),
    **{key: (key, bandwidth) for key in ("read_bandwidth", "write_bandwidth", "shared_bandwidth")},
    "energy_per_hop": ("hop_energy_pj", partial(number, default=0.0)),
    "multiple_buffering": ("multiple_buffering", partial(number, default=1.0)),
    "word_bits": ("word_bits", partial(count, default=16)),
    "write_energy": ("write_energy_pj", _given(number)),
    "network_bandwidth": ("network_bandwidth", bandwidth),
    "latency": ("latency_cycles", lambda data, key, where: int(number(data, key, where, 0.0))),
}
"""Keys of a level, with the field that each is and how it is read; `keep` lists what the level holds."""


def _level(data: object, operands: tuple[str, ...], where: str) -> Level:
    level = object_of(data, where)
    given = {field: read(level, key, where) for key, (field, read) in LEVEL.items()}
    if given["multiple_buffering"] < 1:
        raise bad(f"{where}.multiple_buffering", "at least 1", given["multiple_buffering"])
    return Level(**given, holds=_holds(level.get("keep"), operands, f"{where}.keep"))


def _holds(data: object, operands: tuple[str, ...], where: str) -> tuple[str, ...] | None:
    if data is None or data == "*":
        return None
    names = [str(name) for name in (data if isinstance(data, str) else list_of(data, where))]
    if unknown := [name for name in names if name not in operands]:
        raise bad(where, f"operands among {', '.join(operands)}", unknown[0])
    return None if set(names) == set(operands) else tuple(name for name in operands if name in names)


def _check_instances(arch: Architecture, where: str) -> None:
    names = [arch.mac_name, *(level.name for level in arch.levels)]
    counts = [(arch.mac_instances, arch.mac_mesh_x), *((level.instances, level.mesh_x) for level in arch.levels)]
    for i, (instances, mesh_x) in enumerate(counts):
        if instances % mesh_x:
            raise bad(f"{where}: {names[i]}", "instances that fill rows of meshX", f"{instances} in rows of {mesh_x}")
        if i == 0:
            continue
        inner, inner_x = counts[i - 1]
        if inner % instances or inner_x % mesh_x:
            expected = f"instances and meshX that divide those of {names[i - 1]} ({inner}, {inner_x})"
            raise bad(f"{where}: {names[i]}", expected, f"({instances}, {mesh_x})")


def parse_problem(data: object, where: str = "problem") -> Problem:
    """An operation: `{name, dims: {P: 8, ...}, coeffs: {...}, tensors: [{name, write, proj: [[[dim, coeff]]]}]}`."""
    problem = object_of(data, where)
    dims = object_of(problem.get("dims"), f"{where}.dims")
    names = tuple(dims)
    bounds = tuple(count(dims, name, f"{where}.dims") for name in names)
    if len(names) > MAX_DIMS or max(bounds, default=1) > MAX_BOUND or prod(bounds) > MAX_MACS:
        expected = f"at most {MAX_DIMS} dimensions, bounds to {MAX_BOUND}, {MAX_MACS} operations"
        raise bad(f"{where}.dims", expected, bounds)
    coefficients = object_of(problem.get("coeffs", {}), f"{where}.coeffs")
    tensors = tuple(
        _tensor(item, names, coefficients, f"{where}.tensors[{i}]")
        for i, item in enumerate(list_of(problem.get("tensors"), f"{where}.tensors"))
    )
    outputs = [tensor.name for tensor in tensors if tensor.is_output]
    if len(outputs) != 1 or len({tensor.name for tensor in tensors}) != len(tensors):
        raise bad(f"{where}.tensors", "distinct names and exactly one tensor with write: true", f"outputs {outputs}")
    return Problem(text(problem, "name", where) if "name" in problem else "problem", names, bounds, tensors)


def problem_as_json(problem: Problem) -> Json:
    """The JSON form of an operation; `parse_problem` reads it back."""
    tensors: list[Json] = [
        {
            "name": tensor.name,
            "write": tensor.is_output,
            "proj": [[[dim, c] for dim, c in zip(problem.dims, row, strict=True) if c] for row in tensor.coefficients],
            "word_bits": tensor.word_bits,
            **({"role": tensor.role} if tensor.role else {}),
        }
        for tensor in problem.tensors
    ]
    return {"name": problem.name, "dims": dict(zip(problem.dims, problem.bounds, strict=True)), "tensors": tensors}


def _tensor(data: object, dims: tuple[str, ...], coefficients: Json, where: str) -> Tensor:
    tensor = object_of(data, where)
    axes = list_of(tensor.get("proj"), f"{where}.proj")
    if len(axes) > MAX_RANK:
        raise bad(f"{where}.proj", f"at most {MAX_RANK} axes", len(axes))
    rows: list[tuple[int, ...]] = []
    for i, axis in enumerate(axes):
        row = [0] * len(dims)
        for j, term in enumerate(list_of(axis, f"{where}.proj[{i}]")):
            dim, coefficient = _term(term, dims, coefficients, f"{where}.proj[{i}][{j}]")
            row[dim] += coefficient
        rows.append(tuple(row))
    name = text(tensor, "name", where)
    role = text(tensor, "role", where) if "role" in tensor else ROLES.get(name, "")
    bits = count(tensor, "word_bits", where) if tensor.get("word_bits") is not None else None
    return Tensor(name, tuple(rows), bool(tensor.get("write", False)), bits, role)


def _term(data: object, dims: tuple[str, ...], coefficients: Json, where: str) -> tuple[int, int]:
    term = list_of(data, where)
    if len(term) not in (1, 2) or term[0] not in dims:
        raise bad(where, f"[dimension, coefficient or null] with a dimension of {', '.join(dims)}", str(term))
    name = term[1] if len(term) == 2 else None
    coefficient = 1 if name is None else coefficients.get(name) if isinstance(name, str) else name
    if isinstance(coefficient, bool) or not isinstance(coefficient, int) or abs(coefficient) > MAX_COEFFICIENT:
        raise bad(where, f"a coefficient listed in coeffs or an integer, to {MAX_COEFFICIENT}", str(name))
    return dims.index(str(term[0])), coefficient


MAX_CHILDREN = 1 << 16
"""Most children of one parent in a mapping."""


def parse_mapping(data: object, arch: Architecture, problem: Problem, where: str = "mapping") -> LoopMapping:
    """A mapping: `[{target, temporal: {P: 4}, order: [...], bypass: [...], spatial_x: [[K, 16]], spatial_y}]`.

    Levels in any order by `target`; `order` runs from the outer to the inner loop, spatial lists from inner to outer.
    """
    by_name: dict[str, LevelMapping] = {}
    known = {level.name for level in arch.levels}
    for i, item in enumerate(list_of(data, where)):
        level = object_of(item, f"{where}[{i}]")
        target = text(level, "target", f"{where}[{i}]")
        if target not in known or target in by_name:
            raise bad(f"{where}[{i}].target", f"one entry per level of {arch.name} at most", target)
        by_name[target] = _level_mapping(level, problem, f"{where}[{i}]")
    return LoopMapping(tuple(by_name.get(level.name, LevelMapping()) for level in arch.levels))


def _level_mapping(level: Json, problem: Problem, where: str) -> LevelMapping:
    bypass = list_of(level.get("bypass") or [], f"{where}.bypass")
    names = [tensor.name for tensor in problem.tensors]  # a list: what is not hashable is looked up, too
    for name in bypass:
        if name not in names:
            raise bad(f"{where}.bypass", f"tensors of {problem.name}", str(name))
    mapped = LevelMapping(
        _temporal(level, problem, where),
        _spatial(level.get("spatial_x"), problem, f"{where}.spatial_x"),
        _spatial(level.get("spatial_y"), problem, f"{where}.spatial_y"),
        frozenset(str(name) for name in bypass),
    )
    children = prod(loop.bound for loop in mapped.spatial)
    if children > MAX_CHILDREN:
        raise bad(where, f"at most {MAX_CHILDREN} spatial children", str(children))
    return mapped


def _temporal(level: Json, problem: Problem, where: str) -> tuple[Loop, ...]:
    factors = object_of(level.get("temporal") or {}, f"{where}.temporal")
    order = [str(name) for name in list_of(level.get("order") or list(factors), f"{where}.order")]
    if len(set(order)) != len(order) or not set(factors) <= set(order):
        raise bad(f"{where}.order", f"each of {', '.join(factors)} once", ", ".join(order))
    loops = [
        Loop(_dim(name, problem, f"{where}.order"), count(factors, name, f"{where}.temporal") if name in factors else 1)
        for name in order
    ]
    return tuple(loop for loop in reversed(loops) if loop.bound > 1)


def _spatial(data: object, problem: Problem, where: str) -> tuple[Loop, ...]:
    loops: list[Loop] = []
    for i, item in enumerate(list_of(data or [], where)):
        pair = list_of(item, f"{where}[{i}]")
        if len(pair) != 2:
            raise bad(f"{where}[{i}]", "[dimension, factor]", str(pair))
        bound = count({"factor": pair[1]}, "factor", f"{where}[{i}]")
        loops.append(Loop(_dim(str(pair[0]), problem, f"{where}[{i}]"), bound))
    return tuple(loop for loop in loops if loop.bound > 1)


def _dim(name: str, problem: Problem, where: str) -> int:
    if name not in problem.dims:
        raise bad(where, f"a dimension of {problem.name} ({', '.join(problem.dims)})", name)
    return problem.dims.index(name)


def mapping_as_json(arch: Architecture, problem: Problem, mapping: LoopMapping) -> list[Json]:
    """The JSON form of `mapping`, outermost level first; `parse_mapping` reads it back."""
    return [
        _level_as_json(level.name, problem, mapped)
        for level, mapped in reversed(list(zip(arch.levels, mapping.levels, strict=True)))
    ]


def _level_as_json(name: str, problem: Problem, mapped: LevelMapping) -> Json:
    inner = [problem.dims[loop.dim] for loop in mapped.temporal]
    idle = [dim for dim in problem.dims if dim not in inner]
    data: Json = {
        "target": name,
        "temporal": {problem.dims[loop.dim]: loop.bound for loop in reversed(mapped.temporal)},
        "order": idle + inner[::-1],
        "bypass": [tensor.name for tensor in problem.tensors if tensor.name in mapped.bypass],
    }
    for key, loops in (("spatial_x", mapped.spatial_x), ("spatial_y", mapped.spatial_y)):
        if loops:
            data[key] = [[problem.dims[loop.dim], loop.bound] for loop in loops]
    return data

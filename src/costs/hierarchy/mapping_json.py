"""Mappings from and to their JSON form."""

from __future__ import annotations

from math import prod

from ..json_fields import Json, bad, count, list_of, object_of, text
from .values import Architecture, LevelMapping, Loop, LoopMapping, Problem

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

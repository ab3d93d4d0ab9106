"""A mapping as a loop nest in text."""

from __future__ import annotations

from ...costs.hierarchy import Architecture, LevelMapping, LoopMapping, Problem
from ...costs.mapping.levels import canonical


def loop_nest(arch: Architecture, problem: Problem, mapping: LoopMapping) -> str:
    """The loops from the outermost memory to the multiply-accumulator, each level headed by what it keeps.

        DRAM  A, B, C
          for m = 4  (8 each)
            L1  A, C
              for k = 32

    A loop shows how many iterations it has and, where that is not 1, how many of its dim each of them covers.
    """
    mapping = canonical(arch, problem, mapping)
    loops = level_loops(arch, problem, mapping)
    lines: list[str] = []
    for index in reversed(range(len(arch.levels))):
        mapped = mapping.levels[index]
        kept = [tensor.name for tensor in problem.tensors if tensor.name not in mapped.bypass]
        if kept or loops[index]:
            lines += [f"{arch.levels[index].name}  {', '.join(kept) or '(keeps nothing)'}", *loops[index]]
    lines.append(arch.mac_name)
    return "".join("  " * depth + line + "\n" for depth, line in enumerate(lines))


def level_loops(arch: Architecture, problem: Problem, mapping: LoopMapping) -> tuple[tuple[str, ...], ...]:
    """The loops of each level as text, innermost level first, the outermost loop of a level first."""
    tile = [1] * len(problem.dims)
    found: list[tuple[str, ...]] = []
    for index, mapped in enumerate(mapping.levels):
        child = arch.levels[index - 1].name if index else arch.mac_name
        found.append(tuple(reversed(_loops(problem, mapped, child, tile))))
    return tuple(found)


def _loops(problem: Problem, mapped: LevelMapping, child: str, tile: list[int]) -> list[str]:
    """Lines from the innermost loop outward; `tile` grows with them."""
    lines: list[str] = []
    for axis, loops in (("x", mapped.spatial_x), ("y", mapped.spatial_y), ("", mapped.temporal)):
        for loop in loops:
            each = f"  ({tile[loop.dim]} each)" if tile[loop.dim] > 1 else ""
            word, over = ("spread", f" over {child} along {axis}") if axis else ("for", "")
            lines.append(f"{word} {problem.dims[loop.dim]} = {loop.bound}{over}{each}")
            tile[loop.dim] *= loop.bound
    return lines

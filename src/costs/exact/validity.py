"""Whether a machine can run a mapping: bits per memory, children per array axis, coverage, where tensors are kept."""

from math import ceil, prod

from ..hierarchy.values import Architecture, Level, LoopMapping, Problem, Tensor
from ..timeloop.report import Violation
from .axes import axes_of, tile_words


def violations_of(arch: Architecture, problem: Problem, mapping: LoopMapping) -> tuple[Violation, ...]:
    """All that is wrong with `mapping`, level by level."""
    found: list[Violation] = []
    tiles, spread = mapping.tiles(len(problem.dims)), arch.may_spread(problem)
    for index, level in enumerate(arch.levels):
        sizes = tuple(min(size, bound) for size, bound in zip(tiles[index][1], problem.bounds, strict=True))
        words = [tile_words(axes_of(tensor, problem.bounds), sizes) for tensor in problem.tensors]
        mapped = mapping.levels[index]
        kept = [tensor.name not in mapped.bypass for tensor in problem.tensors]
        found += _capacity(level, problem, [w if keep else 0 for w, keep in zip(words, kept, strict=True)])
        for axis, loops, bound in zip(
            ("columns", "rows"), (mapped.spatial_x, mapped.spatial_y), arch.fan_out(index), strict=True
        ):
            demand = prod(loop.bound for loop in loops)
            if demand > bound:
                found.append(Violation(level.name, axis, demand, bound, "children"))
        found += [
            Violation(
                level.name, f"children that add to one sum along {problem.dims[loop.dim]}", loop.bound, 1, "children"
            )
            for loop in mapped.spatial
            if loop.bound > 1 and not spread[loop.dim] and index > 0
        ]
        allowed = arch.may_hold(index, problem)
        for tensor, count, keep, may in zip(problem.tensors, words, kept, allowed, strict=True):
            if index == len(arch.levels) - 1:
                if not keep:
                    found.append(Violation(level.name, f"{tensor.name}, which starts or ends here", 0, count, "words"))
            elif keep and not may:
                found.append(Violation(level.name, f"{tensor.name}, which is not held here", count, 0, "words"))
    return (*found, *_coverage(problem, tiles[-1][1]))


def _capacity(level: Level, problem: Problem, words: list[int]) -> list[Violation]:
    if level.entries is None:
        return []
    demand = sum(count * bits_of_word(tensor, level) for tensor, count in zip(problem.tensors, words, strict=True))
    bound = level.entries * level.word_bits
    if demand * level.multiple_buffering <= bound:
        return []
    if all(bits_of_word(tensor, level) == level.word_bits for tensor in problem.tensors):
        return [Violation(level.name, "capacity", sum(words), int(level.entries / level.multiple_buffering), "words")]
    return [Violation(level.name, "capacity", ceil(demand), int(bound / level.multiple_buffering), "bits")]


def bits_of_word(tensor: Tensor, level: Level) -> int:
    """Bits of one of the tensor's elements in a level."""
    return level.word_bits if tensor.word_bits is None else tensor.word_bits


def _coverage(problem: Problem, covered: tuple[int, ...]) -> list[Violation]:
    return [
        Violation("all levels", f"dimension {name}", product, bound, "iterations")
        for name, bound, product in zip(problem.dims, problem.bounds, covered, strict=True)
        if product < bound
    ]

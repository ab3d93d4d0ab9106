"""Timeloop's `mapping` as a value: directives with factors and permutations per level, bypass of data spaces."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from math import prod

from ...costs.hierarchy import Architecture, LevelMapping, Loop, LoopMapping, Problem
from ...costs.hierarchy.parse import MAX_CHILDREN
from .document import Item, refuse

NOT_MODELLED = (
    "no_link_transfer",
    "no_multicast_no_reduction",
    "no_temporal_reuse",
    "no_reuse",
    "no_coalesce",
    "rmw_on_first_writeback",
    "rmw_first_update",
    "passthrough",
)

_FACTOR = re.compile(r"([A-Za-z_]\w*?)\s*=?\s*(\d{1,12})(?:\s*,\s*(\d{1,12}))?(?!\w)")

Residues = dict[tuple[int, str, int], int]
"""Iterations at the border, by level, kind (`temporal`, `x`, `y`) and dimension."""


@dataclass
class _Level:
    """What directives say of a level; loops along X and Y by the place of the array within, the outermost 0."""

    temporal: tuple[Loop, ...] | None = None
    spatial: dict[int, tuple[tuple[Loop, ...], tuple[Loop, ...]]] = field(
        default_factory=dict[int, tuple[tuple[Loop, ...], tuple[Loop, ...]]]
    )
    bypass: frozenset[str] = frozenset()


def mapping_of(
    item: Item, arch: Architecture, problem: Problem, hollow: Mapping[str, str] | None = None
) -> LoopMapping:
    """The mapping in the value of the key `mapping`, for a machine and a problem.

    Factors that are not named are 1, dimensions that a permutation lacks follow in order, `0` is the whole bound.
    Factors with residues (`P=4,3`) are imperfect ones; they must cut tiles off at the bound and nowhere else.
    Targets in `hollow` mean an array inside the level that they are given with.
    """
    reader = _Reader(arch, problem, hollow or {})
    for directive in item.items("a mapping"):
        reader.read(directive)
    mapping = LoopMapping(tuple(reader.level(index) for index in range(len(arch.levels))))
    reader.check(item, mapping)
    return mapping


class _Reader:
    def __init__(self, arch: Architecture, problem: Problem, hollow: Mapping[str, str]) -> None:
        self.arch = arch
        self.problem = problem
        self.names = [level.name for level in arch.levels]
        self.arrays = {name: (self.names.index(name), 0) for name in self.names}
        for name, around in hollow.items():
            if around in self.names:
                inner = sum(level == self.names.index(around) for level, _ in self.arrays.values())
                self.arrays[name] = self.names.index(around), inner
        self.found = [_Level() for _ in arch.levels]
        self.residues: Residues = {}

    def read(self, directive: Item) -> None:
        kind = directive.need("a directive", "type").text("a type")
        target = directive.need("a directive", "target")
        level, place = self.target(target)
        found = self.found[level]
        refuse(directive, "a mapping", NOT_MODELLED)
        if kind in ("datatype", "bypass", "dataspace"):
            found.bypass |= self.bypass(directive) if place == 0 else frozenset()
        elif kind == "temporal":
            if place == 0 and found.temporal is not None:
                raise directive.error(f"one temporal directive for {self.names[level]}", "a second one")
            loops = self.loops(directive, level, len(self.problem.dims))[0]
            if place == 0:
                found.temporal = loops
            elif any(loop.bound > 1 for loop in loops):
                raise directive.error(f"no temporal loops at {target.value}, which stores nothing", "some")
        elif kind == "spatial":
            if place in found.spatial:
                raise directive.error(f"one spatial directive for {target.value}", "a second one")
            found.spatial[place] = self.loops(directive, level, self.split(directive), ("x", "y"))
        else:
            raise directive.error("a directive of type temporal, spatial or bypass", f"`{kind}`")

    def target(self, item: Item) -> tuple[int, int]:
        """Level and array of a name, or of a number from the innermost."""
        name = item.text("a target")
        if name.isdigit() and int(name) < len(self.names):
            return int(name), 0
        if name not in self.arrays:
            raise item.error(f"a level among {', '.join(self.arrays)}", f"`{name}`")
        return self.arrays[name]

    def bypass(self, directive: Item) -> frozenset[str]:
        names = directive.part("a directive", "bypass").names("bypass")
        known = [tensor.name for tensor in self.problem.tensors]
        unknown = [name for name in names if name not in known]
        if unknown:
            raise directive.error(f"data spaces among {', '.join(known)}", f"`{unknown[0]}`")
        return frozenset(names)

    def loops(
        self, directive: Item, level: int, split: int, kinds: tuple[str, str] = ("temporal", "temporal")
    ) -> tuple[tuple[Loop, ...], tuple[Loop, ...]]:
        """The loops over the first `split` dimensions of the permutation, inner to outer, and the others."""
        order = self.order(directive)
        factors = self.factors(directive)
        for place, dim in enumerate(order):
            factor, residue = factors.get(dim, (1, None))
            if residue is not None:
                self.residues[level, kinds[place >= split], dim] = residue
            if kinds[0] != "temporal" and factor > MAX_CHILDREN:
                raise directive.error(f"at most {MAX_CHILDREN} spatial children", f"{factor}")
        loops = tuple(Loop(dim, factors.get(dim, (1, None))[0]) for dim in order)
        return loops[:split], loops[split:]

    def order(self, directive: Item) -> list[int]:
        item = directive.find("a directive", "permutation")
        names: list[str] = []
        if item is not None and isinstance(item.value, tuple):
            names = list(item.names("a permutation"))
        elif item is not None:
            text = item.text("a permutation")
            names = re.split(r"[\s,]+", text) if re.search(r"[\s,]", text) else self.letters(text)
        order = [self.dim(item or directive, name) for name in names]
        if len(set(order)) < len(order):
            raise (item or directive).error("each dimension of a permutation once", " ".join(names))
        return order + [dim for dim in range(len(self.problem.dims)) if dim not in order]

    def letters(self, text: str) -> list[str]:
        return [text] if text in self.problem.dims else list(text)

    def dim(self, item: Item, name: str) -> int:
        if name not in self.problem.dims:
            raise item.error(f"a dimension among {', '.join(self.problem.dims)}", f"`{name}`")
        return self.problem.dims.index(name)

    def factors(self, directive: Item) -> dict[int, tuple[int, int | None]]:
        """Factor and residue by dimension."""
        item = directive.find("a directive", "factors")
        if item is None:
            return {}
        text = " ".join(item.names("factors")) if isinstance(item.value, tuple) else item.text("factors")
        found: dict[int, tuple[int, int | None]] = {}
        end = 0
        for match in _FACTOR.finditer(text):
            between = text[end : match.start()].strip(" ,")
            dim = self.dim(item, match[1])
            if between or dim in found:
                raise item.error("factors like `P=4 Q=2`, each dimension once", f"`{between or match[0]}`")
            end = match.end()
            found[dim] = int(match[2]) or self.problem.bounds[dim], None if match[3] is None else int(match[3])
        if text[end:].strip(" ,"):
            raise item.error("factors like `P=4 Q=2`", f"`{text[end:].strip()}`")
        return found

    def split(self, directive: Item) -> int:
        """How many dimensions of the permutation lie along X."""
        item = directive.find("a directive", "split")
        return len(self.problem.dims) if item is None else min(item.whole("a split"), len(self.problem.dims))

    def level(self, index: int) -> LevelMapping:
        found = self.found[index]
        inward = [found.spatial[place] for place in sorted(found.spatial, reverse=True)]
        x, y = (_merged(loop for both in inward for loop in both[axis]) for axis in (0, 1))
        return LevelMapping(_merged(found.temporal or ()), x, y, found.bypass)

    def check(self, item: Item, mapping: LoopMapping) -> None:
        """Factors cover the bound, residues are those of tiles cut off there, arrays are not too large."""
        products = mapping.tiles(len(self.problem.dims))[-1][1]
        for dim, bound in enumerate(self.problem.bounds):
            if products[dim] < bound:
                name = self.problem.dims[dim]
                raise item.error(f"factors of {name} that multiply to {bound}", f"a product of {products[dim]}")
            for index, kind, factor, residue in border(mapping, dim, bound):
                given = self.residues.get((index, kind, dim), factor)
                if given != residue:
                    raise self.wrong(item, dim, (index, kind, factor, residue), given)
        for level in mapping.levels:
            children = prod(loop.bound for loop in level.spatial)
            if children > MAX_CHILDREN:
                raise item.error(f"at most {MAX_CHILDREN} spatial children", f"{children}")

    def wrong(self, item: Item, dim: int, loop: "Border", given: int) -> Exception:
        index, kind, factor, residue = loop
        name = self.problem.dims[dim]
        where = f"{kind if kind == 'temporal' else 'spatial'} factor of {name} at {self.names[index]}"
        shown = f"{name}={factor}" if given == factor else f"{name}={factor},{given}"
        expected = f"{factor},{residue}" if residue != factor else f"{factor}"
        reach = f"so that the factors reach {self.problem.bounds[dim]}"
        return item.error(f"{where}: {name}={expected}, {reach}", shown)


def _merged(loops: Iterable[Loop]) -> tuple[Loop, ...]:
    """Loops of bounds above 1; those over the same dimension are one, at the place of the innermost."""
    bounds: dict[int, int] = {}
    for loop in loops:
        if loop.bound > 1:
            bounds[loop.dim] = bounds.get(loop.dim, 1) * loop.bound
    return tuple(Loop(dim, bound) for dim, bound in bounds.items())


Border = tuple[int, str, int, int]


def border(mapping: LoopMapping, dim: int, bound: int) -> tuple[Border, ...]:
    """Loops over `dim`, outermost first: level, kind, factor, and iterations in the last tile of the loops around.

    Tiles are cut off at `bound`; a loop that runs to its end there has as many iterations as its factor.
    """
    loops: list[tuple[int, str, int]] = []
    for index, level in enumerate(mapping.levels):
        for kind, group in (("x", level.spatial_x), ("y", level.spatial_y), ("temporal", level.temporal)):
            loops += [(index, kind, loop.bound) for loop in group if loop.dim == dim]
    found: list[Border] = []
    left, tile = bound, prod(factor for _, _, factor in loops)
    for index, kind, factor in reversed(loops):
        tile //= factor
        iterations = -(-left // tile)
        found.append((index, kind, factor, iterations))
        left -= (min(iterations, factor) - 1) * tile
    return tuple(found)

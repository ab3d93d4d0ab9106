"""Timeloop's `mapping` as a value: directives with factors and permutations per level, bypass of data spaces."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from math import prod

from ...costs.hierarchy import Architecture, LevelMapping, Loop, LoopMapping, Problem
from .document import Item, refuse

MAX_CHILDREN = 1 << 16
"""Most children of one parent in a mapping."""

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
"""Iterations at the border, by level, kind and dimension."""


@dataclass
class _Level:
    loops: dict[str, tuple[Loop, ...]] = field(default_factory=dict[str, tuple[Loop, ...]])
    split: int = 0
    bypass: frozenset[str] = frozenset()


def mapping_of(item: Item, arch: Architecture, problem: Problem) -> LoopMapping:
    """The mapping in the value of the key `mapping`, for a machine and a problem.

    Factors that are not named are 1, dimensions that a permutation lacks follow in order, `0` is the whole bound.
    Factors with residues (`P=4,3`) are imperfect ones; they must cut tiles off at the bound and nowhere else.
    """
    reader = _Reader(arch, problem)
    for directive in item.items("a mapping"):
        reader.read(directive)
    mapping = LoopMapping(tuple(reader.level(index) for index in range(len(arch.levels))))
    reader.check(item, mapping)
    return mapping


class _Reader:
    def __init__(self, arch: Architecture, problem: Problem) -> None:
        self.arch = arch
        self.problem = problem
        self.names = [level.name for level in arch.levels]
        self.found = [_Level() for _ in arch.levels]
        self.residues: Residues = {}

    def read(self, directive: Item) -> None:
        kind = directive.need("a directive", "type").text("a type")
        level = self.target(directive.need("a directive", "target"))
        refuse(directive, "a mapping", NOT_MODELLED)
        if kind in ("datatype", "bypass", "dataspace"):
            self.found[level].bypass |= self.bypass(directive)
        elif kind in ("temporal", "spatial"):
            if kind in self.found[level].loops:
                raise directive.error(f"one {kind} directive for {self.names[level]}", "a second one")
            self.found[level].loops[kind] = self.loops(directive, level, kind)
            self.found[level].split = self.split(directive, level) if kind == "spatial" else self.found[level].split
        else:
            raise directive.error("a directive of type temporal, spatial or bypass", f"`{kind}`")

    def target(self, item: Item) -> int:
        """The level of a name, or of a number from the innermost."""
        name = item.text("a target")
        if name.isdigit() and int(name) < len(self.names):
            return int(name)
        if name not in self.names:
            raise item.error(f"a level among {', '.join(self.names)}", f"`{name}`")
        return self.names.index(name)

    def bypass(self, directive: Item) -> frozenset[str]:
        listed = directive.find("a directive", "bypass")
        names = listed.names("bypass") if listed is not None else ()
        known = [tensor.name for tensor in self.problem.tensors]
        unknown = [name for name in names if name not in known]
        if unknown:
            raise directive.error(f"data spaces among {', '.join(known)}", f"`{unknown[0]}`")
        return frozenset(names)

    def loops(self, directive: Item, level: int, kind: str) -> tuple[Loop, ...]:
        """All dimensions from the inner to the outer loop."""
        order = self.order(directive)
        factors = self.factors(directive, level, kind)
        return tuple(Loop(dim, factors.get(dim, 1)) for dim in order)

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

    def factors(self, directive: Item, level: int, kind: str) -> dict[int, int]:
        item = directive.find("a directive", "factors")
        if item is None:
            return {}
        text = " ".join(item.names("factors")) if isinstance(item.value, tuple) else item.text("factors")
        found: dict[int, int] = {}
        end = 0
        for match in _FACTOR.finditer(text):
            between = text[end : match.start()].strip(" ,")
            dim = self.dim(item, match[1])
            if between or dim in found:
                raise item.error("factors like `P=4 Q=2`, each dimension once", f"`{between or match[0]}`")
            end = match.end()
            found[dim] = int(match[2]) or self.problem.bounds[dim]
            if match[3] is not None:
                self.residues[level, kind, dim] = int(match[3])
        if text[end:].strip(" ,"):
            raise item.error("factors like `P=4 Q=2`", f"`{text[end:].strip()}`")
        if kind == "spatial" and prod(found.values()) > MAX_CHILDREN:
            raise item.error(f"at most {MAX_CHILDREN} spatial children", f"{prod(found.values())}")
        return found

    def split(self, directive: Item, level: int) -> int:
        """How many dimensions of the permutation lie along X."""
        item = directive.find("a directive", "split")
        return len(self.problem.dims) if item is None else min(item.whole("a split"), len(self.problem.dims))

    def level(self, index: int) -> LevelMapping:
        found = self.found[index]
        spatial = found.loops.get("spatial", ())
        kinds = (found.loops.get("temporal", ()), spatial[: found.split], spatial[found.split :])
        temporal, x, y = (tuple(loop for loop in loops if loop.bound > 1) for loops in kinds)
        return LevelMapping(temporal, x, y, found.bypass)

    def check(self, item: Item, mapping: LoopMapping) -> None:
        """Factors cover the bound, and residues are those of tiles cut off there."""
        products = mapping.tiles(len(self.problem.dims))[-1][1]
        for dim, bound in enumerate(self.problem.bounds):
            if products[dim] < bound:
                name = self.problem.dims[dim]
                raise item.error(f"factors of {name} that multiply to {bound}", f"a product of {products[dim]}")
            expected = border(mapping, dim, bound)
            for index, level in enumerate(mapping.levels):
                for kind, loops in (("temporal", level.temporal), ("spatial", level.spatial)):
                    for loop in (loop for loop in loops if loop.dim == dim):
                        cut = expected[index, kind]
                        given = self.residues.get((index, kind, dim), loop.bound)
                        if given != cut:
                            raise self.wrong(item, dim, bound, index, kind, loop.bound, given, cut)

    def wrong(
        self, item: Item, dim: int, bound: int, level: int, kind: str, factor: int, given: int, cut: int
    ) -> Exception:
        name = self.problem.dims[dim]
        where = f"{kind} factor of {name} at {self.names[level]}"
        shown = f"{name}={factor}" if given == factor else f"{name}={factor},{given}"
        expected = f"{factor},{cut}" if cut != factor else f"{factor}"
        return item.error(f"{where}: {name}={expected}, so that the factors reach {bound}", shown)


def border(mapping: LoopMapping, dim: int, bound: int) -> dict[tuple[int, str], int]:
    """Iterations of each level's loops over `dim` in the last tile of the loops around them, by level and kind.

    Tiles are cut off at `bound`; a loop that runs to its end there has as many as its bound.
    """
    loops: list[tuple[int, str, int]] = []
    for index, level in enumerate(mapping.levels):
        loops += [(index, "spatial", loop.bound) for loop in level.spatial if loop.dim == dim]
        loops += [(index, "temporal", loop.bound) for loop in level.temporal if loop.dim == dim]
    found: dict[tuple[int, str], int] = {}
    left = bound
    tile = prod(factor for _, _, factor in loops)
    for index, kind, factor in reversed(loops):
        tile //= factor
        iterations = -(-left // tile)
        found[index, kind] = iterations
        left -= (min(iterations, factor) - 1) * tile
    return found

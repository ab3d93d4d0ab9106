"""NASNet-A: cells found by search (Zoph et al. 2018, figure 4), each reading the two cells before it."""

from __future__ import annotations

from ..schedule_networks.layers import Network
from ..schedule_networks.table import INPUT, Table

Value = tuple[int, ...]
"""Layers whose results, concatenated, are one value."""


def nasnet() -> Network:
    """NASNet-A (6 @ 4032): 331x331 images, two reductions as stem, three times six normal cells of 168, 336, 672."""
    table = Table("nasnet", (3, 331, 331))
    cells = _Cells(table)
    stem = (table.conv("stem", INPUT, 96, 3, 2),)
    before, x = stem, cells.reduction("stem1", stem, stem, 42)
    before, x = x, cells.reduction("stem2", before, x, 84)
    for index, width in enumerate((168, 336, 672)):
        if index:
            x = cells.reduction(f"reduce{index}", before, x, width)
        for cell in range(6):
            before, x = x, cells.normal(f"cell{index}_{cell}", before, x, width)
    table.fc("fc", table.global_pool("pool", x), 1000)
    return table.network()


class _Cells:
    def __init__(self, table: Table) -> None:
        self.table = table

    def normal(self, name: str, before: Value, x: Value, width: int) -> Value:
        """A normal cell of `width` channels per block; its value is six of these, concatenated."""
        table = self.table
        p, h = self.inputs(name, before, x, width)
        blocks = (
            self.sum(f"{name}_1", (self.twice(f"{name}_1a", h, width, 5),), (self.twice(f"{name}_1b", p, width, 3),)),
            self.sum(f"{name}_2", (self.twice(f"{name}_2a", p, width, 5),), (self.twice(f"{name}_2b", p, width, 3),)),
            self.sum(f"{name}_3", (table.pool(f"{name}_3a", h, 3, 1),), p),
            self.sum(f"{name}_4", (table.pool(f"{name}_4a", p, 3, 1),), (table.pool(f"{name}_4b", p, 3, 1),)),
            self.sum(f"{name}_5", (self.twice(f"{name}_5a", h, width, 3),), h),
        )
        return *p, *blocks

    def reduction(self, name: str, before: Value, x: Value, width: int) -> Value:
        """A reduction cell: half the extents; its value is four blocks of `width` channels, concatenated."""
        table = self.table
        p, h = self.inputs(name, before, x, width)
        pooled = table.pool(f"{name}_max", h, 3, 2)
        one = self.sum(
            f"{name}_1", (self.twice(f"{name}_1a", h, width, 5, 2),), (self.twice(f"{name}_1b", p, width, 7, 2),)
        )
        two = self.sum(f"{name}_2", (pooled,), (self.twice(f"{name}_2b", p, width, 7, 2),))
        three = self.sum(f"{name}_3", (table.pool(f"{name}_3a", h, 3, 2),), (self.twice(f"{name}_3b", p, width, 5, 2),))
        four = self.sum(f"{name}_4", (two,), (table.pool(f"{name}_4a", one, 3, 1),))
        five = self.sum(f"{name}_5", (self.twice(f"{name}_5a", (one,), width, 3),), (pooled,))
        return two, three, four, five

    def inputs(self, name: str, before: Value, x: Value, width: int) -> tuple[Value, Value]:
        """Both inputs brought to `width` channels and the extents of the second."""
        table = self.table
        squeezed = (table.conv(f"{name}_h", x, width),)
        if table.shape(before).height == table.shape(x).height:
            return (table.conv(f"{name}_p", before, width),), squeezed
        halves = tuple(table.conv(f"{name}_p{i}", before, width // 2, 1, 2) for i in range(2))
        return halves, squeezed

    def sum(self, name: str, a: Value, b: Value) -> int:
        return self.table.add(name, (*a, *b), operands=2)

    def twice(self, name: str, sources: Value, width: int, kernel: int, stride: int = 1) -> int:
        """A separable convolution, applied twice."""
        first = self.table.separable(f"{name}1", sources, width, kernel, stride)
        return self.table.separable(f"{name}2", first, width, kernel)

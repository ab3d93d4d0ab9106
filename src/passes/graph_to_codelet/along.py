"""Windows of a maximum along rows or columns: where there is padding, and what is not read because of it."""

from dataclasses import dataclass

from xdsl.ir import Operation, Region

from ...dialects.codelet import entry
from ...dialects.codelet_fused import PartOp
from .works import Tiles, Work, index


@dataclass(frozen=True)
class Along:
    """An axis of a maximum: dim `dim` of `count` results, dim `over` of `size` inputs, and the windows.

    Of a `whole` axis, which tiles do not cut, a tap is applied to the results whose window has it inside of the input.
    On others what lies outside is loaded as padding.
    """

    dim: str
    over: str
    count: int
    size: int
    step: int
    gap: int
    taps_count: int
    before: int
    whole: bool

    @property
    def taps(self) -> range:
        """How far taps are from the first."""
        return range(0, self.taps_count * self.gap, self.gap)

    @property
    def span(self) -> str:
        """The inputs that windows reach, counted from the padding on."""
        tap = "r" if self.over == "y" else "s"
        return index((self.dim, self.step), (tap, self.gap * (self.taps_count > 1)))

    def reach(self, count: int) -> int:
        """Inputs that so many results reach: of a whole axis those that there are."""
        found = (count - 1) * self.step + (self.taps_count - 1) * self.gap + 1
        return min(found - self.before, self.size) if self.whole else found

    def tap(self, tap: int) -> str:
        """The input that a tap of a result reads."""
        return index((self.dim, self.step), more=tap - self.before * self.whole)

    def inside(self, tap: int) -> range:
        """The results to which a tap is applied."""
        if not self.whole:
            return range(self.count)
        first = max(0, -((tap - self.before) // self.step))
        return range(first, min(self.count, (self.size - 1 + self.before - tap) // self.step + 1))

    @property
    def applied(self) -> int:
        """How often a tap is applied to a result."""
        return sum(len(self.inside(tap)) for tap in self.taps)

    def part(self, tap: int, ops: list[Operation]) -> list[Operation]:
        """Operations for the results to which a tap is applied."""
        inside = self.inside(tap)
        if not inside or len(inside) == self.count:
            return ops if inside else []
        block = entry([], [])
        block.add_ops(ops)
        return [PartOp(self.dim, inside.start, inside.stop, Region(block))]


def axes_of(work: Work, tiles: Tiles) -> tuple[Along, Along]:
    """Rows and columns of a maximum that is cut into tiles."""
    (plane, *_), result, taps = work.sources, work.result, work.window
    rows = Along(
        "p", "y", result.height, plane.height, taps.row_step, taps.row_gap, taps.rows, taps.top,
        tiles.rows >= result.height,
    )  # fmt: skip
    columns = Along(
        "q", "x", result.width, plane.width, taps.column_step, taps.column_gap, taps.columns, taps.left,
        tiles.columns >= result.width,
    )  # fmt: skip
    return rows, columns

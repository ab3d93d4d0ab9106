"""Mappings for people: the loop nest as text, a table of what moves where, and a picture.

In the picture memories stand from DRAM down to the multiply-accumulators, and each tensor has a column.  Where a memory
keeps it there is a box with the words of its tile; where the line passes without one, the memory is bypassed.  Beside
the line are the words that leave a memory for the next one below that keeps the tensor.  On the right are the loops of
each memory, and the energy that is spent in it.
"""

from dataclasses import dataclass
from itertools import pairwise
from math import log10, prod

from ...costs.exact import TensorTotals
from ...costs.hierarchy import Architecture, LevelMapping, LoopMapping, Problem
from ...costs.mapping.levels import canonical
from ...costs.timeloop import Prices, TensorReport
from .svg import INK, LINE, MONO, PANEL, SOFT, TRACK, Svg, joules, short


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


@dataclass(frozen=True)
class TrafficRow:
    """One tensor at one memory: the tile that an instance keeps; words of all used instances together; energy in pJ."""

    level: str
    tensor: str
    tile_words: int
    instances: int
    reads: int
    fills: int
    updates: int
    energy_pj: float


def traffic_rows(prices: Prices) -> tuple[TrafficRow, ...]:
    """Rows of all kept tensors, from the outermost memory inward."""
    return tuple(
        TrafficRow(level, name, tensor.tile_words, tensor.instances, *_totals(tensor), tensor.energy_pj)
        for level, report in reversed(prices.levels.items())
        for name, tensor in report.tensors.items()
    )


def _totals(tensor: TensorReport) -> tuple[int, int, int]:
    if isinstance(tensor, TensorTotals):
        return tensor.total_reads, tensor.total_fills, tensor.total_updates
    return tensor.reads * tensor.instances, tensor.fills * tensor.instances, tensor.updates * tensor.instances


PALETTE = ("#2f6fb0", "#c8741a", "#7a52a8", "#b03a5b", "#4f7d8c", "#8a6d3b")
OUTPUT = "#2f8f5b"
LEFT, LABELS, LANE, LOOPS, BARS, BAR = 24, 178, 112, 300, 160, 140
TOP, GAP, LINE_HEIGHT = 112, 44, 19


@dataclass(frozen=True)
class _Row:
    """One memory, or at the bottom the multiply-accumulators, at height `y`."""

    name: str
    y: float
    height: float
    loops: tuple[str, ...]
    level: int


@dataclass(frozen=True)
class _Picture:
    arch: Architecture
    problem: Problem
    mapping: LoopMapping
    prices: Prices
    svg: Svg
    traffic: dict[tuple[str, str], TrafficRow]
    rows: tuple[_Row, ...]

    def keeps(self, row: _Row) -> bool:
        """Whether a memory keeps any tensor; the multiply-accumulators always do something."""
        return row.level < 0 or any((row.name, tensor.name) in self.traffic for tensor in self.problem.tensors)

    def lane(self, tensor: int) -> float:
        return LEFT + LABELS + LANE * (tensor + 0.5)

    @property
    def loops_x(self) -> float:
        return LEFT + LABELS + LANE * len(self.problem.tensors) + 20

    @property
    def loops_width(self) -> float:
        longest = max((len(loop) for row in self.rows for loop in row.loops), default=0)
        return max(LOOPS, 7.0 * longest + 30)

    @property
    def energy_x(self) -> float:
        return self.loops_x + self.loops_width

    @property
    def width(self) -> float:
        return self.energy_x + BARS + LEFT


def mapping_svg(arch: Architecture, problem: Problem, mapping: LoopMapping, prices: Prices) -> str:
    """The picture as SVG text; see the module's text for how to read it."""
    mapping = canonical(arch, problem, mapping)
    traffic = {(row.level, row.tensor): row for row in traffic_rows(prices)}
    picture = _Picture(arch, problem, mapping, prices, Svg(), traffic, _rows(arch, problem, mapping))
    _title(picture)
    for row in picture.rows:
        _band(picture, row)
    for index in range(len(problem.tensors)):
        _lane(picture, index)
    for row in picture.rows:
        _chips(picture, row)
    last = picture.rows[-1]
    return picture.svg.document(picture.width, last.y + last.height + 24, f"{problem.name} on {arch.name}")


def _rows(arch: Architecture, problem: Problem, mapping: LoopMapping) -> tuple[_Row, ...]:
    loops = level_loops(arch, problem, mapping)
    rows: list[_Row] = []
    y = float(TOP)
    for level in reversed(range(len(arch.levels))):
        height = max(58.0, 22 + LINE_HEIGHT * len(loops[level]))
        rows.append(_Row(arch.levels[level].name, y, height, loops[level], level))
        y += height + GAP
    return (*rows, _Row(arch.mac_name, y, 52.0, (), -1))


def _title(picture: _Picture) -> None:
    prices, problem = picture.prices, picture.problem
    dims = "  ".join(f"{dim} {bound}" for dim, bound in zip(problem.dims, problem.bounds, strict=True))
    svg = picture.svg
    svg.text(LEFT, 34, f"{problem.name} on {picture.arch.name}", font_size=19, font_weight="bold")
    svg.text(LEFT, 54, dims, fill=SOFT, font_family=MONO, font_size=11)
    figures = (
        f"{joules(prices.energy_pj)},  {short(prices.cycles)} cycles,  {prices.edp_j_cycle:.4g} J*cycle,  "
        f"{100 * prices.utilization:.1f} % of the multiply-accumulators at work"
    )
    svg.text(LEFT, 74, figures)
    svg.text(LEFT + LABELS, TOP - 10, "tiles that are kept, and words that pass between", fill=SOFT, font_size=11)
    svg.text(picture.loops_x, TOP - 10, "loops, the outermost first", fill=SOFT, font_size=11)
    svg.text(picture.energy_x, TOP - 10, "energy", fill=SOFT, font_size=11)


def _band(picture: _Picture, row: _Row) -> None:
    svg = picture.svg
    svg.rect(LEFT, row.y, picture.width - 2 * LEFT, row.height, rx=6, fill=PANEL, stroke=LINE)
    svg.text(LEFT + 12, row.y + 22, row.name, font_size=14, font_weight="bold")
    copies = _copies(picture, row.level) if picture.keeps(row) else "keeps nothing"
    svg.text(LEFT + 12, row.y + 38, copies, fill=SOFT, font_size=11)
    if row.level >= 0:
        _filling(picture, row)
    for number, loop in enumerate(row.loops):
        spread = loop.startswith("spread")
        y = row.y + 24 + LINE_HEIGHT * number
        if spread:
            svg.rect(picture.loops_x - 6, y - 13, picture.loops_width - 14, 17, rx=3, fill=TRACK)
        indent = "" if spread else "  " * min(number, 6)
        look = {"font_family": MONO, "fill": INK, "xml:space": "preserve"}
        svg.text(picture.loops_x, y, indent + loop, font_size=11.5, **look)
    if picture.keeps(row) or picture.prices.energy_by_component_pj.get(row.name):
        _energy_bar(picture, row)


def _copies(picture: _Picture, level: int) -> str:
    used = prod(loop.bound for mapped in picture.mapping.levels[level + 1 :] for loop in mapped.spatial)
    there = picture.arch.mac_instances if level < 0 else picture.arch.levels[level].instances
    return "one" if there == 1 else f"{used} of {there} used"


def _filling(picture: _Picture, row: _Row) -> None:
    """How full an instance is; nothing for a memory that all tensors pass."""
    level = picture.arch.levels[row.level]
    entries = level.capacity_words
    if entries is None or not picture.keeps(row):
        return
    used = 0.0
    for tensor in picture.problem.tensors:
        kept = picture.traffic.get((level.name, tensor.name))
        if kept is not None:
            used += kept.tile_words * (tensor.word_bits or level.word_bits) / level.word_bits
    share = min(1.0, used / entries)
    y = row.y + 46
    picture.svg.rect(LEFT + 12, y, 100, 6, rx=3, fill=TRACK)
    picture.svg.rect(LEFT + 12, y, max(2.0, 100 * share), 6, rx=3, fill=SOFT)
    picture.svg.note(f"{used:g} of {entries} words")
    text = "under 1 % full" if share < 0.01 else f"{100 * share:.0f} % full"
    picture.svg.text(LEFT + 118, y + 6, text, fill=SOFT, font_size=10)


def _energy_bar(picture: _Picture, row: _Row) -> None:
    total = picture.prices.energy_pj
    spent = picture.prices.energy_by_component_pj.get(row.name, 0.0)
    if total <= 0:
        return
    scale = BAR / max(picture.prices.energy_by_component_pj.values())
    x, y = picture.energy_x, row.y + 12
    for name, energy, colour in _energies(picture, row) or [(row.name, spent, SOFT)]:
        if energy > 0:
            picture.svg.rect(x, y, scale * energy, 12, fill=colour)
            picture.svg.note(f"{name}: {joules(energy)}")
        x += scale * energy
    text = f"{joules(spent)}, {100 * spent / total:.0f} %"
    picture.svg.text(picture.energy_x, y + 28, text, font_size=11, fill=SOFT)


def _energies(picture: _Picture, row: _Row) -> list[tuple[str, float, str]]:
    """Name, energy in pJ and colour of each tensor that a memory keeps."""
    return [
        (tensor.name, picture.traffic[row.name, tensor.name].energy_pj, _colour(picture.problem, index))
        for index, tensor in enumerate(picture.problem.tensors)
        if (row.name, tensor.name) in picture.traffic
    ]


def _lane(picture: _Picture, index: int) -> None:
    """The line of a tensor, in pieces from one memory that keeps it to the next."""
    name = picture.problem.tensors[index].name
    x, colour = picture.lane(index), _colour(picture.problem, index)
    stops = [row for row in picture.rows if row.level < 0 or (row.name, name) in picture.traffic]
    for outer, inner in pairwise(stops):
        row = picture.traffic[outer.name, name]
        is_output = picture.problem.tensors[index].is_output
        words = row.updates if is_output else row.reads
        picture.svg.line(
            x, outer.y + 40, x, inner.y + 14,
            stroke=colour, stroke_width=1.5 + 0.7 * log10(1 + words), stroke_opacity=0.45,
        )  # fmt: skip
        picture.svg.note(f"{name}: {words} words from {outer.name}")
        labels = [f"{short(words)}{' up' if is_output else ''}"]
        labels += [f"{short(row.reads)} down"] if is_output and row.reads else []  # sums that go on below
        first = outer.y + outer.height + GAP / 2 + 4 - 6 * (len(labels) - 1)
        for number, label in enumerate(labels):
            picture.svg.text(x + 10, first + 12 * number, label, font_size=11, fill=colour)


def _chips(picture: _Picture, row: _Row) -> None:
    for index, tensor in enumerate(picture.problem.tensors):
        x, colour = picture.lane(index), _colour(picture.problem, index)
        kept = picture.traffic.get((row.name, tensor.name))
        if row.level < 0:
            picture.svg.rect(x - 24, row.y + 14, 48, 24, rx=4, fill="#ffffff", stroke=colour)
            picture.svg.text(x, row.y + 30, tensor.name, text_anchor="middle", font_size=11, fill=colour)
        elif kept is not None:
            picture.svg.rect(x - 46, row.y + 10, 92, 34, rx=5, fill=colour)
            moved = f"{kept.reads} reads, {kept.fills} fills, {kept.updates} updates"
            picture.svg.note(f"{tensor.name} in {row.name}: {moved}")
            look = {"text_anchor": "middle", "fill": "#ffffff"}
            picture.svg.text(x, row.y + 24, _fitted(tensor.name), font_weight="bold", **look)
            words = f"{short(kept.tile_words)} word{'s' if kept.tile_words != 1 else ''}"
            picture.svg.text(x, row.y + 38, words, font_size=10.5, **look)
        else:
            picture.svg.text(x + 10, row.y + 32, "passes", font_size=10, fill=SOFT, font_style="italic")


def _fitted(name: str) -> str:
    return name if len(name) <= 12 else name[:11] + "~"


def _colour(problem: Problem, index: int) -> str:
    if problem.tensors[index].is_output:
        return OUTPUT
    inputs = sum(not tensor.is_output for tensor in problem.tensors[:index])
    return PALETTE[inputs % len(PALETTE)]

"""Heat maps: a number for each pair of a row and a column, darker where it is larger (SoMa, HPCA 2025, Figure 7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import log

from .svg import INK, SOFT, Svg, short

CELL, HIGH, MARGIN, LEFT, TOP = 58.0, 30.0, 24.0, 64.0, 44.0
PALE, DARK = (247, 251, 255), (8, 81, 156)
FLAT = "#b23a48"


@dataclass(frozen=True)
class HeatMap:
    """`values[row][column]`, above zero; a red border goes round the values within `flat` of the least."""

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: tuple[tuple[float, ...], ...]
    flat: float = 0.05


def heat_svg(maps: Sequence[HeatMap], across: int, axes: tuple[str, str], title: str) -> str:
    """The maps in rows of `across`, each with its own scale of (logarithmic) colours; `axes` name rows and columns."""
    svg = Svg()
    wide = LEFT + CELL * max(len(item.columns) for item in maps) + MARGIN
    tall = TOP + HIGH * max(len(item.rows) for item in maps) + 2 * MARGIN
    svg.text(MARGIN, MARGIN + 4, title, font_size=15, font_weight="bold")
    for number, item in enumerate(maps):
        _draw(svg, item, MARGIN + number % across * wide, 2 * MARGIN + number // across * tall, axes)
    return svg.document(
        MARGIN + wide * min(across, len(maps)), 2 * MARGIN + tall * -(-len(maps) // across) + MARGIN, title
    )


def _draw(svg: Svg, item: HeatMap, x: float, y: float, axes: tuple[str, str]) -> None:
    low, high = (choose(value for row in item.values for value in row) for choose in (min, max))
    svg.text(x + LEFT, y + 14, item.title, font_size=12, font_weight="bold")
    svg.text(x + LEFT, y + TOP - 6 + HIGH * len(item.rows) + 30, axes[1], font_size=10, fill=SOFT)
    svg.text(x + LEFT - 8, y + TOP - 10, axes[0], font_size=10, fill=SOFT, text_anchor="end")
    for i, row in enumerate(item.rows):
        top = y + TOP - 6 + i * HIGH
        svg.text(x + LEFT - 8, top + HIGH / 2 + 4, row, font_size=10, text_anchor="end")
        for j, value in enumerate(item.values[i]):
            share = log(value / low) / log(high / low) if high > low else 0.0
            left = x + LEFT + j * CELL
            svg.rect(left, top, CELL, HIGH, fill=_colour(share), stroke="#ffffff")
            svg.note(f"{row}, {item.columns[j]}: {value:.6g}")
            ink = "#ffffff" if share > 0.55 else INK
            svg.text(left + CELL / 2, top + HIGH / 2 + 4, short(value), font_size=10, text_anchor="middle", fill=ink)
    bottom = y + TOP - 6 + HIGH * len(item.rows)
    for j, column in enumerate(item.columns):
        svg.text(x + LEFT + j * CELL + CELL / 2, bottom + 13, column, font_size=10, text_anchor="middle")
    _outline(svg, item, x + LEFT, y + TOP - 6, low * (1 + item.flat))


def _outline(svg: Svg, item: HeatMap, x: float, y: float, most: float) -> None:
    """The border between values up to `most` and larger ones."""

    def flat(i: int, j: int) -> bool:
        return 0 <= i < len(item.rows) and 0 <= j < len(item.columns) and item.values[i][j] <= most

    look = {"stroke": FLAT, "stroke_width": 2}
    for i in range(len(item.rows) + 1):
        for j in range(len(item.columns) + 1):
            left, top = x + j * CELL, y + i * HIGH
            if flat(i, j) != flat(i - 1, j):
                svg.line(left, top, left + CELL, top, **look)
            if flat(i, j) != flat(i, j - 1):
                svg.line(left, top, left, top + HIGH, **look)


def _colour(share: float) -> str:
    red, green, blue = (round(pale + (dark - pale) * share) for pale, dark in zip(PALE, DARK, strict=True))
    return f"#{red:02x}{green:02x}{blue:02x}"

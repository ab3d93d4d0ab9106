"""Plots as SVG text: grouped bars, lines and points; tables as markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from itertools import pairwise
from math import log10
from pathlib import Path

COLOURS = ("#4c72b0", "#dd8452", "#55a868", "#c44e52", "#8172b3", "#937860", "#da8bc3", "#8c8c8c", "#ccb974", "#64b5cd")
WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 900, 360, 70, 70, 50

Points = Sequence[tuple[float, float]]


class Canvas:
    """An SVG picture with a title, a legend and two axes."""

    def __init__(self, title: str, series: Sequence[str]) -> None:
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{HEIGHT}" font-family="sans-serif" '
            f'font-size="11"><rect width="{WIDTH}" height="{HEIGHT}" fill="white"/>'
        ]
        self.text(WIDTH / 2, 18, title, size=14)
        for place, name in enumerate(series):
            x = LEFT + place * (WIDTH - LEFT - 20) / len(series)
            self.rectangle(x, 28, 10, 10, place)
            self.text(x + 14, 37, name, anchor="start")

    def text(self, x: float, y: float, words: str, *, size: int = 11, anchor: str = "middle") -> None:
        self.parts.append(
            f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size}" text-anchor="{anchor}">{escape(words)}</text>'
        )

    def rectangle(self, x: float, y: float, width: float, height: float, colour: int) -> None:
        fill = COLOURS[colour % len(COLOURS)]
        self.parts.append(
            f'<rect x="{x:.1f}" y="{y:.1f}" width="{width:.1f}" height="{max(0, height):.1f}" fill="{fill}"/>'
        )

    def line(self, a: tuple[float, float], b: tuple[float, float], colour: str = "#bbb") -> None:
        ends = f'x1="{a[0]:.1f}" y1="{a[1]:.1f}" x2="{b[0]:.1f}" y2="{b[1]:.1f}"'
        self.parts.append(f'<line {ends} stroke="{colour}" stroke-width="1.5"/>')

    def save(self, path: Path) -> None:
        """Write the picture."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("\n".join([*self.parts, "</svg>"]) + "\n")


def bars(path: Path, title: str, groups: Sequence[str], series: Mapping[str, Sequence[float | None]]) -> None:
    """Grouped bars from 0 up; None leaves a gap."""
    canvas = Canvas(title, list(series))
    top = max((value for values in series.values() for value in values if value is not None), default=1.0)
    floor = HEIGHT - BOTTOM
    scale = (floor - TOP) / top
    for tick in range(5):
        y = floor - tick / 4 * top * scale
        canvas.line((LEFT, y), (WIDTH - 10, y))
        canvas.text(LEFT - 6, y + 4, f"{tick / 4 * top:.3g}", anchor="end")
    room = (WIDTH - LEFT - 20) / len(groups)
    wide = 0.8 * room / len(series)
    for place, group in enumerate(groups):
        canvas.text(LEFT + (place + 0.5) * room, floor + 16, group)
        for number, values in enumerate(series.values()):
            value = values[place]
            if value is not None:
                x = LEFT + place * room + 0.1 * room + number * wide
                canvas.rectangle(x, floor - value * scale, wide * 0.9, value * scale, number)
    canvas.save(path)


def lines(
    path: Path,
    title: str,
    axes: tuple[str, str],
    series: Mapping[str, Points],
    *,
    log_x: bool = False,
    joined: bool = True,
) -> None:
    """Lines, or points where they are not `joined`."""
    canvas = Canvas(title, list(series))
    points = [(_at(x, log_x), y) for values in series.values() for x, y in values]
    low_x, high_x = min(x for x, _ in points), max(x for x, _ in points)
    low, high = min(y for _, y in points), max(y for _, y in points)
    floor, across = HEIGHT - BOTTOM, WIDTH - LEFT - 30

    def place(x: float, y: float) -> tuple[float, float]:
        right = LEFT + (_at(x, log_x) - low_x) / max(high_x - low_x, 1e-9) * across
        return right, floor - (y - low) / max(high - low, 1e-9) * (floor - TOP - 10)

    for tick in range(5):
        value = low + tick / 4 * (high - low)
        y = place(10**low_x if log_x else low_x, value)[1]
        canvas.line((LEFT, y), (WIDTH - 10, y))
        canvas.text(LEFT - 6, y + 4, f"{value:.4g}", anchor="end")
        x = low_x + tick / 4 * (high_x - low_x)
        canvas.text(LEFT + tick / 4 * across, floor + 16, f"{10**x if log_x else x:.3g}")
    canvas.text(WIDTH / 2, HEIGHT - 20, f"{axes[0]}  (up: {axes[1]})")
    for number, values in enumerate(series.values()):
        spots = [place(x, y) for x, y in values]
        if joined:
            for a, b in pairwise(spots):
                canvas.line(a, b, COLOURS[number % len(COLOURS)])
        for x, y in spots:
            canvas.rectangle(x - 1.5, y - 1.5, 3, 3, number)
    canvas.save(path)


def markdown(path: Path, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table as text."""
    lines = [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]
    path.write_text("\n".join(lines) + "\n")


def _at(x: float, log: bool) -> float:
    return log10(max(x, 1.0)) if log else x

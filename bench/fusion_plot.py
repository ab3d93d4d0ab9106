"""Plots as SVG text: grouped bars; tables as markdown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path

COLOURS = ("#4c72b0", "#dd8452", "#55a868", "#c44e52", "#8172b3", "#937860", "#da8bc3", "#8c8c8c", "#ccb974", "#64b5cd")
WIDTH, HEIGHT, LEFT, BOTTOM, TOP = 900, 360, 70, 70, 50


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


def markdown(path: Path, head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """A table as text."""
    lines = [f"| {' | '.join(cells)} |" for cells in (head, ["---"] * len(head), *rows)]
    path.write_text("\n".join(lines) + "\n")

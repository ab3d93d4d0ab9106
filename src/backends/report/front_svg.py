"""The machines of a study as SVG: one objective over another, squares and a line for what nothing is better than."""

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from .svg import INK, SOFT, Axes, Axis, Svg

WIDTH, HEIGHT = 720.0, 420.0
LABEL_PX, LINE_PX = 90.0, 11.0
"""Width and height of a label."""

WIDE = 20
"""Values that differ by more than this factor are drawn by their logarithm."""


def front_svg(answer: Mapping[str, Any]) -> str:
    """The first objective of a sweep's answer over the second (of one alone: energy), with values of attributes."""
    up, across = [*answer["objectives"], "energy_pj"][:2]
    machines, front = answer["machines"], answer["front"]
    x = _axis([one[across] for one in machines], 76, WIDTH - 130)
    y = _axis([one[up] for one in machines], HEIGHT - 60, 44)
    differs = [path for path in machines[0]["attributes"] if len({one["attributes"][path] for one in machines}) > 1]
    svg = Svg()
    Axes(x, y, across, up).draw(svg, f"{answer['name']}: {up} over {across}")
    line = sorted((x.at(one[across]), y.at(one[up])) for one in front)
    for (x1, y1), (x2, y2) in pairwise(line):
        svg.line(x1, y1, x2, y2, stroke="#0b5fa5", stroke_width=1.5)
    labels: list[tuple[float, float]] = []
    words: list[tuple[tuple[float, float], str, str]] = []  # drawn at last, over all marks
    for one in sorted(machines, key=lambda machine: (machine in front, -machine[up])):
        place, best = (x.at(one[across]), y.at(one[up])), one in front
        if best:
            svg.rect(place[0] - 5, place[1] - 5, 10, 10, fill="#0b5fa5", stroke="#ffffff")
        else:
            svg.circle(*place, 4, fill="#8b929b", stroke="#ffffff")
        told = ", ".join(f"{one['attributes'][path]:g}" for path in differs)
        svg.note(told)
        labels.append(label := _free(place[0] + 9, place[1] + 3, labels))
        words.append((label, told, INK if best else SOFT))
    for (left, line_y), told, colour in words:
        svg.text(left, line_y, told, font_size=9, fill=colour)
    svg.text(
        76, HEIGHT - 10, f"Beside each: {', '.join(differs)}.  Squares: nothing is better.", font_size=10, fill=SOFT
    )
    return svg.document(WIDTH, HEIGHT, f"{answer['name']}: {up} over {across}")


def _free(x: float, y: float, taken: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """A place for a label at `x`, below those that it would lie on."""
    for other_x, other_y in sorted(taken, key=lambda place: place[1]):
        if abs(other_x - x) < LABEL_PX and abs(other_y - y) < LINE_PX:
            y = other_y + LINE_PX
    return x, y


def _axis(values: list[float], low_px: float, high_px: float) -> Axis:
    wide = min(values) > 0 and max(values) > WIDE * min(values)
    return Axis.of(values, low_px, high_px) if wide else Axis.linear(values, low_px, high_px)

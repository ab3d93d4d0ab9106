"""Axes of charts: numbers to pixels, by their logarithm or not, with lines at round values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log10

from .svg import SOFT, Svg, short


@dataclass(frozen=True)
class Axis:
    """Numbers from `low` to `high` at pixels `low_px` to `high_px`; `steps` have lines."""

    low: float
    high: float
    low_px: float
    high_px: float
    steps: tuple[float, ...]
    logarithmic: bool = True

    @staticmethod
    def of(values: Sequence[float], low_px: float, high_px: float) -> Axis:
        """A logarithmic axis of whole decades around the values above zero."""
        some = [value for value in values if value > 0] or [1.0]
        low, high = floor(log10(min(some))), ceil(log10(max(some)))
        high = max(high, low + 1)
        return Axis(10.0**low, 10.0**high, low_px, high_px, tuple(10.0**power for power in range(low, high + 1)))

    @staticmethod
    def linear(values: Sequence[float], low_px: float, high_px: float) -> Axis:
        """A linear axis of round steps, a little wider than the values."""
        low, high = min(values), max(values)
        room = 0.06 * (high - low) or 0.1 * abs(high) or 1.0
        low, high = low - room, high + room
        rough = (high - low) / 7
        power = 10.0 ** floor(log10(rough))
        step = next(power * n for n in (1, 2, 5, 10) if power * n >= rough)
        first, last = ceil(low / step), floor(high / step)
        return Axis(low, high, low_px, high_px, tuple(step * n for n in range(first, last + 1)), logarithmic=False)

    def at(self, value: float) -> float:
        """The pixel of a value, which is brought between the ends."""
        value = min(max(value, self.low), self.high)
        if self.logarithmic:
            part = (log10(value) - log10(self.low)) / (log10(self.high) - log10(self.low))
        else:
            part = (value - self.low) / (self.high - self.low)
        return self.low_px + part * (self.high_px - self.low_px)


@dataclass(frozen=True)
class Axes:
    """Two axes and what they are called."""

    x: Axis
    y: Axis
    across: str
    up: str

    def draw(self, svg: Svg, title: str) -> None:
        """Lines, their values, names, and a title above."""
        x, y = self.x, self.y
        svg.text(x.low_px - 46, 28, title, font_size=15, font_weight="bold")
        for step in x.steps:
            svg.line(x.at(step), y.low_px, x.at(step), y.high_px)
            svg.text(x.at(step), y.low_px + 15, short(step), font_size=11, fill=SOFT, text_anchor="middle")
        for step in y.steps:
            svg.line(x.low_px, y.at(step), x.high_px, y.at(step))
            svg.text(x.low_px - 6, y.at(step) + 4, short(step), font_size=11, fill=SOFT, text_anchor="end")
        middle = (x.low_px + x.high_px) / 2, (y.low_px + y.high_px) / 2
        svg.text(middle[0], y.low_px + 31, self.across, font_size=11, fill=SOFT, text_anchor="middle")
        turn = f"rotate(-90 {x.low_px - 50:g} {middle[1]:g})"
        look = {"font_size": 11, "fill": SOFT, "text_anchor": "middle", "transform": turn}
        svg.text(x.low_px - 50, middle[1], self.up, **look)

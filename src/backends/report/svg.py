"""A little SVG: shapes and text, written by hand, and axes of charts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from math import ceil, floor, log10
from xml.sax.saxutils import escape, quoteattr

SANS = "Helvetica, Arial, 'DejaVu Sans', sans-serif"
MONO = "Menlo, Consolas, 'DejaVu Sans Mono', monospace"
INK, SOFT, LINE, PANEL, TRACK = "#1c2733", "#5d6b7a", "#c9d2dc", "#f3f6f9", "#e1e8f0"


@dataclass
class Svg:
    """Elements in drawing order; coordinates in pixels, y downward."""

    parts: list[str] = field(default_factory=list[str])

    def rect(self, x: float, y: float, width: float, height: float, **look: object) -> None:
        """A rectangle; `look` are attributes, `_` for `-`."""
        self._add("rect", {"x": x, "y": y, "width": width, "height": height} | look)

    def circle(self, x: float, y: float, radius: float, **look: object) -> None:
        """A circle around a point."""
        self._add("circle", {"cx": x, "cy": y, "r": radius} | look)

    def triangle(self, x: float, y: float, size: float, **look: object) -> None:
        """A triangle around a point, `size` high above it."""
        corners = ((x, y - size), (x + size, y + 0.7 * size), (x - size, y + 0.7 * size))
        self._add("polygon", {"points": " ".join(f"{a:.2f},{b:.2f}" for a, b in corners)} | look)

    def line(self, x1: float, y1: float, x2: float, y2: float, **look: object) -> None:
        """A straight line."""
        self._add("line", {"x1": x1, "y1": y1, "x2": x2, "y2": y2, "stroke": LINE} | look)

    def text(self, x: float, y: float, text: str, **look: object) -> None:
        """Text whose baseline begins at a point (or ends, or is centred, by `text_anchor`)."""
        style = {"x": x, "y": y, "font_family": SANS, "font_size": 12, "fill": INK} | look
        self.parts.append(f"<text{_attributes(style)}>{escape(text)}</text>")

    def note(self, text: str) -> None:
        """What shows when the pointer rests on the last element."""
        last = self.parts.pop().removesuffix("/>")
        name = last[1:].split(" ", 1)[0]
        self.parts.append(f"{last}><title>{escape(text)}</title></{name}>")

    def _add(self, name: str, attributes: dict[str, object]) -> None:
        self.parts.append(f"<{name}{_attributes(attributes)}/>")

    def document(self, width: float, height: float, title: str) -> str:
        """The whole picture on white."""
        head = (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
            f'viewBox="0 0 {width:g} {height:g}" role="img">'
        )
        ground = f'<rect width="{width:g}" height="{height:g}" fill="#ffffff"/>'
        return "\n".join([head, f"<title>{escape(title)}</title>", ground, *self.parts, "</svg>", ""])


def _attributes(attributes: dict[str, object]) -> str:
    words = [f"{key.replace('_', '-')}={quoteattr(_word(value))}" for key, value in attributes.items()]
    return "".join(f" {word}" for word in words)


def _word(value: object) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".") if isinstance(value, float) else str(value)


def short(value: float) -> str:
    """A count or size in few characters: `3.61 M`."""
    for prefix in ("", "K", "M", "G", "T", "P"):
        if abs(value) < 999.5:
            digits = 0 if value == int(value) or abs(value) >= 99.95 else 1 if abs(value) >= 9.995 else 2
            return f"{value:.{digits}f} {prefix}".strip()
        value /= 1000
    return f"{value:.3g} E"


def joules(energy_pj: float) -> str:
    """An energy in few characters: `joules(2.5e6)` is `2.50 uJ`."""
    value, units = energy_pj, ("pJ", "nJ", "uJ", "mJ", "J", "kJ", "MJ", "GJ")
    unit = 0
    while abs(value) >= 999.5 and unit + 1 < len(units):
        value, unit = value / 1000, unit + 1
    return f"{short(value)} {units[unit]}"


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

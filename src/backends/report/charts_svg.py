"""Figures of a report as SVG: roofline, energy and use, and units over time.  Words and shapes repeat each colour."""

from collections.abc import Iterator, Mapping, Sequence
from math import inf
from typing import Any

from ..timeline import TimelineRow
from .svg import INK, LINE, SOFT, TRACK, Axes, Axis, Svg, joules, short

WIDTH, HEIGHT, LEFT, TOP, MARGIN = 720.0, 420.0, 70.0, 44.0, 24.0
BLUE, ORANGE, GREEN = "#2f6db3", "#c25e12", "#1f8a66"


def roofline_svg(answer: Mapping[str, Any]) -> str:
    """Operations per cycle over operations per byte off chip, a mark for each layer with work for the compute array."""
    target, layers = answer["target"], [layer for layer in answer["layers"] if layer["ops"] > 0]
    peak = max(target["array_peaks"].values(), default=0.0)
    speeds = [link["bytes_per_cycle"] for link in target["links"] if link["offchip"] and link["bytes_per_cycle"]]
    speed = max(speeds, default=inf)
    points = [(_intensity(layer), _rate(layer, target["array"]), layer) for layer in layers]
    finite = [x for x, _, _ in points if x < inf]
    ridge = peak / speed if speed < inf else 1.0
    x = Axis.of([ridge / 10, ridge * 10, *finite], LEFT, WIDTH - MARGIN)
    y = Axis.of([peak / 10, 1.3 * peak, *(rate for _, rate, _ in points)], HEIGHT - 52, TOP)
    svg = Svg()
    title = f"{answer['name']} on {target['name']}: roofline"
    Axes(x, y, "operations per byte off chip", "operations per cycle").draw(svg, title)
    if peak:
        svg.line(x.at(ridge), y.at(peak), x.high_px, y.at(peak), stroke=INK, stroke_width=2)
        svg.text(x.high_px, y.at(peak) - 6, f"{target['array']}: {short(peak)} per cycle", text_anchor="end")
    if speed < inf and peak:
        low = max(x.low, y.low / speed)
        svg.line(x.at(low), y.at(low * speed), x.at(ridge), y.at(peak), stroke=INK, stroke_width=2)
        middle = (low * ridge) ** 0.5
        svg.text(x.at(middle) + 10, y.at(middle * speed) + 14, f"off chip: {speed:g} B/cycle")
    for intensity, rate, layer in points:
        place = x.at(min(intensity, x.high)), y.at(rate)
        _mark(svg, layer, place, target["array"], layer["cycles"] / max(answer["cycles"], 1))
    svg.text(
        LEFT,
        HEIGHT - 6,
        "Size: share of the run.  Circle: bound off chip, square: by the array, triangle: by others.",
        font_size=10,
        fill=SOFT,
    )
    return svg.document(WIDTH, HEIGHT, title)


def _intensity(layer: Mapping[str, Any]) -> float:
    return layer["ops"] / layer["dram_bytes"] if layer["dram_bytes"] else inf


def _rate(layer: Mapping[str, Any], array: str) -> float:
    """Operations per cycle of a layer, or of its work where that is hidden behind others."""
    return layer["ops"] / max(layer["cycles"], layer["busy_cycles"].get(array, 0), 1)


def _mark(svg: Svg, layer: Mapping[str, Any], place: tuple[float, float], array: str, share: float) -> None:
    (x, y), size, bound = place, 3 + 10 * share**0.5, layer["bound_by"]
    look = {"stroke": "#ffffff", "stroke_width": 0.7}
    if bound == array:
        svg.rect(x - size, y - size, 2 * size, 2 * size, fill=ORANGE, **look)
    elif bound == "dram":
        svg.circle(x, y, size, fill=BLUE, **look)
    else:
        svg.triangle(x, y, 1.2 * size, fill=GREEN, **look)
    svg.note(f"{layer['name']}: bound by {bound}, {100 * share:.1f} % of the run")


def energy_svg(answer: Mapping[str, Any]) -> str:
    """Energy by memory, link and node, bytes by memory, and the busy part of each unit, as bars with their numbers."""
    svg, y = Svg(), TOP
    title = f"{answer['name']} on {answer['target']['name']}: energy, bytes, units"
    svg.text(MARGIN, 28, title, font_size=15, font_weight="bold")
    for label, rows in _bars(answer):
        svg.text(MARGIN, y + 14, label, font_weight="bold", fill=SOFT)
        y += 22
        most = max((value for _, value, _ in rows), default=0) or 1
        for name, value, told in rows:
            svg.text(150, y + 11, name, text_anchor="end", font_size=11)
            svg.rect(160, y + 2, 420, 11, fill=TRACK)
            svg.rect(160, y + 2, 420 * value / most, 11, fill=BLUE)
            svg.text(590, y + 11, told, font_size=11)
            y += 18
        y += 10
    return svg.document(WIDTH, y + 10, title)


def _bars(answer: Mapping[str, Any]) -> Iterator[tuple[str, list[tuple[str, float, str]]]]:
    """Label and rows of each group of bars: name, length, and what is written beside it."""
    counts = answer["counts"]
    spent = [
        (name, one["energy_pj"]) for kind in ("memories", "computes", "links") for name, one in counts[kind].items()
    ]
    whole = sum(pj for _, pj in spent) or 1
    ordered = sorted((row for row in spent if row[1] > 0), key=lambda row: -row[1])
    yield "Energy", [(name, pj, f"{joules(pj)}, {100 * pj / whole:.1f} %") for name, pj in ordered]
    moved = [
        (f"{name} {word}", one[key], f"{short(one[key])}B")
        for name, one in counts["memories"].items()
        for word, key in (("read", "read_bytes"), ("written", "write_bytes"))
    ]
    yield "Bytes", [row for row in moved if row[1]]
    cycles = max(answer["cycles"], 1)
    yield (
        "Units: busy part of the run",
        [
            (name, one["busy_cycles"], f"{100 * one['busy_cycles'] / cycles:.1f} %")
            for name, one in counts["units"].items()
            if one["instructions"]
        ],
    )


ROW = 34.0


def timeline_svg(rows: Sequence[TimelineRow], title: str) -> str:
    """Units over cycles; neighbours of a layer are one box, and layers differ in lightness from those before."""
    svg, units = Svg(), list(dict.fromkeys(row.unit for row in rows))
    end = max((row.end_cycle for row in rows), default=1)
    scale = (WIDTH - MARGIN - LEFT) / end
    svg.text(MARGIN, 28, title, font_size=15, font_weight="bold")
    shades = {layer: number for number, layer in enumerate(dict.fromkeys(row.layer for row in rows))}
    for number, unit in enumerate(units):
        y = TOP + number * ROW
        svg.text(LEFT - 8, y + 18, unit, text_anchor="end")
        svg.rect(LEFT, y, WIDTH - MARGIN - LEFT, ROW - 8, fill=TRACK)
        for layer, first, last in _boxes([row for row in rows if row.unit == unit], 0.7 / scale):
            x, wide = LEFT + first * scale, (last - first) * scale
            svg.rect(x, y, max(wide, 0.4), ROW - 8, fill=_shade(shades[layer]))
            svg.note(f"{layer}: {first:,} to {last:,}")
            if wide > 7 * len(layer):
                svg.text(x + 3, y + 17, layer, font_size=11)
    bottom = TOP + len(units) * ROW
    for part in range(6):
        x = LEFT + part / 5 * (WIDTH - MARGIN - LEFT)
        svg.line(x, TOP, x, bottom, stroke=LINE, stroke_width=0.5)
        anchor = "end" if part == 5 else "middle"
        svg.text(x, bottom + 12, short(part / 5 * end), font_size=10, fill=SOFT, text_anchor=anchor)
    svg.text((LEFT + WIDTH) / 2, bottom + 28, "cycles", font_size=10, fill=SOFT, text_anchor="middle")
    return svg.document(WIDTH, bottom + 40, title)


def _boxes(rows: Sequence[TimelineRow], gap: float) -> Iterator[tuple[str, int, int]]:
    """Layer, first and last cycle of instructions in a row that leave less than `gap` cycles between them."""
    layer, first, last = "", 0, -1
    for row in rows:
        if last >= 0 and (row.layer != layer or row.start_cycle - last > gap):
            yield layer, first, last
            last = -1
        if last < 0:
            layer, first = row.layer, row.start_cycle
        last = max(last, row.end_cycle)
    if last >= 0:
        yield layer, first, last


def _shade(number: int) -> str:
    """A colour whose lightness differs from that of its neighbours."""
    return f"hsl({(number * 137.508 + 205) % 360:.0f} 46% {74 if number % 2 else 56}%)"

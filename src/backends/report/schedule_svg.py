"""The picture of a DRAM schedule: when the channel and the cores are busy, and what the buffer holds meanwhile.

As Figure 8 of J. Cai et al., "SoMa", HPCA 2025: a DRAM row, a COMPUTE row with the names of layers where there is room,
the use of the buffer, and the borders of tiles, fused groups and layer groups; several schedules of a network, as with
prefetch and without, share the scale.  Below are the layers of the fused groups.
"""

from collections.abc import Mapping, Sequence
from itertools import groupby, pairwise, zip_longest
from operator import itemgetter

from ...costs.dram.timetable import Timetable, Transfer
from ...costs.soma.tiling import INPUT, OUTPUT
from .svg import INK, LINE, PANEL, SOFT, Svg, short

WIDTH, MARGIN, LEFT = 1200.0, 24.0, 96.0
ROW, CURVE, GAP, GROUPS = 44.0, 120.0, 16.0, 20.0
PANEL_HEIGHT = GROUPS + 16 + 2 * (ROW + GAP) + CURVE + 60
COLUMNS, LINE_HEIGHT, MOST_GROUPS = 3, 14.0, 60
NAME_WIDTH, NAME_HEIGHT = 5.2, 10.0
"""Of a character of a layer's name, and of a line of it."""
MIN_WIDTH = 0.15
COLOURS = {
    "input": "#3d7ea6",
    "weights": "#e0a458",
    "result": "#6a994e",
    "group": "#b23a48",
    "fused": "#6b7485",
    "buffer": "#9a8fb5",
}
TILES = "#cfdbe8", "#9fb6cd"


def schedule_svg(panels: Mapping[str, Timetable], buffer_bytes: int | None = None) -> str:
    """Schedules of one network under each other on one scale of time, as SVG text.

    `panels` has them by name; `buffer_bytes` draws the buffer's size.
    """
    svg = Svg()
    longest = max(1, *(table.latency_cycles for table in panels.values()))
    scale = (WIDTH - LEFT - MARGIN) / longest
    top = MARGIN
    following = [table.fusion.fused_groups for table in panels.values()][1:]
    for (name, table), after in zip_longest(panels.items(), following):
        _draw_panel(svg, name, table, scale, top, buffer_bytes)
        top += PANEL_HEIGHT
        if table.fusion.fused_groups != after:  # groups that are the same are told once
            top += _draw_groups(svg, table, top - 12)
    _draw_legend(svg, top)
    network = next(iter(panels.values())).network.name
    return svg.document(WIDTH, top + 20, f"{network}: {', '.join(panels)}")


def _draw_panel(svg: Svg, name: str, table: Timetable, scale: float, top: float, buffer_bytes: int | None) -> None:
    cycles = max(1, table.latency_cycles)
    title = f"{table.network.name}, {name}: {short(cycles)} cycles, {short(table.dram_bytes)}B of DRAM traffic"
    svg.text(LEFT, top + 4, title, font_size=15, font_weight="bold")
    top += GROUPS + 16
    rows = top, top + ROW + GAP, top + 2 * (ROW + GAP)
    busy = table.dram_cycles / cycles, table.compute_cycles / cycles
    for label, y, share in zip(("DRAM", "COMPUTE"), rows[:2], busy, strict=True):
        svg.text(LEFT - 10, y + ROW / 2, label, text_anchor="end", fill=SOFT)
        svg.text(LEFT - 10, y + ROW / 2 + 14, f"busy {share:.1%}", text_anchor="end", fill=SOFT, font_size=10)
        svg.rect(LEFT, y, cycles * scale, ROW, fill=PANEL)
    svg.text(LEFT - 10, rows[2] + CURVE / 2, "BUFFER", text_anchor="end", fill=SOFT)
    _draw_transfers(svg, table, scale, rows[0])
    _draw_tiles(svg, table, scale, rows[1])
    _draw_names(svg, table, scale, rows[1])
    _draw_usage(svg, table, scale, rows[2], buffer_bytes)
    _draw_borders(svg, table, scale, rows[0] - 6, rows[2] + CURVE)
    _draw_axis(svg, table, scale, rows[2] + CURVE)


def _what(table: Timetable, item: Transfer) -> tuple[str, str]:
    name = table.network.layers[item.layer].name
    if item.kind == OUTPUT:
        return "result", f"store {name}, tile {item.tile}"
    if item.kind == INPUT:
        return "input", f"load input of {name}, tile {item.tile}"
    return "weights", f"load weights of {name}"


def _draw_transfers(svg: Svg, table: Timetable, scale: float, y: float) -> None:
    for item in table.transfers:
        colour, what = _what(table, item)
        width = max(MIN_WIDTH, item.cycles * scale)
        svg.rect(LEFT + item.begin * scale, y, width, ROW, fill=COLOURS[colour])
        svg.note(f"{what}: {item.size_bytes} bytes, cycles {item.begin} to {item.begin + item.cycles}")


def _draw_tiles(svg: Svg, table: Timetable, scale: float, y: float) -> None:
    rows = zip(table.tile_layer, table.tile_index, table.tile_begin, table.tile_cycles, strict=True)
    for position, (layer, index, begin, cycles) in enumerate(rows):
        svg.rect(LEFT + begin * scale, y, max(MIN_WIDTH, cycles * scale), ROW, fill=TILES[position % 2])
        name = table.network.layers[int(layer)].name
        svg.note(f"{name}, tile {index}: cycles {begin} to {begin + cycles}")


def _draw_names(svg: Svg, table: Timetable, scale: float, y: float) -> None:
    """The name of a layer in its tiles that follow each other, across or upright, where it fits."""
    rows = zip(table.tile_layer, table.tile_begin, table.tile_cycles, strict=True)
    for layer, tiles in groupby(
        ((int(n), int(begin), int(begin + cycles)) for n, begin, cycles in rows), itemgetter(0)
    ):
        spans = list(tiles)
        begin, end = spans[0][1], spans[-1][2]
        name, width, x = table.network.layers[layer].name, (end - begin) * scale, LEFT + scale * (begin + end) / 2
        look = {"text_anchor": "middle", "font_size": 9}
        if width > NAME_WIDTH * len(name):
            svg.text(x, y + ROW / 2 + 3, name, **look)
        elif width > NAME_HEIGHT and NAME_WIDTH * len(name) <= ROW:
            svg.text(x + 3, y + ROW / 2, name, transform=f"rotate(-90 {x + 3:g} {y + ROW / 2:g})", **look)


def _draw_groups(svg: Svg, table: Timetable, y: float) -> float:
    """The layers of the fused groups, by number, in columns; gives the height that this takes."""
    names, groups = [layer.name for layer in table.network.layers], table.fusion.fused_groups
    lines = [f"{number}: {_layers_text([names[n] for n in group.layers], group.tiles)}"
             for number, group in enumerate(groups[:MOST_GROUPS], 1)]  # fmt: skip
    if len(groups) > MOST_GROUPS:
        lines.append(f"and {len(groups) - MOST_GROUPS} groups more, as --trace shows them")
    count = -(-len(lines) // COLUMNS)
    for place, line in enumerate(lines):
        column, row = divmod(place, count)
        x = LEFT + column * (WIDTH - LEFT - MARGIN) / COLUMNS
        svg.text(x, y + LINE_HEIGHT * row, line, font_size=10, fill=SOFT)
    return LINE_HEIGHT * count + 8


def _layers_text(names: Sequence[str], tiles: int) -> str:
    """Layers in as much room as a column has."""
    few = names if len(names) <= 3 and sum(map(len, names)) < 40 else [names[0][:20], "...", names[-1][:20]]
    return (
        f"{', '.join(few)} ({len(names)} layer{'s' if len(names) > 1 else ''}, {tiles} tile{'s' if tiles > 1 else ''})"
    )


def _draw_usage(svg: Svg, table: Timetable, scale: float, y: float, buffer_bytes: int | None) -> None:
    most = max(table.max_buffer_bytes, buffer_bytes or 0, 1)
    edges = [0, *map(int, table.tile_begin), table.latency_cycles]
    for usage, (begin, end) in zip(table.usage_bytes, pairwise(edges), strict=True):
        height = CURVE * int(usage) / most
        if end > begin:
            svg.rect(LEFT + begin * scale, y + CURVE - height, (end - begin) * scale, height, fill=COLOURS["buffer"])
    svg.line(LEFT, y, LEFT + table.latency_cycles * scale, y, stroke=INK, stroke_dasharray="4 3")
    svg.text(LEFT - 10, y + 4, f"{most / (1 << 20):.3g} MiB", text_anchor="end", fill=SOFT, font_size=10)


def _draw_borders(svg: Svg, table: Timetable, scale: float, top: float, bottom: float) -> None:
    """Lines where groups begin, and each fused group's number of tiles where there is room for it."""
    position, last = 0, -1
    starts = [int(begin) for begin in table.tile_begin] + [table.latency_cycles]
    for number, group in enumerate(table.fusion.fused_groups, 1):
        end = position + len(group.layers) * group.tiles
        x, wide = LEFT + starts[position] * scale, (starts[end] - starts[position]) * scale
        heavy = group.group != last
        look = {"stroke": COLOURS["group" if heavy else "fused"], "stroke_width": 1.6 if heavy else 0.7}
        svg.line(x, top - (GROUPS - 8 if heavy else 4), x, bottom, **look)
        names = [table.network.layers[layer].name for layer in group.layers]
        svg.note(f"{'layer' if heavy else 'fused'} group {number}: {', '.join(names)} in {group.tiles} tiles")
        label = f"{number}"
        if wide > 6 * len(label):
            svg.text(x + wide / 2, top - 1, label, text_anchor="middle", font_size=9, fill=SOFT)
        position, last = end, group.group


def _draw_axis(svg: Svg, table: Timetable, scale: float, y: float) -> None:
    svg.line(LEFT, y, LEFT + table.latency_cycles * scale, y, stroke=INK)
    for step in range(9):
        cycles = table.latency_cycles * step // 8
        svg.line(LEFT + cycles * scale, y, LEFT + cycles * scale, y + 5, stroke=INK)
        svg.text(LEFT + cycles * scale, y + 18, short(cycles), text_anchor="middle", font_size=10, fill=SOFT)
    svg.text(LEFT - 10, y + 18, "cycles", text_anchor="end", font_size=10, fill=SOFT)


def _draw_legend(svg: Svg, y: float) -> None:
    x = LEFT
    names = {"input": "load of a map", "weights": "load of weights", "result": "store", "group": "layer group"}
    for key, name in (names | {"fused": "fused group, by number"}).items():
        svg.rect(x, y - 9, 12, 12, fill=COLOURS[key], stroke=LINE)
        svg.text(x + 18, y + 1, name, font_size=11)
        x += 40 + 7 * len(name)

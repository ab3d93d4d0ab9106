"""What `tilewright report --export` writes: the figures of a report and its tables, as files."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..backends.program import Program
from ..backends.report.charts_svg import energy_svg, roofline_svg, timeline_svg
from ..backends.timeline import flat_layer
from ..errors import TilewrightError
from ..extras import extra
from ..files import make_folder, write_file
from .table_files import write_csv, write_parquet

FORMATS = ("svg", "png", "csv", "parquet")
"""What figures (`svg`, `png`) and tables (`csv`, `parquet`) are written as."""

WIDTH_PX = 1440
"""Of a PNG."""


def export_report(folder: Path, program: Program, answer: Mapping[str, Any], formats: Sequence[str]) -> list[str]:
    """Write figures and tables of a report's answer to `folder`, which is made; the names of the files.

    Machines that keep no time of each instruction have no timeline.
    """
    figures = {"roofline": roofline_svg(answer), "energy": energy_svg(answer)}
    tables = {"layers": [flat_layer(layer.as_dict()) for layer in program.layers]}
    if program.machine.control == "queues":
        name = f"{answer['name']} on {answer['target']['name']}: units over time"
        figures["timeline"] = timeline_svg(program.timeline, name)
        tables["timeline"] = [asdict(row) for row in program.timeline]
    make_folder(folder)
    written: list[str] = []
    for form in formats:
        for name in figures if form in ("svg", "png") else tables:
            path = folder / f"{name}.{form}"
            if form == "svg":
                write_file(path, figures[name])
            elif form == "png":
                write_file(path, _png(figures[name]))
            elif form == "csv":
                write_csv(path, tables[name])
            else:
                write_parquet(path, tables[name], "--export")
            written.append(str(path))
    return written


def _png(svg: str) -> bytes:
    cairosvg = extra("cairosvg", "png", "--export")
    return cairosvg.svg2png(bytestring=svg.encode(), output_width=WIDTH_PX)


def formats_of(text: str) -> tuple[str, ...]:
    """The formats that a list with commas names; `TilewrightError` (kind `usage`) for others."""
    found = tuple(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    for form in found:
        if form not in FORMATS:
            raise TilewrightError("usage", "--formats", f"some of {', '.join(FORMATS)}", f"'{form}'")
    return found

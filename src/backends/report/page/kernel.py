"""The page of a mapping that ran: its picture, loops by memory, energy, and words beside those of the cost model."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ....files import write_file
from ..svg import INK, LINE, PANEL, SOFT, TRACK
from .template import filled

COLOURS = {INK: "ink", SOFT: "soft", LINE: "line", PANEL: "fill", TRACK: "line"}
"""Colours of a picture on white, as the page's light and dark have them."""


def write_kernel(path: str | Path, answer: Mapping[str, Any], picture: str) -> None:
    """Write the page about an answer of `tilewright run KERNEL`, with a `picture` of the mapping as SVG text."""
    for colour, variable in COLOURS.items():
        picture = picture.replace(f'"{colour}"', f'"var(--{variable})"')
    picture = re.sub(r'(<rect[^>]* fill=)"#ffffff"', r'\1"var(--panel)"', picture)  # white letters stay white
    title = f"{answer['name']} on {answer['target']}"
    write_file(path, filled("kernel.html", title, answer, ("base.js", "kernel.js"), picture=picture))

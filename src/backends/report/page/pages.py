"""Pages out of the parts that lie here: a template with the style, the scripts and the answer."""

import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

from ....files import write_file
from ..svg import INK, LINE, PANEL, SOFT, TRACK

HERE = Path(__file__).parent


def filled(
    body: str,
    title: str,
    answer: Mapping[str, Any],
    scripts: Sequence[str],
    packs: Mapping[str, str] | None = None,
    *,
    picture: str = "",
) -> str:
    """A page that needs nothing else: the frame of all pages around a `body`, with a link to each of its sections.

    The answer is in it as JSON, and `packs`, which it unpacks when they are first needed;
    a `picture` is SVG text.
    """
    sections = re.findall(r'<section id="([\w-]+)" aria-label="([^"]+)"', main := _part(body))
    data = json.dumps(answer, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
    parts = {
        "TITLE": escape(title),
        "BODY": main.rstrip().replace("{{PICTURE}}", picture),
        "LINKS": "".join(f'<a href="#{name}">{label}</a>' for name, label in sections),
        "STYLE": _part("page.css"),
        "ANSWER": data,
        "PACKS": "\n".join(_pack(name, text) for name, text in (packs or {}).items()),
        "SCRIPT": "\n".join(_part(name) for name in scripts),
    }
    return re.sub(r"\{\{([A-Z]+)\}\}", lambda match: parts[match[1]], _part("shell.html"))


def _part(name: str) -> str:
    return (HERE / name).read_text(encoding="utf-8")


def _pack(name: str, text: str) -> str:
    return f'<script type="application/x-pack" id="pack-{name}">{text}</script>'


SCRIPTS = ("base.js", "changes.js")


def write_changes(path: str | Path, answer: Mapping[str, Any]) -> None:
    """Write the page about an answer of `tilewright diff`."""
    write_file(path, filled("changes.html", f"{answer['a']} and {answer['b']}", answer, SCRIPTS))


COLOURS = {INK: "ink", SOFT: "soft", LINE: "line", PANEL: "fill", TRACK: "line"}
"""Colours of a picture on white, as the page's light and dark have them."""


def write_kernel(path: str | Path, answer: Mapping[str, Any], picture: str) -> None:
    """Write the page about an answer of `tilewright run KERNEL`, with a `picture` of the mapping as SVG text."""
    for colour, variable in COLOURS.items():
        picture = picture.replace(f'"{colour}"', f'"var(--{variable})"')
    picture = re.sub(r'(<rect[^>]* fill=)"#ffffff"', r'\1"var(--panel)"', picture)  # white letters stay white
    title = f"{answer['name']} on {answer['target']}"
    write_file(path, filled("kernel.html", title, answer, ("base.js", "kernel.js"), picture=picture))


def write_study(path: str | Path, answer: Mapping[str, Any]) -> None:
    """Write the page about an answer of `tilewright sweep`."""
    write_file(path, filled("study.html", answer["name"], answer, ("base.js", "study.js")))

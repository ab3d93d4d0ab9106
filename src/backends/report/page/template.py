"""Pages out of the parts that lie here: a template with the style, the scripts, the answer, and what is packed."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

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

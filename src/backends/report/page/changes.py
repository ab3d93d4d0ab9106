"""The page of what two compiled networks differ in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ....files import write_file
from .template import filled

SCRIPTS = ("base.js", "changes.js")


def write_changes(path: str | Path, answer: Mapping[str, Any]) -> None:
    """Write the page about an answer of `tilewright diff`."""
    write_file(path, filled("changes.html", f"{answer['a']} and {answer['b']}", answer, SCRIPTS))

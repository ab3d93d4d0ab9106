"""The page of a study: its machines by two figures, the front of those, and all points."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ....files import write_file
from .template import filled


def write_study(path: str | Path, answer: Mapping[str, Any]) -> None:
    """Write the page about an answer of `tilewright sweep`."""
    write_file(path, filled("study.html", answer["name"], answer, ("base.js", "study.js")))

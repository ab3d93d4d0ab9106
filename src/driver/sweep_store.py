"""Points of studies that have been computed, in an SQLite file, each by a hash of all that its answer depends on."""

from __future__ import annotations

import hashlib
import json
import sqlite3
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from ..errors import TilewrightError
from ..files import hash_of
from ..frontends.acg import print_target
from .cost_terms import version_of
from .points import Point

WAIT_S = 60
"""How long a sweep waits for another that writes."""


def key_of(point: Point) -> str:
    """A hash of the model (its bytes, of a file), the machine, shapes, options, versions of tilewright and of costs."""
    path = Path(point.model)
    model = hash_of(path) if path.suffix and path.is_file() else point.model
    options = {name: value for name, value in asdict(point.options).items() if name != "dump"}
    costs = {name: version_of(name) for name in point.costs}
    whole = [model, print_target(point.machine), asdict(point.shapes), options, _version(), costs]
    return hashlib.sha256(json.dumps(whole, sort_keys=True).encode()).hexdigest()


@cache
def _version() -> str:
    return version("tilewright")


class Store:
    """The answers in a file; several processes may use one.

    What was `put` stays when the process is killed; what the last seconds brought may be lost when the machine loses
    its power.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.connection = sqlite3.connect(path, timeout=WAIT_S, isolation_level=None)
            self.connection.execute("PRAGMA journal_mode = WAL")
            self.connection.execute("PRAGMA synchronous = NORMAL")
            self.connection.execute("CREATE TABLE IF NOT EXISTS points (key TEXT PRIMARY KEY, point TEXT, answer TEXT)")
        except sqlite3.Error as error:
            raise TilewrightError("file", str(path), "an SQLite file that can be written", str(error)) from error

    def answers(self, keys: Iterable[str]) -> dict[str, dict[str, Any]]:
        """The answers that are there."""
        found: dict[str, dict[str, Any]] = {}
        try:
            for key in keys:
                row = self.connection.execute("SELECT answer FROM points WHERE key = ?", (key,)).fetchone()
                if row is not None:
                    found[key] = json.loads(row[0])
        except (sqlite3.Error, ValueError, TypeError) as error:
            raise TilewrightError("file", str(self.path), "answers as sweeps write them", str(error)) from error
        return found

    def put(self, key: str, point: Mapping[str, Any], answer: Mapping[str, Any]) -> None:
        """Keep an answer; one that another sweep has put there stays."""
        row = key, json.dumps(point), json.dumps(answer)
        try:
            self.connection.execute("INSERT OR IGNORE INTO points VALUES (?, ?, ?)", row)
        except sqlite3.Error as error:
            raise TilewrightError("file", str(self.path), "an SQLite file that can be written", str(error)) from error

    def close(self) -> None:
        """Nothing more is put."""
        self.connection.close()

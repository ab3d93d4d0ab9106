"""JSON files and typed access to their values, with located errors."""

import json
from math import isfinite
from pathlib import Path
from typing import cast

from ..errors import TilewrightError
from ..files import read_text
from ..machine.model import MIN_BANDWIDTH

Json = dict[str, object]

MAX_FILE_BYTES = 256 << 20

MAX_COUNT = 1 << 40
"""Largest bound, instance count, capacity or coefficient that is accepted."""


def bad(where: str, expected: str, found: object) -> TilewrightError:
    """The error for a value of the wrong form, as JSON has it, or for words; long ones are cut."""
    shown = (
        "nothing" if found is None else found if isinstance(found, str) and found else json.dumps(found, default=str)
    )
    return TilewrightError("parse", where, expected, shown if len(shown) <= 120 else shown[:117] + "...")


def read_json(path: Path) -> object:
    """The content of a JSON file of at most `MAX_FILE_BYTES`."""
    try:
        return json.loads(read_text(path, MAX_FILE_BYTES))
    except (ValueError, RecursionError) as error:
        found = f"text that does not parse ({str(error)[:120]})"
        raise TilewrightError("parse", str(path), "JSON", found, "correct it there") from error


def object_of(data: object, where: str) -> Json:
    """A JSON object."""
    if not isinstance(data, dict):
        raise bad(where, "an object", data)
    return cast(Json, data)


def list_of(data: object, where: str) -> list[object]:
    """A JSON list."""
    if not isinstance(data, list):
        raise bad(where, "a list", data)
    return cast(list[object], data)


def text(data: Json, key: str, where: str) -> str:
    """The string under `key`."""
    value = data.get(key)
    if not isinstance(value, str) or not value:
        raise bad(f"{where}.{key}", "a name", value)
    return value


def count(data: Json, key: str, where: str, default: int | None = None) -> int:
    """The positive integer under `key`; `default` where it is missing or null."""
    value = data.get(key)
    if value is None and default is not None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= MAX_COUNT:
        raise bad(f"{where}.{key}", f"an integer from 1 to {MAX_COUNT}", value)
    return value


def number(data: Json, key: str, where: str, default: float | None = None) -> float:
    """The number (zero or more) under `key`; `default` where it is missing or null."""
    value = data.get(key)
    if value is None and default is not None:
        return default
    if isinstance(value, bool) or not isinstance(value, int | float) or not (isfinite(value) and value >= 0):
        raise bad(f"{where}.{key}", "a finite number, zero or more", value)
    return float(value)


def bandwidth(data: Json, key: str, where: str) -> float | None:
    """Words per cycle under `key`; None where unlimited."""
    if data.get(key) is None:
        return None
    value = number(data, key, where)
    if value < MIN_BANDWIDTH:
        raise bad(f"{where}.{key}", f"a bandwidth of at least {MIN_BANDWIDTH:g} words per cycle, or null", value)
    return value

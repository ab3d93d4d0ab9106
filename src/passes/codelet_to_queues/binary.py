"""Rows of fields to the bytes of a program."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ...errors import TilewrightError
from ...machine import Machine
from ...machine.encoding import encode_many, join_rows
from .emit import Code


def pack(machine: Machine, code: Code) -> bytes:
    """The program; raises `TilewrightError` (kind `program`) where a value does not fit its field."""
    order = np.asarray(code.order, np.int64)
    header = [item.name for item in machine.header]
    parts: list[tuple[np.ndarray[tuple[int], np.dtype[np.int64]], np.ndarray[tuple[int, int], np.dtype[np.uint8]]]] = []
    for number, mnemonic in enumerate(machine.mnemonics):
        rows = code.rows[number]
        if rows:
            table = _table(mnemonic.name, rows)
            names = [*header, *(item.name for item in mnemonic.fields)]
            fields = {name: table[:, i] for i, name in enumerate(names)}
            parts.append((np.flatnonzero(order == number), encode_many(machine, mnemonic.name, fields, len(rows))))
    return join_rows(parts)


def _table(mnemonic: str, rows: Sequence[Sequence[int]]) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    try:
        return np.asarray(rows, np.int64)
    except OverflowError as error:
        raise TilewrightError("program", mnemonic, "values of fields that fit 64 bits", "a larger one") from error

"""Rows of fields to the bytes of a program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from ...errors import TilewrightError
from ...machine import Machine
from ...machine.encoding import encode_many, join_rows

if TYPE_CHECKING:
    from .emit import Code


def pack(machine: Machine, code: Code) -> bytes:
    """The program; raises `TilewrightError` (kind `program`) where a value does not fit its field."""
    header = [item.name for item in machine.header]
    parts: list[tuple[np.ndarray[tuple[int], np.dtype[np.int64]], np.ndarray[tuple[int, int], np.dtype[np.uint8]]]] = []
    for number, mnemonic in enumerate(machine.mnemonics):
        table = code.rows.get(number)
        if table is not None:
            names = [*header, *(item.name for item in mnemonic.fields)]
            fields = {name: table[:, i] for i, name in enumerate(names)}
            parts.append(
                (np.flatnonzero(code.order == number), encode_many(machine, mnemonic.name, fields, len(table)))
            )
    return join_rows(parts)


def table_of(mnemonic: str, rows: Sequence[Sequence[int]]) -> np.ndarray[tuple[int, int], np.dtype[np.int64]]:
    """Rows of fields of a mnemonic; raises `TilewrightError` (kind `program`) where a value has more than 64 bits."""
    try:
        return np.asarray(rows, np.int64)
    except OverflowError as error:
        raise TilewrightError("program", mnemonic, "values of fields that fit 64 bits", "a larger one") from error

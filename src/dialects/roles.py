"""What tensors are to a program, shared by `codelet` and `mnemonic`."""

from __future__ import annotations

from enum import auto

from xdsl.utils.str_enum import StrEnum


class Role(StrEnum):
    """What a tensor is to the program: given, asked for, constant, or in between."""

    INPUT = auto()
    OUTPUT = auto()
    WEIGHT = auto()
    TEMP = auto()

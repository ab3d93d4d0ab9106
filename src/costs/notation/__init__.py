"""The tensor-centric notation of SoMa, worked out: tiles, DRAM tensors, times, rules.

J. Cai et al., "SoMa", HPCA 2025, section IV.  Tiles and tensors are those that the compiled functions of `costs/dram`
find for a fusion; what a schedule says of each is checked here.
"""

from .price_file import times_of, transfer_cycles
from .values import INPUT, OUTPUT, WEIGHT, Choices, Move, Parsed, Tensor, Tile, check_capacity, check_schedule, parse

__all__ = [
    "INPUT",
    "OUTPUT",
    "WEIGHT",
    "Choices",
    "Move",
    "Parsed",
    "Tensor",
    "Tile",
    "check_capacity",
    "check_schedule",
    "parse",
    "times_of",
    "transfer_cycles",
]

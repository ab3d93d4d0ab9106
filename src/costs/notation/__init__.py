"""The tensor-centric notation of SoMa, worked out: tiles, DRAM tensors, times, rules, addresses.

J. Cai et al., "SoMa", HPCA 2025, section IV.  Tiles and tensors are those that the compiled functions of `costs/dram`
find for a fusion; what a schedule says of each is checked here.
"""

from .check import check_addresses, check_capacity, check_schedule, live_ranges, slabs_of
from .parse import parse
from .times import Times, times_of, transfer_cycles
from .values import INPUT, OUTPUT, WEIGHT, Choices, Move, Parsed, Tensor, Tile

__all__ = [
    "INPUT",
    "OUTPUT",
    "WEIGHT",
    "Choices",
    "Move",
    "Parsed",
    "Tensor",
    "Tile",
    "Times",
    "check_addresses",
    "check_capacity",
    "check_schedule",
    "live_ranges",
    "parse",
    "slabs_of",
    "times_of",
    "transfer_cycles",
]

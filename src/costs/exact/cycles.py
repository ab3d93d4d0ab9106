"""Cycles of a mapping: every level's ports at their bandwidth, and the first and last tiles on their way."""

from collections.abc import Iterable
from math import ceil

from ..hierarchy.values import Architecture, Level
from .traffic import TensorTraffic
from .validity import bits_of_word

ROUNDING = 1 - 1e-12
"""A quotient this close above an integer is that integer."""


def cycles_at(level: Level, bits: int, bandwidth: float | None) -> int:
    """Cycles to move `bits` through one port of one instance; `bandwidth` in words of the level per cycle."""
    if bandwidth is None:
        return 0
    return ceil(bits / (level.word_bits * bandwidth) * ROUNDING)


def port_cycles(level: Level, read_bits: int, write_bits: int, network_bits: int) -> int:
    """Cycles of the busiest port of one instance of a level; `network_bits` of the busier direction."""
    return max(
        cycles_at(level, read_bits, level.read_bandwidth),
        cycles_at(level, write_bits, level.write_bandwidth),
        cycles_at(level, read_bits + write_bits, level.shared_bandwidth),
        cycles_at(level, network_bits, level.network_bandwidth),
    )


def level_cycles(arch: Architecture, index: int, traffic: Iterable[TensorTraffic]) -> int:
    """Cycles that the ports of level `index` need for all words of a mapping, those of its busiest instance."""
    level = arch.levels[index]
    read = write = inwards = outwards = 0
    for flow in traffic:
        bits, passing = bits_of_word(flow.tensor, level), flow.busiest[index]
        read += passing.reads * bits
        write += passing.writes * bits
        inwards += passing.inwards * bits
        outwards += passing.outwards * bits
    return port_cycles(level, read, write, max(inwards, outwards))


def fill_cycles(arch: Architecture, traffic: Iterable[TensorTraffic]) -> int:
    """Cycles until the first tile of each input has reached the innermost level that keeps it.

    Levels pass words on as they come: latencies add up, and the slowest port sets the rate.
    """
    return _stream(arch, [flow for flow in traffic if not flow.tensor.is_output], inwards=True)


def drain_cycles(arch: Architecture, traffic: Iterable[TensorTraffic]) -> int:
    """Cycles from the last result until the output's last tile, taken to be a whole one, is in the outermost level."""
    return _stream(arch, [flow for flow in traffic if flow.tensor.is_output], inwards=False)


def _stream(arch: Architecture, flows: list[TensorTraffic], *, inwards: bool) -> int:
    innermost = min((flow.innermost for flow in flows), default=len(arch.levels))
    latency = sum(level.latency_cycles for level in arch.levels[innermost:])
    slowest = 0
    for index, level in enumerate(arch.levels):
        source = target = network = 0
        for flow in flows:
            words = flow.first[index] * bits_of_word(flow.tensor, level)
            kept = flow.counts[index] is not None
            from_outside = kept and index < len(arch.levels) - 1
            from_inside = index > flow.innermost
            network += words if from_inside else 0
            source += words if kept and from_inside else 0
            target += words if from_outside else 0
        read, write = (source, target) if inwards else (target, source)
        slowest = max(slowest, port_cycles(level, read, write, network))
    return latency + slowest

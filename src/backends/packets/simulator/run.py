"""A program of packets in simulation: outputs and packets, traps told with the packet's text."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ....arrays import Array
from ....errors import TilewrightError
from ....machine.packet_isa import Isa
from ....machine.packet_program import PacketProgram, packets_of
from ....machine.packet_storage import initial_memory, outputs_of
from ..text import packet_text
from . import execute as x
from .encode import Encoder

LIMIT_PACKETS = 1 << 33


@dataclass(frozen=True)
class PacketRun:
    """Outputs by name, and how many packets were issued."""

    outputs: dict[str, Array]
    packets: int


def simulate_packets(
    isa: Isa, program: PacketProgram, inputs: Mapping[str, Array], limit_packets: int = LIMIT_PACKETS
) -> PacketRun:
    """Runs the program on inputs by name.

    `TilewrightError` (kind `trap`) for an address outside the memory, one that is not aligned as the instruction wants
    it, and more than `limit_packets` packets.
    """
    encoded = Encoder(isa).encoded(program.code)
    state = np.zeros(encoded.memory + program.memory_bytes, np.uint8)
    state[encoded.memory :] = initial_memory(program, inputs)
    work = np.zeros(512, np.int64)
    stage = np.zeros(x.MOST_WORDS * x.WIDEST_BYTES, np.uint8)
    tables = (encoded.code, encoded.instructions, encoded.kinds, encoded.ops)
    ended, packets, at = x.execute(state, *tables, encoded.memory, limit_packets, work, stage)
    if ended != x.RAN:
        issued = sum(1 for item in encoded.code[: at + 1] if item[0] in (x.PACKET, x.COUNTED)) - 1
        packet = list(packets_of(program.code))[issued]
        found = {
            x.OUTSIDE: "one outside it",
            x.UNALIGNED: "one that is not",
            x.TOO_LONG: "more",
            x.NOT_GIVEN: "another",
        }[ended]
        expected = {
            x.OUTSIDE: f"addresses in the {program.memory_bytes} bytes of memory",
            x.UNALIGNED: "an address aligned as the instruction wants it",
            x.TOO_LONG: f"at most {limit_packets} packets",
            x.NOT_GIVEN: "the number in a register that the instruction needs",
        }[ended]
        raise TilewrightError("trap", packet_text(isa, packet), expected, found)
    return PacketRun(outputs_of(program, state[encoded.memory :]), int(packets))

"""Programs of packets as bytes: what was written is read, and nothing else is taken."""

import json
from dataclasses import replace
from typing import Any

import pytest

from tilewright.errors import TilewrightError
from tilewright.machine.packet_code import decode_packets, encode_packets
from tilewright.machine.packet_program import Instruction, Loop, Packet, PacketProgram, count_instructions

from ..passes.nest_to_packets.machines import isa_of, make

TEXTS = (
    "O[i] = A[i] + B[i]; i=96",
    "O[m,n] += A[m,k] * B[k,n]; m=5 n=40 k=22",
    "O[p,q,c] max= A[2*p + r, 2*q + s, c]; p=3 q=4 c=40 r=2 s=2",
)


def bare(item: Packet | Loop) -> Packet | Loop:
    """Without what scheduling alone needs."""
    if isinstance(item, Loop):
        end = Instruction(item.end.mnemonic, item.end.values, label=item.end.label) if item.end is not None else None
        return replace(item, body=tuple(map(bare, item.body)), end=end)
    return tuple(Instruction(one.mnemonic, one.values, label=one.label) for one in item)


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("target", ["pair", "hvx"])
def test_what_is_written_is_read(text: str, target: str):
    if target == "pair" and text != TEXTS[0]:
        return
    isa = isa_of(target)
    program, *_ = make(isa, text)
    found = decode_packets(isa, encode_packets(program))
    assert found == PacketProgram(tuple(map(bare, program.code)), program.stored, program.memory_bytes)
    assert count_instructions(found.code) == count_instructions(program.code)


def whole() -> dict[str, Any]:
    return json.loads(encode_packets(make(isa_of("hvx"), TEXTS[1])[0]))


CHANGES: dict[str, tuple[Any, str]] = {
    "memory_bytes": (1 << 60, "a whole number from 1"),
    "stored.0.address": (-4, "a whole number from 0"),
    "stored.0.size_bytes": (8, "elements|size"),
    "stored.0.dtype": ("object", "a type of numbers"),
    "stored.0.role": ("thief", "a role among"),
    "stored.0.shape": ([1 << 40, 1], "a whole number"),
    "code.0": ([["NOTHING", {}]], "a mnemonic of the machine"),
    "code.0.0.1": ({"nothing": 1}, "fields"),
    "code": (7, "packets and tensors as"),
}


@pytest.mark.parametrize("path", CHANGES)
def test_what_is_not_of_the_machine_is_refused(path: str):
    value, expected = CHANGES[path]
    changed = whole()
    *outer, last = [int(part) if part.isdigit() else part for part in path.split(".")]
    inside: Any = changed
    for part in outer:
        inside = inside[part]
    inside[last] = value
    with pytest.raises(TilewrightError, match=expected):
        decode_packets(isa_of("hvx"), json.dumps(changed).encode())


def test_packed_forms_fields_packets_and_loops_are_checked():
    isa = isa_of("hvx")
    changed = whole()
    packed = next(item for item in changed["stored"] if item["packing"] is not None)
    packed["packing"]["sources"][0] = 1 << 20
    refused(changed, "a whole number from -1")
    changed = whole()
    changed["code"][0] = [item for packet in changed["code"][:9] if isinstance(packet, list) for item in packet]
    refused(changed, "fit into a packet")
    changed = whole()
    deep: Any = changed["code"]
    for _ in range(40):
        deep = [{"label": 0, "trips": 2, "suffix": "", "end": None, "body": deep}]
    refused({**changed, "code": deep}, "at most 32 loops")
    changed = whole()
    for item in changed["code"]:
        if isinstance(item, list) and item:
            values = item[0][1]
            values[next(iter(values))] = 1 << 50
            break
    refused(changed, "a whole number")
    for text in (b"", b"[]", b"\xff", b"[" * 100_000):
        with pytest.raises(TilewrightError, match="packets"):
            decode_packets(isa, text)


def refused(changed: object, expected: str) -> None:
    with pytest.raises(TilewrightError, match=expected):
        decode_packets(isa_of("hvx"), json.dumps(changed).encode())

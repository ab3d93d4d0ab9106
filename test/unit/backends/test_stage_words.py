"""VTA's 128-bit instructions, by the tables of its header: each field at its bits, and a program that VTA ran."""

from __future__ import annotations

from pathlib import Path

import pytest

from tilewright import load_target
from tilewright.backends.assembler import assemble, disassemble
from tilewright.backends.words import read_words, write_words
from tilewright.machine.encoding import decode, encode, encode_many

DATA = Path(__file__).parents[2] / "data" / "vta" / "worked.hex"

COMMON = {"OPCODE": (0, 3), "POP_PREV": (3, 1), "POP_NEXT": (4, 1), "PUSH_PREV": (5, 1), "PUSH_NEXT": (6, 1)}
COPY = {"MEM": (7, 3), "SRAM": (10, 16), "DRAM": (26, 32), "Y": (64, 16), "X": (80, 16), "STRIDE": (96, 16)}
PADS = {"Y0": (112, 4), "Y1": (116, 4), "X0": (120, 4), "X1": (124, 4)}
TRIPS = {"UB": (8, 13), "UE": (21, 14), "OUTER": (35, 14), "INNER": (49, 14)}
LOOPS = TRIPS | {"DO": (64, 11), "DI": (75, 11), "SO": (86, 11), "SI": (97, 11)}
GEMM = LOOPS | {"RESET": (7, 1), "WO": (108, 10), "WI": (118, 10)}
ALU = LOOPS | {"FN": (108, 3), "IMM": (111, 1), "V": (112, 16)}
COPIES = {"LOAD_UOP": COPY, "LOAD_WGT": COPY, "STORE": COPY} | dict.fromkeys(
    ("LOAD_INP", "LOAD_ACC", "LOAD_ACC8"), COPY | PADS
)
TABLE = COPIES | {"GEMM": GEMM, "RESET": GEMM, "ALU_IMM": ALU, "ALU": ALU, "FINISH": {}}


def test_fields_stand_where_the_table_says() -> None:
    machine = load_target("vta")
    assert {mnemonic.name for mnemonic in machine.mnemonics} == TABLE.keys()
    for name, fields in TABLE.items():
        word = machine.words[name]
        places = {item.name: (128 - item.offset_bits - item.width_bits, item.width_bits) for item in word.fields}
        assert places == COMMON | fields
        assert word.bits == 128


@pytest.mark.parametrize("name", TABLE)
def test_each_field_alone(name: str) -> None:
    machine = load_target("vta")
    zero = int.from_bytes(encode(machine, name, {}), "little")
    for field, (start, width) in (COMMON | TABLE[name]).items():
        if field in ("OPCODE", "MEM", "RESET", "IMM"):
            continue
        value = 4 if field == "FN" else -1 if field == "V" else (1 << width) - 1
        code = encode(machine, name, {field: value})
        assert int.from_bytes(code, "little") == zero | (value & ((1 << width) - 1)) << start
        assert encode_many(machine, name, {field: value}, 2).tobytes() == 2 * code
        ((found, fields),) = decode(machine, code)
        assert (found, fields[field]) == (name, value)


def test_the_worked_program_reads_back() -> None:
    machine = load_target("vta")
    text = DATA.read_bytes()
    code, form = read_words(machine, text)
    assert form == "hex"
    assert code[:16].hex() == "00000000400000000100080008000000"
    shown = disassemble(machine, code)
    assert shown.splitlines()[8] == "ALU_IMM UE=4, OUTER=1, INNER=32, DI=4, SI=4, FN=shift_right, V=0x9"
    assert assemble(machine, shown) == code
    assert write_words(machine, code, "hex") == text
    for other in ("bits", "decimal"):
        assert read_words(machine, write_words(machine, code, other), other) == (code, other)

"""Instruction words: exact layouts, round trips, and every complaint."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.backends.assembler import assemble, disassemble
from tilewright.errors import TilewrightError
from tilewright.frontends.acg import load_target
from tilewright.frontends.acg.parse import parse_text
from tilewright.machine import Machine
from tilewright.machine.encoding import decode, decode_arrays, encode, encode_many, join_rows

EDGE16 = load_target("edge16")

SMALL = parse_text(
    """acg small {
  unit U;
  isa { opcode_bits 4; align 16; header { ifield TAG 3; } signal TAG; }
  mnemonic A(1) { unit U; ifield N 5 signed; efield E 2 [one = 1, two]; }
  mnemonic B(9) { unit U; ifield BIG 64 signed, ODD 11 at 80; }
}""",
    "small",
).machine


def test_layout_by_hand() -> None:
    # opcode 0001, TAG 101, N -3 = 11101, E 10, two bits of padding
    assert encode(SMALL, "A", {"TAG": 5, "N": -3, "E": 2}) == bytes([0b0001_101_1, 0b1101_10_00])
    word = SMALL.words["B"]
    assert [(p.name, p.offset_bits) for p in word.fields] == [("OPCODE", 0), ("TAG", 4), ("BIG", 7), ("ODD", 80)]
    assert word.bits == 96


def test_wide_fields_that_straddle_nine_bytes() -> None:
    for value in (-(2**63), -1, 0, 1, 2**63 - 1, 0x0123456789ABCDEF):
        one = encode(SMALL, "B", {"BIG": value, "ODD": 1234, "TAG": 7})
        many = encode_many(SMALL, "B", {"BIG": np.array([value]), "ODD": 1234, "TAG": 7}, 1)
        assert one == many.tobytes()
        assert decode(SMALL, one) == [("B", {"TAG": 7, "BIG": value, "ODD": 1234})]


@st.composite
def instructions(draw: st.DrawFn, machine: Machine) -> tuple[str, dict[str, int]]:
    mnemonic = draw(st.sampled_from(machine.mnemonics))
    enums = {item.name: [code for _, code in item.enum] for item in mnemonic.fields if item.enum}
    fields = {
        place.name: draw(st.sampled_from(enums[place.name]))
        if place.name in enums
        else draw(st.integers(place.lowest, place.highest))
        for place in machine.words[mnemonic.name].fields[1:]
    }
    return mnemonic.name, fields


@settings(max_examples=40, deadline=None)
@given(st.lists(instructions(EDGE16), max_size=6))
def test_round_trips(program: list[tuple[str, dict[str, int]]]) -> None:
    code = b"".join(encode(EDGE16, name, fields) for name, fields in program)
    assert decode(EDGE16, code) == program
    assert assemble(EDGE16, disassemble(EDGE16, code)) == code


@settings(max_examples=20, deadline=None)
@given(st.lists(instructions(EDGE16), min_size=1, max_size=6))
def test_bulk_encoding_equals_single(program: list[tuple[str, dict[str, int]]]) -> None:
    names = list(dict.fromkeys(name for name, _ in program))
    parts = []
    for name in names:
        positions = np.array([i for i, item in enumerate(program) if item[0] == name], np.int64)
        columns = {key: np.array([program[i][1][key] for i in positions]) for key in EDGE16.words[name].by_name}
        parts.append((positions, encode_many(EDGE16, name, columns, len(positions))))
    assert join_rows(parts) == b"".join(encode(EDGE16, name, fields) for name, fields in program)


def test_decoded_arrays() -> None:
    code = encode(EDGE16, "LOAD", {"RUN": 3, "SB": -8}) + encode(EDGE16, "STORE", {}) + encode(EDGE16, "LOAD", {})
    decoded = decode_arrays(EDGE16, code)
    assert decoded.offsets_bytes.tolist() == [0, 72, 144]
    assert [part.mnemonic.name for part in decoded.parts] == ["LOAD", "STORE"]
    assert decoded.parts[0].positions.tolist() == [0, 2]
    assert decoded.parts[0].fields["SB"].tolist() == [-8, 0]


def test_empty_program() -> None:
    assert decode(EDGE16, b"") == []
    assert disassemble(EDGE16, b"") == ""
    assert assemble(EDGE16, "\n# nothing\n") == b""


def test_text() -> None:
    code = assemble(EDGE16, "VUN FN=relu, O=0x40, A=64, NA=2  # a comment\n")
    assert disassemble(EDGE16, code) == "VUN FN=relu, O=0x40, A=0x40, NA=2\n"


@pytest.mark.parametrize(
    ("mnemonic", "fields", "message"),
    [
        ("JUMP", {}, "edge16: expected a mnemonic among LOAD"),
        ("LOAD", {"DEST": 1}, "LOAD: expected a field among TAG"),
        ("LOAD", {"DST": 1 << 24}, r"LOAD.DST: expected 0 to 16777215 \(24 bits\), found 16777216"),
        ("LOAD", {"DB": -(1 << 23) - 1}, r"LOAD.DB: expected -8388608 to 8388607 \(24 bits\), found -8388609"),
        ("LOAD", {"RUN": -1}, "LOAD.RUN: expected 0 to"),
    ],
)
def test_encoding_complaints(mnemonic: str, fields: dict[str, int], message: str) -> None:
    with pytest.raises(TilewrightError, match=message):
        encode(EDGE16, mnemonic, fields)
    with pytest.raises(TilewrightError, match=message):
        encode_many(EDGE16, mnemonic, {name: np.array([0, value]) for name, value in fields.items()}, 2)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (b"\xff", "byte 0: expected a known opcode, found 0xff"),
        (encode(EDGE16, "LOAD", {}) + b"\x02\x00", "byte 72: expected 72 bytes of STORE"),
        (encode(EDGE16, "LOAD", {})[:-1] + b"\x01", r"instruction 0 \(LOAD\): expected zeros in the padding"),
        (encode(EDGE16, "CVT", {"TO": 15}), r"instruction 0 \(CVT.TO\): expected a code of f32 = 0"),
    ],
)
def test_decoding_complaints(code: bytes, message: str) -> None:
    with pytest.raises(TilewrightError, match=message):
        decode(EDGE16, code)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\nLOAD DST", r"p:2:6 \(LOAD\): expected fields like NAME=VALUE, each once, found `DST`"),
        ("LOAD DST=1, DST=2", r"p:1:13 \(LOAD\): .* each once, found `DST=2`"),
        ("LOAD  SRC=1,\tDST=16777216 # too far", r"p:1:14 \(LOAD.DST\): expected 0 to 16777215"),
        (" LAOD DST=1", r"p:1:2 \(edge16\): expected a mnemonic among .*, found `LAOD`; perhaps LOAD"),
        ("LOAD DEST=1", r"p:1:6 \(LOAD\): expected a field among"),
        ("LOAD DST=x", r"p:1:6 \(LOAD.DST\): expected a number, found `x`"),
        ("VUN FN=jump", "expected a number or one of identity"),
        ("LOAD DST=" + "9" * 5000, r"p:1:6 \(LOAD.DST\): expected a number"),
    ],
)
def test_assembly_complaints(text: str, message: str) -> None:
    with pytest.raises(TilewrightError, match=message):
        assemble(EDGE16, text, "p")


@given(st.binary(max_size=200))
def test_any_bytes_decode_or_complain(code: bytes) -> None:
    try:
        program = decode(EDGE16, code)
    except TilewrightError:
        return
    assert b"".join(encode(EDGE16, name, fields) for name, fields in program) == code

"""Macro-mnemonics are checked when the file is loaded, with the line of the declaration."""

import re

import pytest

from tilewright.errors import TilewrightError
from tilewright.frontends.acg import target_files
from tilewright.frontends.acg.load import parse_target
from tilewright.frontends.acg.print import print_target

TEXT = target_files()["uneven"].read_text()
LANES = "lanes 4;\n      O{a, b} = A{a, b} *"


def test_the_shipped_rules_are_sound():
    machine = parse_target(TEXT)
    assert [macro.name for macro in machine.macros] == ["MULADD_I32", "MULADD_F32"]
    assert [emission.mnemonic for emission in machine.macros[0].emissions] == ["VBIN", "VBIN"]
    assert parse_target(print_target(machine)) == machine


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("emit VBIN", "emit VBINARY", "mnemonics among LOAD, STORE, VUN"),
        ("FN mul, ", "", "a value for field VBIN.FN"),
        ("FN mul", "FN mull", "one of add, sub, mul, max, min for VBIN.FN"),
        ("O O, A A", "O O, A A, Q A", "fields of VBIN"),
        ("A A, B B", "A 8192, B B", "0 to 8191 in VBIN.A"),
        ("NA a, NB b", "NA c, NB b", "a fact of SIMD.muladd for VBIN.NA"),
        ("NA a, NB b", "NA a, NB b, NB b", "each field of VBIN once"),
        ("A MEM i32, B MEM i32, C MEM i32", "A MEM i32, B MEM i32", "places of O, A, B, C"),
        ("C MEM i32", "C MEM f32", "types that SIMD.muladd takes"),
        ("C MEM i32", "C DRAM i32", "values of C up to 1048575 in VBIN.B"),
        ("C MEM i32", "C MAM i32", "a memory for C among DRAM, MEM"),
        ("execute SIMD.muladd", "execute PE.muladd", "a capability of a compute node"),
        ("macro MULADD_F32", "macro MULADD_I32", "macros with different names"),
        (f"b <= 255 {LANES}", f"b <= 511 {LANES}", "values of b up to 511 in VBIN.NB"),
    ],
)  # fmt: skip
def test_broken_rules_are_refused(old: str, new: str, expected: str):
    assert old in TEXT
    with pytest.raises(TilewrightError) as error:
        parse_target(TEXT.replace(old, new, 1), "bad.acg")
    assert expected in error.value.expected
    assert re.match(r"bad\.acg:\d+ \(macro MULADD_\w+\)", error.value.subject)

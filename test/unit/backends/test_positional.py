"""Assembly text without names of fields: a program made by others is read and written back word for word."""

from pathlib import Path

import pytest

from tilewright import load_target
from tilewright.backends.assembler import assemble, disassemble
from tilewright.errors import TilewrightError
from tilewright.machine.encoding import decode

GENESYS = Path(__file__).parents[2] / "data/genesys"
TEXT = (GENESYS / "conv_bias_relu1_string_final.txt").read_text()
WORDS = (GENESYS / "conv_bias_relu1_binary.txt").read_text().split()
CODE = b"".join(int(word, 2).to_bytes(4, "big") for word in WORDS)


def test_text_of_others_gives_their_binary():
    assert assemble(load_target("genesys16"), TEXT) == CODE


def test_binary_of_others_gives_their_text():
    assert disassemble(load_target("genesys16"), CODE).splitlines() == [line.strip() for line in TEXT.splitlines()]


def test_constants_tell_instructions_of_one_opcode_apart():
    machine = load_target("genesys16")
    code = assemble(machine, "NOP 0, 0, 0, 0, 0, 0\nADD VMEM2, 1, OBUF, 2, IMM, 3\nDTYPE_CFG 8FXP, 1, 2, 3")
    assert code[:4] == (15 << 24).to_bytes(4, "big")
    assert [name for name, _ in decode(machine, code)] == ["NOP", "ALU", "DTYPE_CFG"]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("SA_LOOP_CFG 1, 0, 0", "program:1:13 (SA_LOOP_CFG.CFG): expected 0, a constant, found 1"),
        ("SA_LOOP_CFG 0, 0", "expected 3 fields (CFG, LOOP, LAST), found 2"),
        ("ADD VMEM9, 1, OBUF, 2, IMM, 3", "expected a number or one of OBUF, IBUF, VMEM1, VMEM2, IMM, found `VMEM9`"),
        ("BLOCK_END 1\n\tSA_LOOP_CFG 0, 64, 0", "program:2:17 (SA_LOOP_CFG.LOOP): expected 0 to 63"),
        ("FLY 1", "expected a mnemonic among ADD, SUB,"),
        ("SA_LOOP_CFG 0, 64, 0", "expected 0 to 63 (6 bits), found 64"),
    ],
)
def test_bad_text(text: str, message: str):
    with pytest.raises(TilewrightError) as error:
        assemble(load_target("genesys16"), text)
    assert message in str(error.value)


def test_codes_without_a_meaning_are_refused():
    with pytest.raises(TilewrightError, match="a known opcode"):
        decode(load_target("genesys16"), (0x7F000000).to_bytes(4, "big"))


def test_older_names_are_read():
    machine = load_target("genesys16")
    code = assemble(machine, "INST_GROUP SYSTOLIC_ARRAY, START, 1, 0, 202\nINST_GROUP SIMD, END, 2, 0, 0")
    assert code.hex() == "a00400caac080000"
    assert (
        disassemble(machine, code)
        == "SYNC_INST SYSTOLIC_ARRAY, START, EXEC, 0, 4, 202\nSYNC_INST SIMD, END, EXEC, 0, 8, 0\n"
    )
    assert assemble(machine, disassemble(machine, code)) == code

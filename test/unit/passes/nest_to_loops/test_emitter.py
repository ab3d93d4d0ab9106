"""Instructions are found by what they do."""

import pytest

from tilewright import load_target
from tilewright.backends.assembler import disassemble
from tilewright.errors import TilewrightError
from tilewright.passes.nest_to_loops.emitter import LOAD, STORE, Emitter, Target
from tilewright.passes.nest_to_loops.places import pieces
from tilewright.passes.nest_to_loops.vector_code import emit_scalar, emit_scale


@pytest.fixture
def emitter() -> Emitter:
    return Emitter(load_target("dnnweaver"))


def text(emitter: Emitter) -> list[str]:
    return disassemble(emitter.machine, emitter.code()).splitlines()


def test_values_of_32_bits_become_two_instructions(emitter: Emitter):
    emitter.emit("base", buffer="WBUF", program=0, value=0x12345)
    assert text(emitter) == ["SET_BASE_ADDR LOW, BUFFER, WBUF, 0, 9029", "SET_BASE_ADDR HIGH, BUFFER, WBUF, 0, 1"]


def test_literals_choose_the_instruction(emitter: Emitter):
    for side in (LOAD, STORE):
        emitter.emit("transfer", side=side, buffer="VMEM1", width=7, size=3)
    assert text(emitter) == ["LD_START 0, VMEM1, 7, 3", "ST_START 0, VMEM1, 7, 3"]


def test_groups_count_their_instructions(emitter: Emitter):
    emitter.begin("SIMD")
    emitter.emit("none")
    emitter.end()
    assert text(emitter)[0] == "SYNC_INST SIMD, START, EXEC, 0, 0, 2"


def test_what_no_instruction_says(emitter: Emitter):
    with pytest.raises(TilewrightError, match="a mnemonic for action transfer"):
        emitter.emit("transfer", side=LOAD, buffer="NOWHERE", size=1)


@pytest.mark.parametrize("shift", [0, 1, 31, 32, 33, 62])
def test_scales_shift_products_by_their_fraction_bits(emitter: Emitter, shift: int):
    emit_scale(emitter, shift)
    target, first, second = (int(word) for word in text(emitter)[0].split(", ")[1:])
    assert (32 - first) + (32 - second) - (32 - target) == shift


def test_small_immediates_take_one_instruction(emitter: Emitter):
    target = Target(emitter.machine)
    emit_scalar(emitter, target, 0, -5)
    emit_scalar(emitter, target, 1, 1 << 20)
    assert text(emitter) == ["IMM_SIGN_EXT IMM, 0, 65531", "SET_IMM_LOW IMM, 1, 0", "SET_IMM_HIGH IMM, 1, 16"]


def test_target_is_read_off_the_machine(emitter: Emitter):
    target = Target(emitter.machine)
    assert target.lanes == (64, 64)
    assert target.roles == {"output": "OBUF", "input": "IBUF", "weight": "WBUF", "initial": "BBUF"}
    assert target.function("max(A, B)") == "MAX"
    with pytest.raises(TilewrightError, match="a vector instruction for erf"):
        target.function("erf(A)")


def test_pieces_join_what_is_contiguous():
    assert pieces([(4, 256), (4, 64)], 64, 64, "X") == ([], 16)
    assert pieces([(4, 512), (4, 64)], 64, 64, "X") == ([(4, 512)], 4)
    assert pieces([(1 << 17, 64)], 64, 64, "X") == ([(4, 1 << 21)], 1 << 15)
    with pytest.raises(TilewrightError, match="whole granules of 64 bytes"):
        pieces([(1, 0)], 65, 64, "X")

"""Programs longer than the memory of instructions: blocks that load each other, and groups that are too long."""

import pytest

from tilewright import load_target
from tilewright.backends.assembler import disassemble
from tilewright.backends.program import Program
from tilewright.backends.simulator import simulate
from tilewright.backends.simulator.traps import Trap
from tilewright.errors import InfeasibleError
from tilewright.passes.nest_to_loops.blocks import TAIL, in_blocks
from tilewright.passes.nest_to_loops.emitter import Emitter, Target
from tilewright.resources import Resources

TARGET = Target(load_target("dnnweaver"))
MOST = 1024
UNIT = TARGET.vector[0].name


def groups(lengths: list[int]) -> Emitter:
    """Groups of so many instructions that do nothing."""
    emitter = Emitter(TARGET.machine)
    for length in lengths:
        emitter.begin(UNIT)
        for _ in range(length - 2):
            emitter.emit("none")
        emitter.end()
    return emitter


def blocks_of(lengths: list[int]) -> tuple[Emitter, list[list[str]], int]:
    emitter = groups(lengths)
    emitter.words, _, moved = in_blocks(TARGET, emitter.words, emitter.cuts)
    found: list[list[str]] = [[]]
    for line in disassemble(TARGET.machine, emitter.code()).splitlines():
        found[-1].append(line)
        if line.startswith("BLOCK_END"):
            found.append([])
    return emitter, found[:-1], moved


def test_what_fits_is_one_block():
    _, blocks, moved = blocks_of([500, MOST - 501])
    assert [len(block) for block in blocks] == [MOST]
    assert moved == 0


def test_blocks_begin_at_groups_and_load_the_next():
    _, blocks, moved = blocks_of([600, 600, 400, 900])
    assert [len(block) for block in blocks] == [600 + TAIL, 1000 + TAIL, 901]
    address = 4 * len(blocks[0])
    assert blocks[0][-5:-2] == [
        f"SET_BASE_ADDR LOW, IMEM, IBUF, 0, {address}",
        "SET_BASE_ADDR HIGH, IMEM, IBUF, 0, 0",
        f"LD_ST LD, IMEM, IBUF, 14, {-(-4 * len(blocks[1]) // 64)}",
    ]
    assert [block[-1] for block in blocks] == ["BLOCK_END 0", "BLOCK_END 0", "BLOCK_END 1"]
    assert moved == sum(-(-4 * len(block) // 64) * 64 for block in blocks[1:])


def test_loading_takes_time_and_traffic():
    emitter, _, moved = blocks_of([600, 600])
    result = simulate(Program(TARGET.machine, emitter.code(), (), Resources()), {})
    assert result.dram_bytes == moved
    assert result.cycles >= 600 + moved / 64


def test_a_group_that_no_block_holds():
    with pytest.raises(InfeasibleError, match="instructions of a group"):
        blocks_of([10, MOST])


def test_programs_of_others_are_checked():
    emitter = groups([600, 600])
    emitter.emit("block", last=1)
    with pytest.raises(Trap, match=f"blocks of at most {MOST}"):
        simulate(Program(TARGET.machine, emitter.code(), (), Resources()), {})

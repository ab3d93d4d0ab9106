"""Macros expand to instructions whose effect is that of the capability."""

import numpy as np
import pytest

from tilewright import compile, load_target, simulate
from tilewright.errors import TilewrightError
from tilewright.frontends.einsum import einsum_module
from tilewright.passes.codelet_to_queues.isa import Isa

MACHINE = load_target("uneven")
KERNEL = "O[i,j] = A[i,j] * B[j,i] + C[i,j]; i=30 j=50"


@pytest.mark.parametrize("element", ["i32", "f32"])
def test_three_operands_on_a_machine_of_two(element: str):
    program = compile(einsum_module(KERNEL, dict.fromkeys("OABC", element)), "uneven")
    rng = np.random.default_rng(0)
    inputs = {t.name: rng.integers(-99, 99, t.shape).astype(t.dtype) for t in program.tensors if t.role == "input"}
    found = simulate(program, inputs).outputs["O"]
    np.testing.assert_array_equal(found, inputs["A"] * inputs["B"].T + inputs["C"])


def test_a_result_over_an_operand_that_is_still_needed_is_refused():
    """`O = A * B` would destroy C before it is added."""
    (binding,) = [b for b in Isa(MACHINE).of_capability("SIMD", "muladd") if b.operands[0].type_name == "i32"]
    assert binding.expansion is not None
    row = [0] * len(binding.fields)
    for index in binding.extents.values():
        row[index] = 4
    for slot, address in zip(binding.operands, (0, 64, 128, 192), strict=True):
        row[slot.address] = address
        for dim, index in slot.strides.items():
            row[index] = {"a": 16, "b": 4}[dim]
    memories = {memory.name: i for i, memory in enumerate(MACHINE.memories)}
    assert len(list(binding.expansion.instructions(row, memories))) == 2
    row[binding.operands[3].address] = 0
    with pytest.raises(TilewrightError, match="O and C of macro MULADD_I32 apart in memory"):
        list(binding.expansion.instructions(row, memories))

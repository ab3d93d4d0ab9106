"""Machines and kernels that the tests of packets share."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from tilewright import load_target
from tilewright.algebra.evaluate import run_statement
from tilewright.algebra.expr import Access
from tilewright.frontends.acg import parse_target
from tilewright.frontends.einsum import integer_types, parse_einsum
from tilewright.machine.packet_program import Isa, PacketProgram
from tilewright.passes.nest_to_packets.generate import generate
from tilewright.passes.nest_to_packets.network import Switches

PAIR = (Path(__file__).parents[3] / "data/pair.acg").read_text()


@cache
def isa_of(name: str) -> Isa:
    """The packets of `pair`, or of a shipped target."""
    return Isa(parse_target(PAIR) if name == "pair" else load_target(name))


def make(
    isa: Isa, text: str, types: Mapping[str, str] | None = None, switches: Switches | None = None
) -> tuple[PacketProgram, dict[str, np.ndarray[Any, Any]], np.ndarray[Any, Any]]:
    """A kernel's program, inputs over the whole range of their types, and the output that NumPy gives."""
    statement, extents = parse_einsum(text)
    assert isinstance(statement.target, Access)
    types = {**integer_types(statement), **(types or {})}
    program = generate(isa.machine, statement, extents, types, switches)
    rng = np.random.default_rng(len(text))
    inputs: dict[str, np.ndarray[Any, Any]] = {}
    for tensor in program.stored:
        if tensor.role == "input":
            info = np.iinfo(np.dtype(tensor.dtype))
            inputs[tensor.name] = rng.integers(info.min, info.max, tensor.shape, tensor.dtype, endpoint=True)
    shape = next(t.shape for t in program.stored if t.role == "output")
    expected = np.zeros(shape, np.int32)
    run_statement(statement, inputs, extents, expected, accumulate=False)
    return program, inputs, expected

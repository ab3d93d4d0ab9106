"""Programs written by hand, run from the IR."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp, TensorType, f32
from xdsl.interpreter import Interpreter

from tilewright.backends.assembler import assemble
from tilewright.backends.link import code_of
from tilewright.dialects.acg import GraphOp, machine_of
from tilewright.dialects.mnemonic import InstrOp, ProgramOp, TensorOp
from tilewright.dialects.types import Role
from tilewright.errors import TilewrightError
from tilewright.frontends.acg import load_target
from tilewright.interpreters.mnemonic import MnemonicFunctions
from tilewright.resources import Resources, attach

LOAD = """
LOAD  TAG=1, DST=0x0, SRC=0x0, RUN=16, NB=1, NC=1
LOAD  TAG=1, DST=0x10, SRC=0x10, RUN=16, NB=1, NC=1
"""
ADD = """
BINARY TAG=2, WT0=1, WC0=2, T=f32, FN=add, O=0x20, A=0x0, B=0x10, NA=1, NB=4, OB=4, AB=4, BB=4
STORE TAG=1, WT0=2, WC0=1, DST=0x20, SRC=0x20, RUN=16, NB=1, NC=1
"""


def tensor(name: str, role: Role, address: int) -> TensorOp:
    return TensorOp(name, role, TensorType(f32, [4]), "DRAM", address)


def module_of(code: str | list[InstrOp]) -> ModuleOp:
    machine = load_target("tiny")
    tensors = [tensor("x", Role.INPUT, 0), tensor("w", Role.WEIGHT, 16), tensor("y", Role.OUTPUT, 32)]
    program = ProgramOp("main", tensors, assemble(machine, code) if isinstance(code, str) else code)
    module = ModuleOp([GraphOp.get(machine), program])
    attach(module, Resources({"w": np.array([10, 20, 30, 40], np.float32)}))
    module.verify()
    return module


def run(module: ModuleOp) -> list[float]:
    interpreter = Interpreter(module)
    interpreter.register_implementations(MnemonicFunctions())
    (y,) = interpreter.call_op("main", (np.array([1, 2, 3, 4], np.float32),))
    return y.tolist()


def test_packed_program() -> None:
    assert run(module_of(LOAD + ADD)) == [11, 22, 33, 44]


def test_written_program() -> None:
    block = {"RUN": 16, "NB": 1, "NC": 1}
    code = [
        InstrOp("LOAD", {"TAG": 1, **block}),
        InstrOp("LOAD", {"TAG": 1, "DST": 16, "SRC": 16, **block}),
        InstrOp(
            "BINARY",
            {"TAG": 2, "WT0": 1, "WC0": 2, "T": "f32", "FN": "add", "O": 32, "B": 16, "NA": 1, "NB": 4}
            | {"OB": 4, "AB": 4, "BB": 4},
        ),
        InstrOp("STORE", {"TAG": 1, "WT0": 2, "WC0": 1, "DST": 32, "SRC": 32, **block}),
    ]
    module = module_of(code)
    assert run(module) == [11, 22, 33, 44]
    (program,) = (op for op in module.body.ops if isinstance(op, ProgramOp))
    machine = machine_of(module)
    assert code_of(program, machine) == assemble(machine, LOAD + ADD)


def test_missing_wait_is_a_hazard() -> None:
    with pytest.raises(TilewrightError, match="BINARY"):
        run(module_of(LOAD + ADD.replace("WC0=2", "WC0=1")))

"""The pass that puts a machine into the module."""

from __future__ import annotations

from pathlib import Path

from xdsl.context import Context
from xdsl.dialects import test
from xdsl.dialects.builtin import ModuleOp

from tilewright.dialects.acg import GraphOp, machine_of
from tilewright.frontends.acg import load_target, print_target
from tilewright.passes.load_target import LoadTargetPass


def test_machine_comes_first_and_once(tmp_path: Path) -> None:
    module = ModuleOp([test.TestOp()])
    LoadTargetPass("edge16").apply(Context(), module)
    copy = tmp_path / "copy.acg"
    copy.write_text(print_target(load_target("tiny")).replace("acg tiny", "acg copy"))
    LoadTargetPass(str(copy)).apply(Context(), module)
    assert [type(op) for op in module.body.ops] == [GraphOp, test.TestOp]
    assert machine_of(module).name == "copy"

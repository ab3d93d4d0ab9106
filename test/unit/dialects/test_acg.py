"""The machine of a module, and back."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.ir import Block
from xdsl.utils.exceptions import VerifyException

from tilewright.dialects.acg import GraphOp, MemoryOp, graph_of, machine_of
from tilewright.errors import TilewrightError
from tilewright.frontends.acg import load_target, target_files


@pytest.mark.parametrize("name", target_files())
def test_machine_and_back(name: str) -> None:
    machine = load_target(name)
    module = ModuleOp([GraphOp.get(machine)])
    module.verify()
    assert machine_of(module) == machine
    assert graph_of(module).sym_name.data == name
    assert machine_of(module.clone()) == machine


@pytest.mark.parametrize("name", target_files())
def test_few_ops(name: str) -> None:
    assert sum(1 for _ in GraphOp.get(load_target(name)).walk()) < 120


def test_module_without_machine() -> None:
    with pytest.raises(TilewrightError, match=r"expected one acg\.graph, found 0; run the pass load-target first"):
        machine_of(ModuleOp([]))


def test_module_with_two_machines() -> None:
    tiny = GraphOp.get(load_target("tiny"))
    with pytest.raises(TilewrightError, match=r"expected one acg\.graph, found 2; keep one"):
        machine_of(ModuleOp([tiny, tiny.clone()]))


def test_declarations_are_verified_again_where_they_changed(monkeypatch: pytest.MonkeyPatch) -> None:
    verified: list[MemoryOp] = []
    verify = MemoryOp.verify_
    monkeypatch.setattr(MemoryOp, "verify_", lambda op: (verified.append(op), verify(op)))  # type: ignore[misc]
    module = ModuleOp([GraphOp.get(load_target("vta"))])
    module.verify()
    count = len(verified)
    module.verify()
    module.clone().verify()
    assert len(verified) == count
    other = module.clone()
    first = next(op for op in graph_of(other).walk() if isinstance(op, MemoryOp))
    first.attributes["note"] = StringAttr("other")
    other.verify()
    assert len(verified) > count
    del first.properties["sym_name"]
    with pytest.raises(VerifyException, match="sym_name"):
        other.verify()
    with_a_block = module.clone()
    graph_of(with_a_block).body.add_block(Block([first.clone()]))
    with pytest.raises(VerifyException):
        with_a_block.verify()

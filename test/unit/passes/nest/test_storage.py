"""Whose bytes values are."""

from itertools import pairwise

import pytest
from onnx import TensorProto, helper

from tilewright import CompileOptions, import_onnx
from tilewright.dialects import nest
from tilewright.driver.lowering import Lowering
from tilewright.driver.pipelines import pipeline_text
from tilewright.passes.nest import storage
from tilewright.passes.nest.storage import storage_of, unchanged


def test_a_chain_in_one_place_is_followed_once(monkeypatch: pytest.MonkeyPatch):
    """Relus that overwrite each other's results: all are the first one's bytes, and each group is looked at once."""
    count = 80
    names = ["x", *(f"v{number}" for number in range(count))]
    nodes = [helper.make_node("Relu", [a], [b]) for a, b in pairwise(names)]
    x, y = (helper.make_tensor_value_info(name, TensorProto.FLOAT, (4, 8)) for name in (names[0], names[-1]))
    made = helper.make_graph(nodes, "g", [x], [y])
    model = import_onnx(helper.make_model(made, opset_imports=[helper.make_opsetid("", 17)], ir_version=9))
    options = CompileOptions(partition="schedule")
    lowering = Lowering(model, options, None, "relus")
    module = lowering.before("nest-tile", pipeline_text("tiny", options))
    groups = [op for op in module.walk() if isinstance(op, nest.GroupOp)]
    plain = [storage_of(op.results[0]) for op in groups]
    assert len(groups) > 4
    assert set(plain) < {op.results[0] for op in groups}
    looked: list[nest.GroupOp] = []
    overwritten = getattr(storage, "_overwritten")
    monkeypatch.setattr(storage, "_overwritten", lambda op, number: (looked.append(op), overwritten(op, number))[1])
    with unchanged():
        assert [storage_of(op.results[0]) for op in reversed(groups)] == plain[::-1]
        assert [storage_of(op.results[0]) for op in groups] == plain
        assert sorted(map(id, looked)) == sorted(map(id, groups))
    following = len(looked)
    assert [storage_of(op.results[0]) for op in groups] == plain
    assert len(looked) - following > following

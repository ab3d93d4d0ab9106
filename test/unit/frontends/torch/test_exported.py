"""Programs of torch.export: results are torch's; open dims have names.  Skipped where torch is not installed."""

from typing import Any

import numpy as np
import pytest

from tilewright import InputShapes, compile
from tilewright.dialects.types import shape_of
from tilewright.driver.models import load_model, reference
from tilewright.errors import TilewrightError
from tilewright.interpreters.graph import argument_names, find_function

torch: Any = pytest.importorskip("torch", reason="torch is not installed (the extra torch)")
pytest.importorskip("onnxscript", reason="onnxscript is not installed (the extra torch)")
nn = torch.nn


class Convolutions(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(3, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.linear = nn.Linear(8, 10)

    def forward(self, x: Any):
        return self.linear(torch.relu(self.norm(self.conv(x))).mean((2, 3)))


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(20, 16)
        self.block = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True, norm_first=True)

    def forward(self, ids: Any, mask: Any):
        return self.block(self.table(ids), src_mask=mask)


def exported(module: Any, inputs: Any, **options: Any) -> Any:
    torch.manual_seed(0)
    return torch.export.export(module.eval(), inputs, **options)


def images() -> Any:
    dims = ({0: torch.export.Dim("batch", max=64), 2: torch.export.Dim("rows", min=4, max=64)},)
    return exported(Convolutions(), (torch.randn(2, 3, 16, 16),), dynamic_shapes=dims)


def check(program: Any, given: Any, shapes: InputShapes | None = None):
    module = load_model(program, shapes)
    names = argument_names(find_function(module))
    outputs = reference(module, {n: g.numpy() for n, g in zip(names, given, strict=True)})
    wanted = program.module()(*given)
    np.testing.assert_allclose(next(iter(outputs.values())), wanted.detach().numpy(), atol=1e-5)


def test_dynamic_dims():
    check(images(), [torch.randn(3, 3, 8, 16)], InputShapes(dims={"x.0": 3, "x.2": 8}))
    check(images(), [torch.randn(3, 3, 8, 16)], InputShapes(batch=3, dims={"x.2": 8}))


def test_open_dims_are_named():
    with pytest.raises(TilewrightError, match=r"\[x.0, 3, x.2, 16\].*--dim x.2="):
        load_model(images())


def test_transformer():
    program = exported(Block(), (torch.arange(6)[None], torch.zeros(6, 6)))
    check(program, [torch.arange(6)[None] * 3, torch.triu(torch.full((6, 6), -9.0), 1)])


def test_half_precision():
    program = exported(nn.Linear(8, 4).to(torch.bfloat16), (torch.randn(2, 8, dtype=torch.bfloat16),))
    (value,) = find_function(load_model(program)).body.block.args
    assert shape_of(value) == (2, 8)


def test_compiles():
    program = compile(exported(nn.Linear(8, 4), (torch.randn(2, 8),)), target="tiny")
    assert program.predicted["cycles"] > 0


def test_what_torch_does_not_export():
    class Odd(nn.Module):
        def forward(self, x: Any):
            return torch.linalg.eigvalsh(x)

    with pytest.raises(TilewrightError, match="what torch exports to ONNX"):
        load_model(exported(Odd(), (torch.eye(3),)))

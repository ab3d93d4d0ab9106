"""The meaning of nest: bodies against NumPy, and mappings against bodies."""

from pathlib import Path

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func
from xdsl.interpreter import Interpreter
from xdsl.interpreters.func import FuncFunctions
from xdsl.parser import Parser

from tilewright.dialects.nest import Nest
from tilewright.interpreters.nest import NestFunctions

OPS = Path(__file__).parents[2] / "lit" / "dialects" / "nest" / "ops.mlir"


def parse(text: str) -> ModuleOp:
    context = Context()
    for dialect in (Builtin, Func, Nest):
        context.load_dialect(dialect)
    module = Parser(context, text).parse_module()
    module.verify()
    return module


def run(module: ModuleOp, name: str, *arrays: np.ndarray) -> tuple[np.ndarray, ...]:
    interpreter = Interpreter(module)
    interpreter.register_implementations(NestFunctions())
    interpreter.register_implementations(FuncFunctions())
    return interpreter.call_op(name, arrays)


@pytest.fixture
def module() -> ModuleOp:
    return parse(OPS.read_text())


def conv(x: np.ndarray, w: np.ndarray, b: np.ndarray) -> np.ndarray:
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    out = np.zeros((1, 8, 7, 7), np.float32)
    for p in range(7):
        for q in range(7):
            window = padded[0, :, 2 * p : 2 * p + 3, 2 * q : 2 * q + 3]
            out[0, :, p, q] = b + np.einsum("kcrs,crs->k", w, window)
    return np.maximum(out, 0)


def test_unmapped_and_mapped_convolution(module: ModuleOp) -> None:
    rng = np.random.default_rng(0)
    x, w, b = (rng.standard_normal(s).astype(np.float32) for s in ((1, 3, 13, 13), (8, 3, 3, 3), (8,)))
    (whole,) = run(module, "unmapped", x, w, b)
    (tiled,) = run(module, "mapped", x, w, b)
    np.testing.assert_allclose(whole, conv(x, w, b), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(tiled, whole, rtol=1e-5, atol=1e-5)


def test_reduction_loop(module: ModuleOp) -> None:
    rng = np.random.default_rng(1)
    x, w = rng.standard_normal((8, 64)).astype(np.float32), rng.standard_normal((64, 16)).astype(np.float32)
    (y,) = run(module, "reduction", x, w)
    np.testing.assert_allclose(y, np.clip(x @ w, 0, 6), rtol=1e-5, atol=1e-5)


def test_pieces_of_one_tensor(module: ModuleOp) -> None:
    a, b = np.arange(32, dtype=np.int32).reshape(4, 8), -np.arange(32, dtype=np.int32).reshape(4, 8)
    (y,) = run(module, "concat", a, b)
    np.testing.assert_array_equal(y, np.concatenate([a, b], 1).reshape(-1))


def test_where_tensors_are_held_does_not_change_the_result(module: ModuleOp) -> None:
    text = OPS.read_text().replace("@GBUF [mac] {", "@GBUF [W] {").replace("[X, W] buffers 2", "[X]")
    rng = np.random.default_rng(1)
    x, w = rng.standard_normal((8, 64)).astype(np.float32), rng.standard_normal((64, 16)).astype(np.float32)
    (y,) = run(parse(text), "reduction", x, w)
    np.testing.assert_allclose(y, np.clip(x @ w, 0, 6), rtol=1e-5, atol=1e-5)

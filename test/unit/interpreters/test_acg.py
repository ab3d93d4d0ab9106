"""Capabilities of the shipped targets against NumPy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.interpreter import Interpreter

from tilewright.algebra.evaluate import run_strided
from tilewright.algebra.expr import access_dims, accesses
from tilewright.dialects.acg import GraphOp
from tilewright.frontends.acg import load_target
from tilewright.interpreters.acg import AcgFunctions

Array = NDArray[Any]

CAPABILITIES = {
    capability.name: capability
    for owner in (*load_target("edge16").computes, *load_target("edge16").links)
    for capability in owner.capabilities
}


def run(
    name: str,
    old: Array,
    *operands: Array,
    functions: Mapping[str, str] | None = None,
    immediates: Mapping[str, Any] | None = None,
    accumulate: bool = True,
) -> Array:
    """The target after one issue of a capability, from its old value and the other operands."""
    capability = CAPABILITIES[name]
    views = dict(zip(capability.operands, (old.copy(), *operands), strict=True))
    extents: dict[str, int] = {}
    for access in accesses(capability.statement):
        extents |= dict(zip(access_dims(access), views[access.tensor].shape, strict=True))
    choices = {variable: names[0] for variable, names in capability.functions} | dict(functions or {})
    run_strided(capability.statement, views, extents, immediates, choices, accumulate)
    return np.asarray(views[capability.operands[0]])


def test_description_does_nothing() -> None:
    interpreter = Interpreter(ModuleOp([]))
    interpreter.register_implementations(AcgFunctions())
    assert interpreter.run_op(GraphOp.get(load_target("tiny")), ()) == ()


def test_mac_accumulates() -> None:
    random = np.random.default_rng(0)
    x = random.integers(-128, 128, (1, 2, 3, 4, 2, 2), np.int8)
    w = random.integers(-128, 128, (1, 5, 4, 2, 2), np.int8)
    old = random.integers(-100, 100, (1, 5, 2, 3), np.int32)
    product = np.einsum("gpqcrs,gkcrs->gkpq", x.astype(np.int32), w.astype(np.int32))
    assert (run("mac", old, x, w) == old + product).all()
    assert (run("mac", old, x, w, accumulate=False) == product).all()


def test_unary_and_binary() -> None:
    a, b = np.linspace(-2, 2, 6, dtype=np.float32).reshape(1, 1, 2, 3), np.array([[[[3, 1, 2], [0, 4, 5]]]], np.float32)
    old = np.zeros_like(a)
    assert (run("unary", old, a, functions={"F": "relu"}) == np.maximum(a, 0)).all()
    assert (run("binary", old, a, b, functions={"F": "sub"}) == a - b).all()
    assert (run("binary_imm", old, a, functions={"F": "mul"}, immediates={"V": 3.0}) == a * 3).all()


def test_requant_rounds_and_saturates() -> None:
    a = np.array([[[[100, 101, -101, 1000, -1000, 3]]]], np.int32)
    m, s = np.full_like(a, 3), np.full_like(a, 2)
    result = run("requant", np.zeros(a.shape, np.int8), a, m, s, immediates={"Z": 5, "L": -128, "H": 127})
    assert result.tolist() == [[[[80, 81, -71, 127, -128, 7]]]]


def test_quantize_rounds_half_to_even() -> None:
    a = np.array([[[[0.5, 1.5, 2.5, -0.5, 300]]]], np.float32)
    result = run("quantize", np.zeros(a.shape, np.uint8), a, np.ones_like(a), immediates={"Z": 1, "L": 0, "H": 255})
    assert result.tolist() == [[[[1, 3, 3, 1, 255]]]]


def test_fill() -> None:
    assert (run("ifill", np.zeros((1, 1, 2, 3), np.int8), immediates={"V": -7}) == -7).all()


def test_maximum() -> None:
    a = np.arange(12, dtype=np.uint8).reshape(1, 1, 2, 1, 2, 3)
    assert run("imaximum", np.zeros((1, 1, 2), np.uint8), a, accumulate=False).tolist() == [[[5, 11]]]

"""Constants of equal diagonals are read from a vector: the same numbers, fewer bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp

from tilewright.backends.simulator import simulate
from tilewright.dialects import graph, nest
from tilewright.dialects.types import shape_of, si8
from tilewright.driver import CompileOptions, compile
from tilewright.driver.models import make_context
from tilewright.driver.pipelines import parse_passes
from tilewright.interpreters.graph import run_graph
from tilewright.passes.graph_to_nest.diagonals import diagonals, has_diagonals

from ..graph.graph_network import Network

ROWS, COLUMNS = 24, 48


def causal() -> NDArray[Any]:
    return np.where(np.arange(COLUMNS) <= np.arange(ROWS)[:, None] + 3, 0, -np.inf).astype(np.float32)


def added(constant: NDArray[Any]) -> ModuleOp:
    """A constant added to a map of two samples, one of them behind another layer."""
    network = Network((2, ROWS, COLUMNS))
    mask = network.weight(constant)
    one = network.add(graph.BinaryOp("add", network.inputs[0], mask))
    return network.finish(network.add(graph.BinaryOp("max", network.add(graph.UnaryOp("neg", one)), mask)))


def masked() -> ModuleOp:
    """Scores in 8 bits plus a mask, and their softmax in 8 bits."""
    network = Network((2, ROWS, COLUMNS))
    scores = network.quantize(network.inputs[0], 0.05, 3, si8)
    value = network.add(graph.BinaryOp("add", scores, network.weight(causal())))
    return network.finish(network.quantize(network.add(graph.SoftmaxOp(value, axis=2)), 0.01, 0, si8))


def loaded(module: ModuleOp) -> list[tuple[int, ...]]:
    """The shapes of the constants that kernels read."""
    parse_passes("load-target{target=edge16},graph-normalize,graph-quantize,convert-graph-to-nest").apply(
        make_context(), module
    )
    groups = [op for op in module.walk() if isinstance(op, nest.GroupOp)]
    return [shape_of(v) for g in groups for v in g.operands if isinstance(v.owner, graph.WeightOp) and shape_of(v)]


def test_a_vector_of_the_diagonals() -> None:
    matrix = np.array([[5, 6, 7, 8], [4, 5, 6, 7], [3, 4, 5, 6]])
    found = diagonals(matrix)
    assert found is not None
    assert found.tolist() == [3, 4, 5, 6, 7, 8]
    assert diagonals(matrix[None]) is not None
    for i, j in np.ndindex(3, 4):
        other = matrix.copy()
        other[i, j] += 1
        assert (diagonals(other) is None) == ((i, j) not in ((2, 0), (0, 3)))


@pytest.mark.parametrize("module", [lambda: added(causal()), masked])
def test_results_are_the_same_and_the_matrix_is_not_loaded(module: Any) -> None:
    assert set(loaded(module())) == {(ROWS + COLUMNS - 1,)}
    numbers = np.random.default_rng(2).normal(0, 3, (2, ROWS, COLUMNS)).astype(np.float32)
    program = compile(module(), "edge16", options=CompileOptions(gap=1000.0))
    ran = simulate(program, {"arg0": numbers})
    quantised = module()
    parse_passes("graph-normalize,graph-quantize").apply(make_context(), quantised)
    (expected,) = run_graph(quantised, {"arg0": numbers}).values()
    np.testing.assert_array_equal(next(iter(ran.outputs.values())), expected)
    assert ran.cycles == program.predicted["cycles"] >= program.lower_bound["cycles"]
    assert ran.dram_bytes == program.predicted["dram_bytes"] >= program.lower_bound["dram_bytes"]


def test_other_constants_stay_matrices() -> None:
    mask = causal()
    mask[1, 2] = -1
    assert set(loaded(added(mask))) == {(ROWS, COLUMNS)}
    small = Network((4, 8))
    assert loaded(
        small.finish(small.add(graph.BinaryOp("add", small.inputs[0], small.weight(np.eye(4, 8, dtype=np.float32)))))
    ) == [(4, 8)]


@pytest.mark.parametrize(
    ("heads", "broken", "is_one"),
    [(1, None, False), (3, None, True), (3, 0, True), (3, slice(None), False)],
    ids=["a matrix", "all heads", "all heads but one", "no head"],
)
def test_several_matrices_have_diagonals_where_one_has(heads: int, broken: int | slice | None, is_one: bool):
    array = np.repeat(causal()[None, None], heads, axis=1)
    if broken is not None:
        array[:, broken, ROWS - 1, COLUMNS - 1] = 1
    assert has_diagonals(array) == is_one
    assert not has_diagonals(array[..., :8, :8])  # too few bytes


def test_heads_with_diagonals_do_not_take_fewer_bytes_than_the_bound():
    """Attention of two heads, each with a constant of equal diagonals, as exporters write a relative position."""
    bias = np.repeat((np.arange(32) - np.arange(32)[:, None]).astype(np.float32)[None, None], 2, axis=1)
    network = Network((1, 2, 32, 32))
    scores = network.add(graph.BinaryOp("add", network.inputs[0], network.weight(bias)))
    module = network.finish(network.add(graph.UnaryOp("neg", scores)))
    program = compile(module, "edge16")
    assert program.predicted["dram_bytes"] >= program.lower_bound["dram_bytes"]
    assert program.lower_bound["dram_bytes"] == 2 * 2 * 32 * 32 * 4

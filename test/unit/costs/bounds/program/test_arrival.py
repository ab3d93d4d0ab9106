"""What can be done while an input comes in, against all subsets of what may have come."""

from collections.abc import Iterator
from itertools import product
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray

from tilewright.backends.simulator import simulate
from tilewright.costs.bounds.program import Network
from tilewright.costs.bounds.program.arrival import Arrival
from tilewright.costs.bounds.program.network import Step
from tilewright.costs.bounds.program.slices import slices_of
from tilewright.driver import CompileOptions, compile

from .test_bound import Floats, bound

SIZE = 4
"""Bytes of an element."""
PRODUCTS = 4


def attention(normed: bool, rows: int, inner: int, columns: int, weight_bytes: int = 4) -> tuple[Floats, int]:
    """Queries, keys, scores, shares of their sum, and a product with these, whose operations need all of the input.

    `normed`: rows of the input are divided by their sums first.
    """
    net = Floats()
    x, (query, key) = net.tensor(rows, inner), (net.add_tensor((inner, columns), weight_bytes) for _ in range(2))
    own = {"i": rows, "k": inner}
    source = x
    if normed:
        total = net.kernel("Y[i] += A[i, k]", (rows,), own, A=x)
        source = net.kernel("Y[i, k] = div(A[i, k], B[i])", (rows, inner), own, A=x, B=total)
    dims = own | {"n": columns}
    text = "Y[i, n] += A[i, k] * B[k, n]"
    queries, keys = (net.kernel(text, (rows, columns), dims, A=source, B=weight) for weight in (query, key))
    pairs = {"i": rows, "j": rows}
    text = "Y[i, j] += A[i, n] * B[j, n]"
    scores = net.kernel(text, (rows, rows), pairs | {"n": columns}, A=queries, B=keys)
    total = net.kernel("Y[i] += A[i, j]", (rows,), pairs, A=scores)
    shares = net.kernel("Y[i, j] = div(A[i, j], B[i])", (rows, rows), pairs, A=scores, B=total)
    text = "Y[i, k] += A[i, j] * B[j, k]"
    return net, net.kernel(text, (rows, inner), pairs | {"k": inner}, A=shares, B=x)


def arrival(network: Network, cycles: NDArray[np.float64], rate: float) -> Arrival:
    steps = [step for step in network.steps if isinstance(step, Step)]
    found = slices_of(network, steps, range(len(steps)))
    externals = [i for i, value in enumerate(network.values) if value.external]
    needed = {value: found.operations[:, column] for column, value in enumerate(externals)}
    return Arrival(network, steps, cycles, np.ones(len(steps), np.bool_), needed, rate)


class Loaded(NamedTuple):
    """Elements of the input that have come, of everything, and operations of products for which nothing is missing."""

    input: int
    all: int
    done: tuple[int, int, int, int]


def subsets(normed: bool, height: int, inner: int, columns: int) -> Iterator[Loaded]:
    for flags in product((False, True), repeat=height * inner + 2 * inner * columns):
        x = np.array(flags[: height * inner]).reshape(height, inner)
        query, key = np.array(flags[height * inner :]).reshape(2, inner, columns)
        rows = np.logical_and.reduce(x, axis=1)
        source = np.repeat(rows[:, None], inner, axis=1) if normed else x
        first, second = (int(np.einsum("ik,kn->", source.astype(int), w.astype(int))) for w in (query, key))
        whole = int((query.all(axis=0) & key.all(axis=0)).sum())
        rest = height * height * inner * all(flags)
        yield Loaded(int(x.sum()), sum(flags), (first, second, int(rows.sum()) ** 2 * whole, rest))


@pytest.mark.parametrize("normed", [False, True])
@pytest.mark.parametrize("shape", [(2, 2, 2), (3, 1, 2), (3, 2, 1)])
def test_no_subset_leaves_less(normed: bool, shape: tuple[int, int, int]) -> None:
    net, result = attention(normed, *shape)
    network = net.network([result])
    found = list(subsets(normed, *shape))
    total = np.max([each.done for each in found], axis=0)
    rng = np.random.default_rng(3)
    reached = 0
    for _ in range(30):
        costs, rate = rng.uniform(0.2, 3, PRODUCTS), rng.uniform(0.5, 8)
        names = [step for step in network.steps if isinstance(step, Step)]
        places = [k for k, step in enumerate(names) if len(step.extents) == 3]
        cycles = np.zeros(len(names))
        cycles[places] = costs * total
        looked = arrival(network, cycles, rate)
        parts = looked._parts(0)  # pyright: ignore[reportPrivateUsage]
        for elements in range(1, shape[0] * shape[1]):
            least = min(
                each.all * SIZE / rate + float(costs @ (total - each.done)) for each in found if each.input == elements
            )
            x = float(elements * SIZE)
            proven = x / rate + cycles.sum() - looked._done(parts, x)  # pyright: ignore[reportPrivateUsage]
            assert proven <= least * (1 + 1e-9)
            reached += proven >= least * (1 - 1e-9)
    assert reached  # where whole rows have come, and no weight is worth its time


@pytest.mark.parametrize("normed", [False, True])
def test_products_wait_for_the_input(normed: bool) -> None:
    """1 MiB comes in 65,536 cycles; of weights that then come, each does as much work as it takes to come."""
    net, result = attention(normed, 512, 512, 512)
    found = bound(net, result)
    work = found.terms["work of MXU"]
    waiting = found.terms["work while an input comes in, and after it"] - work
    assert 0.7 * 512 * 512 * SIZE / 16 < waiting < 512 * 512 * SIZE / 16
    assert found.cycles >= work + waiting


def test_constants_without_bytes_are_not_waited_for() -> None:
    """What instructions hold themselves, or is read from vectors, comes in no time."""
    free, loaded = (bound(*attention(False, 512, 512, 512, size)) for size in (0, 4))
    name = "work while an input comes in, and after it"
    assert 0 < free.terms[name] <= loaded.terms[name]


@pytest.mark.parametrize("normed", [False, True])
def test_programs_take_longer(normed: bool, tmp_path: Path) -> None:
    norm = (
        "%n = graph.layer_norm %x, %s axis 1 epsilon 0.1 : (tensor<512x64xf32>, tensor<64xf32>) -> tensor<512x64xf32>"
    )
    source = "%n" if normed else "%x"
    wide, square = "tensor<512x64xf32>", "tensor<512x512xf32>"
    weights = "(tensor<512x64xf32>, tensor<64x64xf32>) -> tensor<512x64xf32>"
    weight = "graph.weight @{0} = dense<{1}> : tensor<64x64xf32> : tensor<64x64xf32>"
    text = f"""func.func @main(%x : {wide}) -> {wide} {{
        %s = graph.weight @s = dense<1.5> : tensor<64xf32> : tensor<64xf32>
        %a = {weight.format("a", 0.5)}
        %b = {weight.format("b", 0.25)}
        {norm if normed else ""}
        %q = graph.matmul {source}, %a : {weights}
        %k = graph.matmul {source}, %b : {weights}
        %t = graph.transpose %k perm [1, 0] : ({wide}) -> tensor<64x512xf32>
        %r = graph.matmul %q, %t : ({wide}, tensor<64x512xf32>) -> {square}
        %p = graph.softmax %r axis 1 : ({square}) -> {square}
        %y = graph.matmul %p, {source} : ({square}, {wide}) -> {wide}
        func.return %y : {wide}
    }}"""
    (path := tmp_path / "m.mlir").write_text(text)
    program = compile(path, "edge16", options=CompileOptions(gap=10.0))
    ran = simulate(program, functional=False)
    assert program.bound_by == "work while an input comes in, and after it"
    assert ran.cycles == program.predicted["cycles"] >= program.lower_bound["cycles"]

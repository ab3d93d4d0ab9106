"""What can be done while an input comes in, against all subsets of what may have come."""

from collections.abc import Iterator
from itertools import combinations, product
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


def attention(
    normed: bool, rows: int, inner: int, columns: int, weight_bytes: int = 4, samples: int = 0
) -> tuple[Floats, int]:
    """Queries, keys, scores, shares of their sum, and a product with these, whose operations need all of a sample.

    `normed`: rows of the input are divided by their sums first; `samples` are along an axis before, if any.
    """
    net = Floats()
    front, batch, b = ((samples,), {"b": samples}, "b, ") if samples else ((), {}, "")
    x = net.tensor(*front, rows, inner)
    query, key = (net.add_tensor((inner, columns), weight_bytes) for _ in range(2))
    own = batch | {"i": rows, "k": inner}
    source = x
    if normed:
        total = net.kernel(f"Y[{b}i] += A[{b}i, k]", (*front, rows), own, A=x)
        text = f"Y[{b}i, k] = div(A[{b}i, k], B[{b}i])"
        source = net.kernel(text, (*front, rows, inner), own, A=x, B=total)
    dims = own | {"n": columns}
    text = f"Y[{b}i, n] += A[{b}i, k] * B[k, n]"
    queries, keys = (net.kernel(text, (*front, rows, columns), dims, A=source, B=weight) for weight in (query, key))
    pairs = batch | {"i": rows, "j": rows}
    text = f"Y[{b}i, j] += A[{b}i, n] * B[{b}j, n]"
    scores = net.kernel(text, (*front, rows, rows), pairs | {"n": columns}, A=queries, B=keys)
    total = net.kernel(f"Y[{b}i] += A[{b}i, j]", (*front, rows), pairs, A=scores)
    text = f"Y[{b}i, j] = div(A[{b}i, j], B[{b}i])"
    shares = net.kernel(text, (*front, rows, rows), pairs, A=scores, B=total)
    text = f"Y[{b}i, k] += A[{b}i, j] * B[{b}j, k]"
    return net, net.kernel(text, (*front, rows, inner), pairs | {"k": inner}, A=shares, B=x)


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


def subsets(normed: bool, height: int, inner: int, columns: int, samples: int) -> Iterator[Loaded]:
    size = max(samples, 1) * height * inner
    for flags in product((False, True), repeat=size + 2 * inner * columns):
        x = np.array(flags[:size]).reshape(-1, height, inner)
        query, key = np.array(flags[size:]).reshape(2, inner, columns)
        rows = np.logical_and.reduce(x, axis=2)
        source = np.repeat(rows[:, :, None], inner, axis=2) if normed else x
        first, second = (int(np.einsum("bik,kn->", source.astype(int), w.astype(int))) for w in (query, key))
        whole = int((query.all(axis=0) & key.all(axis=0)).sum())
        ended = int(rows.all(axis=1).sum()) * all(flags[size:])
        scores = int((rows.sum(axis=1) ** 2).sum()) * whole
        yield Loaded(int(x.sum()), sum(flags), (first, second, scores, height * height * inner * ended))


SHAPES = (2, 2, 2, 0), (3, 1, 2, 0), (3, 2, 1, 0), (2, 1, 2, 2), (2, 2, 1, 2), (2, 1, 1, 3)
"""Rows, inner, columns, samples."""


@pytest.mark.parametrize("normed", [False, True])
@pytest.mark.parametrize("shape", SHAPES)
def test_no_subset_leaves_less(normed: bool, shape: tuple[int, int, int, int]) -> None:
    *sizes, samples = shape
    net, result = attention(normed, *sizes, samples=samples)
    network = net.network([result])
    found = list(subsets(normed, *shape))
    total = np.max([each.done for each in found], axis=0)
    rng = np.random.default_rng(3)
    reached = 0
    for _ in range(30):
        costs, rate = rng.uniform(0.2, 3, PRODUCTS), rng.uniform(0.5, 8)
        names = [step for step in network.steps if isinstance(step, Step)]
        places = [k for k, step in enumerate(names) if len(step.extents) == 3 + (samples > 0)]
        cycles = np.zeros(len(names))
        cycles[places] = costs * total
        looked = arrival(network, cycles, rate)
        parts = looked._parts(0)  # pyright: ignore[reportPrivateUsage]
        for elements in range(1, shape[0] * shape[1]):  # of one sample
            least = min(
                each.all * SIZE / rate + float(costs @ (total - each.done)) for each in found if each.input == elements
            )
            x = float(elements * SIZE)
            proven = x / rate + cycles.sum() - looked._done(parts, x)  # pyright: ignore[reportPrivateUsage]
            assert proven <= least * (1 + 1e-9)
            reached += proven >= least * (1 - 1e-9)
    assert reached or samples  # where whole rows have come, and no weight is worth its time


def test_rows_that_all_samples_need_come_once() -> None:
    """A sample needs an element of its row and all of the first sample's: two rows are done for 2 + 1 elements."""
    samples, rows, inner = 2, 3, 2
    net = Floats()
    x, dims = net.tensor(samples, rows, inner), {"b": samples, "i": rows}
    total = net.kernel("Y[b, i] += A[b, i, k]", (samples, rows), dims | {"k": inner}, A=x)
    network = net.network([net.kernel("Y[b, i] = A[b, i, 0] + B[0, i]", (samples, rows), dims, A=x, B=total)])
    (last,) = (k for k, step in enumerate(network.steps) if isinstance(step, Step) and "k" not in step.extents)
    cycles, rate = np.zeros(len(network.steps)), 4.0
    cycles[last] = 1000.0
    looked = arrival(network, cycles, rate)
    parts = looked._parts(0)  # pyright: ignore[reportPrivateUsage]
    assert any(part.spans for part in parts)
    for elements in range(1, rows * inner):
        done = 0
        for places in combinations(range(samples * rows * inner), elements):
            come = np.isin(np.arange(samples * rows * inner), places).reshape(samples, rows, inner)
            done = max(done, int((come[:, :, 0] & come[0].all(axis=1)).sum()))
        assert looked._done(parts, elements * SIZE) >= 1000.0 * done / (samples * rows)  # pyright: ignore[reportPrivateUsage]


@pytest.mark.parametrize("normed", [False, True])
def test_products_wait_for_the_input(normed: bool) -> None:
    """1 MiB comes in 65,536 cycles; of weights that then come, each does as much work as it takes to come."""
    net, result = attention(normed, 512, 512, 512)
    found = bound(net, result)
    work = found.terms["work of MXU"]
    waiting = found.terms["work while an input comes in, and after it"] - work
    assert 0.7 * 512 * 512 * SIZE / 16 < waiting < 512 * 512 * SIZE / 16
    assert found.cycles >= work + waiting


@pytest.mark.parametrize("kept", [True, False])
def test_products_wait_for_the_rows_of_a_sample(kept: bool) -> None:
    """Four samples, of which one comes in 16,384 cycles; `kept`: channels of all samples may come before others."""
    net, result = attention(not kept, 256, 256, 256, samples=4)
    terms = bound(net, result).terms
    waiting = terms["work while an input comes in, and after it"] - terms["work of MXU"]
    assert waiting < 16384
    assert (waiting < 0.01 * 16384) == kept or waiting > 0.5 * 16384


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

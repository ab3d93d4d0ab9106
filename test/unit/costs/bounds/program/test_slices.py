"""What parts of values need, against each part's own recursion."""

from random import Random

import numpy as np
import pytest
from numpy.typing import NDArray

from tilewright.algebra.expr import tensors_of
from tilewright.algebra.parser import parse_statement
from tilewright.costs.bounds.program import Network, NetworkBuilder
from tilewright.costs.bounds.program.demand import Demand, element, elements, need, operation
from tilewright.costs.bounds.program.network import Step
from tilewright.costs.bounds.program.slices import slices_of
from tilewright.costs.mapping.problem import Buffer, Group, Kernel

SIZE = 6
KERNELS = (
    "Y[i] = A[i] + B[i]",
    "Y[i] = A[i + k - 1] * B[k]",
    "Y[i] = A[2 * j]",
    "Y[i] = A[j] * B[i]",
    "Y[i] = A[i] * B[j]",
)


def random_network(random: Random) -> Network:
    """Kernels, some of which are alike, views and joins of vectors, each of two values that are there."""
    net = NetworkBuilder()
    values = [net.add_tensor((SIZE,), 4) for _ in range(3)]
    for _ in range(14):
        a, b = random.choice(values[-4:]), random.choice(values)
        match random.randrange(7):
            case 0:
                joined = net.add_join((a, b), 0, (2 * SIZE,))
                values.append(net.add_view(joined, (2, SIZE)))
                values[-1] = add(net, "Y[i] = A[j, i]", values[-1], b)
            case 1:
                values.append(net.add_view(net.add_view(a, (2, SIZE // 2)), (SIZE,)))
            case kind:
                values.append(add(net, KERNELS[kind - 2], a, b))
    return net.network(values[-2:])


def add(net: NetworkBuilder, text: str, a: int, b: int) -> int:
    """A kernel, which adds where it has dims of its own and reads zeros out of bounds."""
    read = {name: value for name, value in (("A", a), ("B", b)) if f"{name}[" in text}
    own = {dim: size for dim, size in (("i", SIZE), ("j", 3), ("k", 3)) if dim in text.partition("=")[2] or dim == "i"}
    if "j, i" in text:
        own["j"] = 2
    statement = parse_statement(text.replace(" = ", " += ") if len(own) > 1 else text)
    names = tensors_of(statement)
    padded = ("A",) if "k" in own else ()
    bound, types = tuple((n, n) for n in names), tuple((n, "f32") for n in names)
    kernel = Kernel(f"kernel{len(net.values)}", statement, bound, types, False, padded)
    shapes = {"Y": (SIZE,)} | {name: net.values[value].shape for name, value in read.items()}
    buffers = tuple(Buffer(n, s, "f32", 4, n != "Y", n == "Y") for n, s in shapes.items())
    return net.add_group(Group(tuple(own.items()), (kernel,), buffers), read)["Y"]


def row_of(network: Network, value: int, demand: Demand) -> NDArray[np.float64]:
    """Bytes of external values, then points of all steps, by value."""
    row, shapes = np.zeros(len(network.values)), [one.shape for one in network.values]
    if network.values[value].external:
        row[value] = elements(demand) * network.values[value].element_bytes
        return row
    (step,) = (step for step in network.steps if step.target == value)
    found = need(step, demand, shapes)
    for read in found.reads:
        row = np.maximum(row, row_of(network, *read))
    if found.either:
        row = np.maximum(row, np.min([row_of(network, *read) for read in found.either], axis=0))
    row[value] = found.points
    return row


@pytest.mark.parametrize("seed", range(12))
def test_rows_are_those_of_each_part_alone(seed: int):
    network = random_network(Random(seed))
    shapes = [value.shape for value in network.values]
    steps = [step for step in network.steps if isinstance(step, Step)]
    found = slices_of(network, steps, range(len(steps)))
    columns = [i for i, value in enumerate(network.values) if value.external] + [step.target for step in steps]
    for step, row in zip(steps, found.operations, strict=True):
        alone = [row_of(network, value, demand) for value, demand in operation(step, shapes)]
        assert row.tolist() == np.max(alone, axis=0)[columns].tolist()
    for value, row in found.results.items():
        assert row.tolist() == row_of(network, value, element(shapes[value]))[columns].tolist()

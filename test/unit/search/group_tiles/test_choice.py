"""Which capability takes a kernel, and the way of its operands: Covenant's figures 8 (two adders) and 2 (memories)."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tilewright.algebra.parser import parse_expr, parse_statement
from tilewright.costs.mapping.binding import ISSUE_CYCLES, Pricer
from tilewright.costs.mapping.place import memory_path
from tilewright.costs.mapping.problem import Buffer, Group, Kernel
from tilewright.costs.mapping.total import cost_of
from tilewright.costs.mapping.tree import Leaf, Loop, Node
from tilewright.errors import TilewrightError
from tilewright.frontends.acg import load_target
from tilewright.machine import Machine
from tilewright.search.group_tiles.leaves import at_a_time, bind_kernel

UNEVEN, EDGE = load_target("uneven"), load_target("edge16")


def kernel(element: str = "i32") -> Kernel:
    names = "YAB"
    types = tuple((name, element) for name in names)
    return Kernel("add", parse_statement("Y[i] = A[i] + B[i]"), tuple((n, n) for n in names), types, False)


def chosen(machine: Machine, extent: int, element: str = "i32") -> str:
    node: Node = bind_kernel(kernel(element), {"i": extent}, Pricer(machine))
    while isinstance(node, Loop):
        (node,) = node.body
    assert isinstance(node, Leaf)
    assert node.match is not None
    return node.match.capability.node


def adders(*nodes: tuple[str, int, str], order: bool = True) -> Machine:
    """The scalar unit, as nodes of a name, additions at a time, and a formula for cycles."""
    scalar = next(node for node in UNEVEN.computes if node.name == "PE")
    binary = next(c for c in scalar.capabilities if c.name == "binary")
    made = [
        replace(
            scalar,
            name=name,
            capabilities=(
                replace(
                    binary,
                    node=name,
                    cycles=parse_expr(cycles),
                    dims=tuple(replace(d, lanes=lanes if d.name == "b" else 1) for d in binary.dims),
                ),
            ),
        )
        for name, lanes, cycles in nodes
    ]
    return replace(UNEVEN, computes=tuple(made if order else made[::-1]))


@settings(max_examples=30, deadline=None)
@given(st.integers(2, 600))
def test_the_node_that_does_the_most_at_a_time(extent: int):
    assert chosen(UNEVEN, extent) == "SIMD"


@pytest.mark.parametrize("order", [True, False])
def test_of_equal_cycles_the_most_at_a_time_whatever_the_order(order: bool):
    machine = adders(("PE1", 1, "a * b"), ("PE2", 2, "a * b"), order=order)
    assert [at_a_time(node.capabilities[0], machine) for node in machine.computes] == ([1, 2] if order else [2, 1])
    assert chosen(machine, 3) == "PE2"


def test_what_does_not_match_is_not_chosen():
    wide = next(node for node in UNEVEN.computes if node.name == "SIMD")
    integers = [replace(c, types=tuple(t for t in c.types if t[0] == "i32")) for c in wide.capabilities]
    others = [node for node in UNEVEN.computes if node.name != "SIMD"]
    machine = replace(UNEVEN, computes=(replace(wide, capabilities=tuple(integers)), *others))
    assert chosen(machine, 100) == "SIMD"
    assert chosen(machine, 100, "f32") == "PE"


def test_a_node_that_would_be_mostly_idle_is_not_chosen():
    machine = adders(("PE1", 1, "a * b"), ("PE64", 64, "a * ceildiv(b, 64) * 8"))
    assert (chosen(machine, 3), chosen(machine, 64)) == ("PE1", "PE64")


def product_of(extents: dict[str, int]) -> Group:
    """A product of bytes, many results of many positions."""
    statement = parse_statement("Y[k, p, q] += X[c, p, q] * W[k, c]")
    shapes = {"Y": "kpq", "X": "cpq", "W": "kc"}
    types = {"Y": ("i32", 4), "X": ("u8", 1), "W": ("i8", 1)}
    buffers = tuple(
        Buffer(name, tuple(extents[d] for d in dims), *types[name], name != "Y", name == "Y")
        for name, dims in shapes.items()
    )
    elements = tuple((name, types[name][0]) for name in shapes)
    mac = Kernel("mac", statement, tuple((name, name) for name in shapes), elements, False)
    return Group(tuple(extents.items()), (mac,), buffers)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 400), st.integers(1, 30), st.integers(1, 30), st.integers(17, 400))
def test_issues_are_cut_where_pieces_take_fewer_cycles(k: int, p: int, q: int, c: int):
    extents = {"k": k, "p": p, "q": q, "c": c}
    group, pricer = product_of(extents), Pricer(EDGE)
    (match,) = pricer.matches(group.kernels[0])
    bound = pricer.best(match, extents).dims

    def price(**changed: int) -> float:
        return float(pricer.tile_cycles(match, bound, extents | changed)[0]) + ISSUE_CYCLES

    least = price()
    for dim in "kpq":
        for step in range(1, extents[dim]):
            count, rest = divmod(extents[dim], step)
            pieces = count * price(**{dim: step}) + (price(**{dim: rest}) if rest else 0)
            least = min(least, pieces)
    cost = cost_of(group, (bind_kernel(group.kernels[0], extents, pricer),), pricer)
    assert cost.queue_cycles["MX"] + ISSUE_CYCLES * cost.issues <= least


def linked(pairs: list[tuple[str, str]]) -> Machine:
    """Memories with links between them."""
    names = sorted({name for pair in pairs for name in pair} | {"A", "B"})
    memories = tuple(replace(UNEVEN.memories[0], name=name) for name in names)
    return replace(
        UNEVEN, memories=memories, links=tuple(replace(UNEVEN.links[0], src=src, dst=dst) for src, dst in pairs)
    )


@settings(max_examples=50, deadline=None)
@given(st.sets(st.tuples(st.sampled_from("ABCDE"), st.sampled_from("ABCDE")), max_size=12))
def test_transfers_go_the_shortest_way(pairs: set[tuple[str, str]]):
    ways = sorted(pair for pair in pairs if pair[0] != pair[1])
    machine = linked(ways)
    shortest = next(
        (n for n in range(1, 5) if any(joined(ways, middle) for middle in product("ABCDE", repeat=n - 1))), 0
    )
    if not shortest:
        with pytest.raises(TilewrightError, match="links between memories from A to B"):
            memory_path(machine, "A", "B")
        return
    path = memory_path(machine, "A", "B")
    assert len(path) == shortest
    assert [link.src for link in path] == ["A", *(link.dst for link in path[:-1])]
    assert path[-1].dst == "B"


def joined(ways: list[tuple[str, str]], middle: tuple[str, ...]) -> bool:
    stops = ("A", *middle, "B")
    return all(pair in ways for pair in pairwise(stops))

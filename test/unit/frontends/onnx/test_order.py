"""Nodes in any order of the file; cycles and missing names."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import NodeProto, helper

from tilewright.errors import TilewrightError
from tilewright.frontends.onnx.order import ordered


def node(reads: str, makes: str) -> NodeProto:
    return helper.make_node("Op", reads.split(), makes.split(), name=f"{makes}_node")


def names(nodes: Sequence[NodeProto]) -> list[str]:
    return [found.name[0] for _, found in ordered(nodes, {"x", "y"})]


def test_an_order_that_works_stays() -> None:
    assert names([node("y", "b"), node("x", "a"), node("a b", "d"), node("x", "c")]) == ["b", "a", "d", "c"]


def test_nodes_out_of_order_are_sorted() -> None:
    nodes = [node("c", "d"), node("x", "a"), node("b a", "c"), node("x y", "b")]
    assert names(nodes) == ["a", "b", "c", "d"]
    assert [position for position, _ in ordered(nodes, {"x", "y"})] == [1, 3, 2, 0]


def test_an_optional_input_is_no_name() -> None:
    assert names([helper.make_node("Op", ["x", "", "y"], ["a"], name="a")]) == ["a"]


@given(st.permutations(range(12)), st.lists(st.tuples(st.integers(0, 11), st.integers(0, 11)), max_size=30))
def test_makers_come_first(order: list[int], edges: list[tuple[int, int]]) -> None:
    reads = {n: " ".join(["x", *(f"v{a}" for a, b in edges if b == n and a < b)]) for n in range(12)}
    found = [int(node.output[0][1:]) for _, node in ordered([node(reads[n], f"v{n}") for n in order], {"x"})]
    assert sorted(found) == list(range(12))
    assert all(found.index(a) < found.index(b) for a, b in edges if a < b)


def test_a_cycle_names_its_nodes_and_no_others() -> None:
    nodes = [node("x", "a"), node("f", "g"), node("a e", "c"), node("c", "d"), node("d", "e"), node("e", "f")]
    with pytest.raises(TilewrightError) as caught:
        ordered(nodes, {"x"})
    labels = "Op node 'c_node', Op node 'd_node', Op node 'e_node'"
    assert (caught.value.kind, caught.value.found) == ("parse", f"a cycle of {labels}")


def test_a_node_that_reads_itself() -> None:
    with pytest.raises(TilewrightError, match="a cycle of Op node 'a_node';"):
        ordered([node("a", "a")], {"x"})


def test_a_long_cycle_is_told_in_short() -> None:
    nodes = [node(f"v{(n + 1) % 5000}", f"v{n}") for n in range(5000)]
    with pytest.raises(TilewrightError, match="and 4992 more"):
        ordered(nodes, {"x"})


def test_a_missing_name_is_told_with_its_reader() -> None:
    with pytest.raises(TilewrightError) as caught:
        ordered([node("x", "a"), node("a lost", "b")], {"x"})
    assert caught.value.subject == "Op node 'b_node'"
    assert (caught.value.expected, caught.value.found) == ("input 1 to be made", "'lost', which nothing makes")
    assert "cycle" not in str(caught.value)

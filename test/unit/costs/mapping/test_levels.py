"""Mapping trees and mappings of a hierarchy: the same thing, there and back."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tilewright.costs.hierarchy import Architecture, Level, LevelMapping, LoopMapping, Problem, Tensor
from tilewright.costs.hierarchy import Loop as Factor
from tilewright.costs.mapping.levels import canonical, mapping_of, tree_of
from tilewright.costs.mapping.tree import Hold, Leaf, Loop, Spatial
from tilewright.errors import TilewrightError

ARCH = Architecture(
    "toy",
    (
        Level("REG", 2, 16, 4, 1, 0.1, holds=("W",)),
        Level("L1", 64, 4, 2, 1, 1.0),
        Level("L2", 1024, 1, 1, 1, 10.0, multiple_buffering=2.0),
        Level("DRAM", None, 1, 1, 1, 100.0),
    ),
    "MAC",
    64,
    8,
    1.0,
)
GEMM = Problem(
    "gemm",
    ("m", "n", "k"),
    (10, 7, 12),
    (
        Tensor("A", ((1, 0, 0), (0, 0, 1))),
        Tensor("B", ((0, 0, 1), (0, 1, 0))),
        Tensor("C", ((1, 0, 0), (0, 1, 0)), is_output=True),
    ),
)
BUFFERS = {"A": "A", "B": "B", "C": "mac"}
TREE = (
    Loop(
        "n",
        4,
        (
            Spatial(
                "m",
                4,
                "L1",
                "x",
                (
                    Hold(
                        "L1",
                        ("A", "B", "mac"),
                        1,
                        (Loop("k", 1, (Loop("m", 1, (Spatial("n", 4, "REG", "y", (Leaf("mac"),), 1),)),)),),
                    ),
                ),
                3,
            ),
        ),
    ),
)


@st.composite
def mappings(draw: st.DrawFn) -> LoopMapping:
    """Any factors that cover the bounds, in any order, with any bypass."""
    left = [1, 1, 1]
    levels: list[LevelMapping] = []
    names = st.sets(st.sampled_from(["A", "B", "C"]))
    for index in range(4):
        parts: list[tuple[Factor, ...]] = []
        for _ in range(3 if index else 2):
            dims = draw(st.permutations(range(3)))
            parts.append(tuple(Factor(d, draw(st.integers(1, 3))) for d in dims))
        temporal = parts[2] if index else ()
        if index == 3:
            temporal = tuple(Factor(d, max(1, -(-GEMM.bounds[d] // left[d]))) for d in draw(st.permutations(range(3))))
        spatial = parts[:2] if index else [(), ()]
        for loop in (*spatial[0], *spatial[1], *temporal):
            left[loop.dim] *= loop.bound
        away = frozenset() if index == 3 else frozenset(draw(names))
        levels.append(LevelMapping(temporal, spatial[0], spatial[1], away))
    return LoopMapping(tuple(levels))


@given(mappings())
def test_there_and_back(mapping: LoopMapping) -> None:
    tree = tree_of(ARCH, GEMM, mapping, "mac", BUFFERS)
    assert mapping_of(ARCH, GEMM, tree, BUFFERS) == canonical(ARCH, GEMM, mapping)
    assert canonical(ARCH, GEMM, canonical(ARCH, GEMM, mapping)) == canonical(ARCH, GEMM, mapping)


def test_a_tree_by_hand() -> None:
    found = mapping_of(ARCH, GEMM, TREE, BUFFERS)
    everything = frozenset("ABC")
    assert found.levels == (
        LevelMapping(bypass=everything),
        LevelMapping((Factor(0, 3), Factor(2, 12)), (), (Factor(1, 4),)),
        LevelMapping((), (Factor(0, 4),), (), everything),
        LevelMapping((Factor(1, 2),), (), (), frozenset()),
    )
    assert tree_of(ARCH, GEMM, found, "mac", BUFFERS) == (Loop("n", 4, (Hold("L2", (), 2, TREE[0].body),)),)


def inside(*wrappers: object) -> Loop | Hold | Spatial | Leaf:
    """Nodes inside of each other, from the outermost: tuples (dim, step) of loops, (dim, ways, node, step), holds."""
    node: Loop | Hold | Spatial | Leaf = Leaf("mac")
    for wrapper in reversed(wrappers):
        match wrapper:
            case (str(dim), int(step)):
                node = Loop(dim, step, (node,))
            case (str(dim), int(ways), str(name), int(step)):
                node = Spatial(dim, ways, name, "x", (node,), step)
            case (str(memory), *names):
                node = Hold(memory, tuple(map(str, names)), 1, (node,))
            case _:
                raise TypeError(wrapper)
    return node


ALL = ("m", 1), ("n", 1), ("k", 1)


@pytest.mark.parametrize(
    ("nodes", "message"),
    [
        ((("L1", "A"), ("L2", "B"), *ALL), "expected holds from DRAM inward (L1, REG), found @L2"),
        ((("L3", "A"), *ALL), "expected holds from DRAM inward (DRAM, L2, L1, REG), found @L3"),
        ((("REG", "A"), *ALL), "expected @REG to hold what it may (W), found tensor A"),
        (
            (("L1", "A"), ("m", 1), ("L1", "B"), *ALL),
            "expected all holds in @L1 outside of its loops, found one inside",
        ),
        ((("L2", "A"), ("m", 2, "L2", 5), *ALL), "expected instances of L1 or REG or MAC inside @L2, found @L2"),
        ((("m", 2, "L1", 5), *ALL), "the loop over m outside of what L2 spreads over instances, found inside"),
        ((("m", 6), ("m", 4), *ALL), "expected a step of m that the loops inside fill (8), found 6"),
        ((("m", 1), ("n", 1)), "expected loops that cover k=12 one by one, found 1 of them; add `nest.for k step ...`"),
        ((("k", 3, "MAC", 4), ("m", 1), ("n", 1)), "outside of what REG spreads over instances"),
        ((("m", 1), ("n", 1), ("k", 2)), "expected a step of k that the loops inside fill (1), found 2"),
        ((("b", 1), *ALL), "expected loops over dims of the kernel (m, n, k), found b"),
    ],
)
def test_what_is_no_mapping_of_a_hierarchy(nodes: tuple[object, ...], message: str) -> None:
    with pytest.raises(TilewrightError) as error:
        mapping_of(ARCH, GEMM, (inside(*nodes),), BUFFERS)
    assert message in str(error.value)


def test_a_spread_that_leaves_points_out() -> None:
    tree = (inside(("m", 1), ("n", 1), ("k", 3, "MAC", 1)),)
    with pytest.raises(TilewrightError, match=r"cover k=12 one by one, found 3 of them"):
        mapping_of(ARCH, GEMM, tree, BUFFERS)

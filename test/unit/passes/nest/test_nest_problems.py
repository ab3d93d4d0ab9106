"""Mappings of a memory hierarchy as trees of a group: they compute what the group computes."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import ModuleOp
from xdsl.interpreter import Interpreter
from xdsl.interpreters.func import FuncFunctions

from tilewright.costs.hierarchy import Architecture, Level, LevelMapping, Loop, LoopMapping, Problem
from tilewright.costs.mapping.levels import canonical
from tilewright.dialects import nest
from tilewright.errors import TilewrightError
from tilewright.frontends.acg import load_target
from tilewright.frontends.einsum import einsum_module
from tilewright.interpreters.nest import NestFunctions
from tilewright.passes.nest.trees import problem_of, put_mapping, read_mapping

ARCH = Architecture(
    "toy",
    (
        Level("REG", 2, 16, 4, 1, 0.1, holds=("W",)),
        Level("L1", 64, 4, 2, 1, 1.0),
        Level("L2", 1024, 1, 1, 1, 10.0),
        Level("DRAM", None, 1, 1, 1, 100.0),
    ),
    "MAC",
    64,
    8,
    1.0,
)
KERNELS = (
    "O[m,n] += A[m,k] * B[k,n]; m=5 n=3 k=7",
    "O[k,p] += I[c,2*p+r] * W[k,c,r]; k=3 p=5 c=2 r=3",
    "O[g,p] max= I[g,p-r+2]; g=3 p=5 r=3",
    "M[i,r] += A[i,j,k] * B[j,r] * C[k,r]; i=3 j=2 k=4 r=3",
)


def group_of_module(module: ModuleOp) -> nest.GroupOp:
    return next(op for op in module.walk() if isinstance(op, nest.GroupOp))


def run(module: ModuleOp, inputs: list[np.ndarray]) -> np.ndarray:
    interpreter = Interpreter(module)
    interpreter.register_implementations(NestFunctions())
    interpreter.register_implementations(FuncFunctions())
    return interpreter.call_op("main", tuple(inputs))[0]


def integers(text: str) -> tuple[ModuleOp, list[np.ndarray]]:
    """The kernel on integers, so that sums in any order are equal."""
    letters = {name: "i32" for name in "OMIWABC"}
    module = einsum_module(text, letters)
    rng = np.random.default_rng(0)
    shapes = [value.type.get_shape() for value in group_of_module(module).inputs]  # pyright: ignore
    return module, [rng.integers(-50, 50, shape, np.int32) for shape in shapes]


def any_mapping(draw: st.DrawFn, problem: Problem) -> LoopMapping:
    """Factors that cover the bounds in any way, imperfect and idle ones too."""
    dims = range(len(problem.dims))
    left = [1] * len(problem.dims)
    names = st.sets(st.sampled_from([tensor.name for tensor in problem.tensors]))
    levels: list[LevelMapping] = []
    for last in (False, False, False, True):
        parts = [[Loop(d, draw(st.integers(1, 3))) for d in draw(st.permutations(dims))[:2]] for _ in range(3)]
        for loop in (*parts[0], *parts[1]):
            left[loop.dim] *= loop.bound
        if last:
            parts[2] = [Loop(d, -(-problem.bounds[d] // left[d])) for d in draw(st.permutations(dims))]
        for loop in parts[2]:
            left[loop.dim] *= loop.bound
        away = frozenset[str]() if last else frozenset(draw(names))
        levels.append(LevelMapping(tuple(parts[2]), tuple(parts[0]), tuple(parts[1]), away))
    return LoopMapping(tuple(levels))


@settings(max_examples=12, deadline=None)
@given(st.data())
@pytest.mark.parametrize("text", KERNELS)
def test_a_mapped_kernel_computes_the_same(text: str, data: st.DataObject) -> None:
    module, inputs = integers(text)
    group = group_of_module(module)
    problem = problem_of(group.kernels[0])
    expected = run(module, inputs)
    mapping = data.draw(st.composite(any_mapping)(problem))
    put_mapping(group, ARCH, problem, mapping)
    module.verify()
    np.testing.assert_array_equal(run(module, inputs), expected)
    assert read_mapping(group, load_target("tiny"), ARCH, problem) == canonical(ARCH, problem, mapping)


def test_a_spread_that_is_too_narrow_leaves_holes() -> None:
    module, inputs = integers(KERNELS[0])
    group = group_of_module(module)
    problem = problem_of(group.kernels[0])
    rest = LevelMapping((Loop(1, 3), Loop(2, 7)))
    put_mapping(group, ARCH, problem, LoopMapping((LevelMapping(), LevelMapping((), (Loop(0, 4),)), rest, rest)))
    found = run(module, inputs)
    assert (found[4] == np.iinfo(np.int32).max).all()


def test_a_group_of_more_kernels_is_no_kernel() -> None:
    module, _ = integers(KERNELS[0])
    group = group_of_module(module)
    copy = group.kernels[0].clone()
    group.body.block.insert_op_before(copy, group.kernels[0])
    with pytest.raises(TilewrightError, match="group @kernel: expected one kernel, found @O, @O"):
        put_mapping(group, ARCH, problem_of(copy), LoopMapping((LevelMapping(),) * 4))

"""Tiling, permuting and unrolling by hand: the same results, each point proven to be visited once, the same prices."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import DictionaryAttr, FloatAttr, ModuleOp
from xdsl.interpreter import Interpreter
from xdsl.interpreters.func import FuncFunctions

from tilewright.costs.exact import evaluate
from tilewright.costs.hierarchy import architecture_of
from tilewright.dialects import nest
from tilewright.dialects.acg import machine_of
from tilewright.driver import make_context, parse_passes
from tilewright.errors import InfeasibleError, TilewrightError
from tilewright.frontends.einsum import einsum_module
from tilewright.interpreters.nest import NestFunctions
from tilewright.passes.nest.trees import problem_of, read_mapping

GEMM = "O[m,n] += A[m,k] * B[k,n]; m=10 n=6 k=9"
CONV = "O[k,p] += I[c,2*p+r] * W[k,c,r]; k=5 p=6 c=3 r=2"
TYPES = dict.fromkeys("OABIWCZ", "i16")
HAND = (
    "nest-tile{dims=m,k sizes=4,5 memory=L2}",
    "nest-tile{dims=n,m sizes=2,3 memory=L1}",
    "nest-tile{dims=m,n,k sizes=1,1,1}",
    "nest-permute{memory=L1 order=k,n,m}",
    "nest-permute{order=k,m}",
    "nest-unroll{memory=L2 dim=n ways=2 node=L1}",
    "nest-unroll{memory=L2 dim=m ways=2 node=L1 axis=y}",
)


def apply(module: ModuleOp, *passes: str) -> ModuleOp:
    parse_passes(",".join(passes)).apply(make_context(), module)
    module.verify()
    return module


def machine(text: str, target: str = "conventional") -> ModuleOp:
    return apply(einsum_module(text, TYPES), f'load-target{{target="{target}"}}')


def group_of(module: ModuleOp) -> nest.GroupOp:
    return next(op for op in module.walk() if isinstance(op, nest.GroupOp))


def run(module: ModuleOp) -> np.ndarray:
    rng = np.random.default_rng(0)
    shapes = [value.type.get_shape() for value in group_of(module).inputs]  # pyright: ignore
    inputs = tuple(rng.integers(-9, 9, shape, np.int16) for shape in shapes)
    interpreter = Interpreter(module)
    interpreter.register_implementations(NestFunctions())
    interpreter.register_implementations(FuncFunctions())
    return interpreter.call_op("main", inputs)[0]


@cache
def result(text: str, target: str) -> np.ndarray:
    """What a kernel computes before it is scheduled."""
    return run(machine(text, target))


def predicted(module: ModuleOp) -> dict[str, float]:
    noted = group_of(module).attributes["predicted"]
    assert isinstance(noted, DictionaryAttr)
    return {key: value.value.data for key, value in noted.data.items() if isinstance(value, FloatAttr)}


def test_each_step_keeps_the_result() -> None:
    module = machine(GEMM)
    expected = run(module)
    for step in HAND:
        np.testing.assert_array_equal(run(apply(module, step)), expected)


def test_a_schedule_by_hand_is_verified_and_priced_like_a_search_s() -> None:
    module = apply(machine(GEMM), HAND[0], "nest-tile{dims=n,m sizes=2,2 memory=L1}", *HAND[2:])
    apply(module, "nest-verify", "nest-map{mapper=exact}")
    arch = architecture_of(machine_of(module))
    problem = problem_of(group_of(module).kernels[0], "kernel")
    prices = evaluate(arch, problem, read_mapping(group_of(module), None, arch, problem))
    assert predicted(module)["cycles"] == prices.cycles
    assert predicted(module)["energy_pj"] == prices.energy_pj


@st.composite
def schedules(draw: st.DrawFn) -> list[str]:
    """Tiles of any sizes in two memories, then other orders and spreads."""
    dims = ("k", "p", "c", "r")
    steps: list[str] = []
    for memory in ("L2", "L1"):
        sizes = ",".join(str(draw(st.integers(1, 4))) for _ in dims)
        steps.append(f"nest-tile{{dims={','.join(draw(st.permutations(dims)))} sizes={sizes} memory={memory}}}")
    steps.append("nest-tile{dims=k,p,c,r sizes=1,1,1,1}")
    for memory in draw(st.lists(st.sampled_from([" memory=L2", " memory=L1", ""]), max_size=3)):
        steps.append(f"nest-permute{{order={','.join(draw(st.permutations(dims)))}{memory}}}")
    for memory, node in (("memory=L2", "L1"), ("memory=L1", "MAC")):
        dim, ways = draw(st.sampled_from(dims)), draw(st.integers(1, 4))
        steps.append(f"nest-unroll{{{memory} dim={dim} ways={ways} node={node} axis={draw(st.sampled_from('xy'))}}}")
    return steps


@settings(max_examples=10, deadline=None)
@given(schedules())
def test_any_schedule_computes_the_same_and_is_proven(steps: list[str]) -> None:
    module = machine(CONV, "lanes")
    np.testing.assert_array_equal(run(apply(module, *steps)), result(CONV, "lanes"))
    apply(module, "nest-verify")


@pytest.mark.parametrize(
    ("steps", "message"),
    [
        (("nest-tile{dims=m sizes=4,5}",), "options: expected a positive size for each dim, found 1 dims, sizes 4, 5"),
        (("nest-tile{dims=x sizes=4}",), "dims: expected one of m, n, k, found x"),
        (("nest-tile{dims=m sizes=4 memory=L1 hold=Q}",), "hold: expected one of A, B, O, found Q"),
        (("nest-permute{order=m}",), "mapping: expected loops to change, found none; run nest-tile before"),
        (("nest-tile{dims=m sizes=1}", "nest-verify"), "expected loops down to one n at a time, found 6"),
    ],
)
def test_what_is_refused(steps: tuple[str, ...], message: str) -> None:
    with pytest.raises(TilewrightError) as error:
        apply(machine(GEMM), *steps)
    assert message in str(error.value)


ONES = "nest-tile{dims=m,n,k sizes=1,1,1}"


def edited(text: str, *changes: tuple[str, str]) -> ModuleOp:
    """The module with its text edited by hand."""
    from xdsl.parser import Parser

    module = apply(machine(text), "nest-tile{dims=m sizes=4 memory=L2}", "nest-unroll{dim=m ways=3 node=L2}", ONES)
    printed = str(module).removeprefix("ModuleOp(").removesuffix(")")
    for old, new in changes:
        assert printed.count(old) == 1, printed
        printed = printed.replace(old, new)
    edited = Parser(make_context(), printed).parse_module()
    edited.verify()
    return edited


def test_a_point_that_is_left_out() -> None:
    module = edited(GEMM, ("nest.spatial m = 3 step 4 on @L2 x", "nest.spatial m = 2 step 4 on @L2 x"))
    with pytest.raises(TilewrightError) as error:
        apply(module, "nest-verify")
    expected = "compute @O: expected loops that visit each m in 0..9, found m = 8 left out; spread m over more than 2"
    assert expected in str(error.value)
    assert error.value.kind == "refuted"


def test_a_point_that_is_visited_twice() -> None:
    module = edited(
        GEMM,
        ("dims {m = 10, n = 6, k = 9}", "dims {m = 10, n = 6, k = 9, b = 2}"),
        ("nest.for k step 1 {", "nest.for k step 1 { nest.for b step 1 {"),
        ("nest.compute @O", "nest.compute @O }"),
    )
    with pytest.raises(TilewrightError) as error:
        apply(module, "nest-verify")
    expected = "expected loops over its dims only (m, n, k), each point once, found a loop over b that repeats"
    assert expected in str(error.value)
    assert (run(module) != run(machine(GEMM))).any()


def test_a_memory_that_overflows() -> None:
    module = apply(machine("O[m,n] += A[m,k] * B[k,n]; m=20 n=20 k=20"), "nest-tile{memory=L1}", ONES)
    with pytest.raises(InfeasibleError) as error:
        apply(module, "nest-verify")
    assert (error.value.resource, error.value.demand, error.value.bound) == ("memory L1", 3 * 400 * 16, 256 * 16)


def test_more_instances_than_there_are() -> None:
    module = apply(machine("O[m,n] += A[m,k] * B[k,n]; m=99 n=2 k=2"), "nest-tile{memory=L2}", ONES)
    apply(module, "nest-unroll{memory=L2 dim=m ways=99 node=L1}")
    with pytest.raises(InfeasibleError) as error:
        apply(module, "nest-verify")
    assert (error.value.resource, error.value.demand, error.value.bound) == ("L1 along x", 99, 32)

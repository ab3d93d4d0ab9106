"""Passes on codelets keep the meaning (interpreter and simulator), and each saves cycles where it can."""

from itertools import product

import numpy as np
import pytest

from tilewright import load_target, simulate
from tilewright.backends.link import link
from tilewright.costs.mapping.binding import Pricer
from tilewright.costs.mapping.shares import Helper, best_shares
from tilewright.dialects.codelet import ProgramOp
from tilewright.driver import load_model, make_context, parse_passes, reference
from tilewright.interpreters.codelet import run_program

FRONT = "graph-normalize,graph-fuse,convert-graph-to-nest,{tile},nest-map,convert-nest-to-codelet"
BACK = "codelet-allocate,codelet-verify,convert-codelet-to-mnemonic{schedule=false}"
TILE = "nest-tile"
RELU = "O[i] = relu(A[i]); i=500"
GEMM = "O[m,n] += A[m,k] * B[k,n]; m=22 n=30 k=40"
CONV = "covenant_cut:resnet50_conv2"


def cycles(kernel: str, target: str, passes: str, tile: str = TILE) -> int:
    """Cycles in simulation; interpreter, simulator and NumPy agree."""
    module, before = load_model(kernel), load_model(kernel)
    front = f'load-target{{target="{target}"}},{FRONT.format(tile=tile)}'
    parse_passes(",".join(filter(None, (front, passes)))).apply(make_context(), module)
    module.verify()
    (program,) = [op for op in module.body.block.ops if isinstance(op, ProgramOp)]
    signature = [t for t in program.body.block.ops if getattr(getattr(t, "role", None), "data", "") == "input"]
    rng = np.random.default_rng(0)
    names, arrays = [], []
    for tensor in signature:
        element, shape = str(tensor.result.type.element), tensor.result.type.sizes  # type: ignore[attr-defined]
        values = rng.standard_normal(shape) if element == "f32" else rng.integers(-99, 99, shape)
        arrays.append(values.astype(np.float32 if element == "f32" else np.int8))
        names.append(tensor.tensor_name.data)  # type: ignore[attr-defined]
    inputs = dict(zip(names, arrays, strict=True))
    (expected,) = reference(before, inputs).values()
    (interpreted,) = run_program(program, tuple(arrays), {})
    np.testing.assert_allclose(interpreted, expected, rtol=1e-4, atol=1e-4)
    parse_passes(BACK).apply(make_context(), module)
    result = simulate(link(module, 0), inputs)
    (found,) = result.outputs.values()
    np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-4)
    return result.cycles


ROWS = "nest-tile{dims=p sizes=4 memory=GBUF buffers=2}"
RUNS = "nest-tile{dims=i sizes=50 memory=MEM buffers=2}"


@pytest.mark.parametrize(
    ("kernel", "target", "tile"), [(CONV, "edge16", ROWS), (GEMM, "tiny", TILE), (RELU, "uneven", RUNS)]
)
def test_pipelining_saves_cycles(kernel: str, target: str, tile: str):
    serial = cycles(kernel, target, "codelet-pipeline{buffers=1}", tile)
    doubled = cycles(kernel, target, "codelet-pipeline{ahead=false}", tile)
    pipelined = cycles(kernel, target, "codelet-pipeline", tile)
    assert pipelined <= doubled <= serial
    assert pipelined < 0.95 * serial


def test_loads_ahead_save_cycles_where_loads_and_stores_share_a_queue():
    doubled = cycles(RELU, "uneven", "codelet-pipeline{ahead=false}", RUNS)
    assert cycles(RELU, "uneven", "codelet-pipeline", RUNS) < 0.9 * doubled


@pytest.mark.parametrize("kernel", [RELU, "O[m,n] += A[m,k] * B[k,n]; m=40 n=40 k=40"])
def test_two_unequal_nodes_are_faster_than_one(kernel: str):
    alone = cycles(kernel, "uneven", "codelet-pipeline")
    together = cycles(kernel, "uneven", "codelet-parallelize,codelet-pipeline")
    assert together <= (alone if kernel == RELU else 0.9 * alone)  # Relu waits for its link


def test_work_is_split_by_granularity():
    """One tile of 240: 192 in 48 cycles by four lanes, 48 in 48 by one; alone it would be 60 cycles."""
    tiles = "nest-tile{dims=i sizes=240 memory=MEM}"
    kernel = "O[i] = relu(A[i]); i=240"
    saved = cycles(kernel, "uneven", "", tiles) - cycles(kernel, "uneven", "codelet-parallelize", tiles)
    assert saved == 60 - 48


@pytest.mark.parametrize(("target", "memory"), [("tiny", "SPAD"), ("uneven", "MEM"), ("edge16", "GBUF")])
def test_unrolling_fills_links(target: str, memory: str):
    tiles = f"nest-tile{{dims=i sizes=2 memory={memory}}}"
    narrow = cycles("O[i] = relu(A[i]); i=90", target, "", tiles)
    assert cycles("O[i] = relu(A[i]); i=90", target, "codelet-unroll", tiles) < 0.6 * narrow


def test_all_passes_together_on_small_tiles():
    tiles = "nest-tile{dims=m,n sizes=3,7 memory=MEM}"
    every = "codelet-unroll,codelet-parallelize,codelet-pipeline"
    assert cycles(GEMM, "uneven", every, tiles) < 0.8 * cycles(GEMM, "uneven", "", tiles)


@pytest.mark.parametrize("extent", [1, 4, 5, 24, 25])
def test_shares_are_the_best(extent: int):
    machine = load_target("uneven")
    pricer = Pricer(machine)
    able = [c for node in machine.computes for c in node.capabilities if c.name == "unary"]
    helpers = [Helper(c, "b", {"a": 1, "b": extent}) for c in able]
    shares = best_shares(pricer, helpers, extent)
    lanes = (4, 1)

    def latest(split: tuple[int, ...]) -> int:
        return max(-(-n // lane) for n, lane in zip(split, lanes, strict=True))

    every = [split for split in product(range(extent + 1), repeat=2) if sum(split) == extent]
    assert sum(shares) == extent
    assert latest(shares) == min(map(latest, every))
    if extent == 25:
        assert shares == (20, 5)

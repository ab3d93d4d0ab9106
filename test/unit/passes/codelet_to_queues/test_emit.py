"""Instructions of small codelets, spelled out."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.parser import Parser
from xdsl.passes import PassPipeline

from tilewright.algebra.affine import index_forms, window
from tilewright.algebra.expr import Access
from tilewright.algebra.parser import parse_expr, parse_statement
from tilewright.backends.assembler import disassemble
from tilewright.backends.link import link
from tilewright.backends.simulator import simulate
from tilewright.dialects.acg import GraphOp
from tilewright.driver import CompileOptions, compile, make_context
from tilewright.errors import TilewrightError
from tilewright.frontends.acg import load_target, parse_target, target_files
from tilewright.passes.codelet_to_queues.binary import pack
from tilewright.passes.codelet_to_queues.emit import Emitter
from tilewright.passes.codelet_to_queues.tree import Codelet, Define, Issue, Loop, Node, Surrogate, Transfer
from tilewright.universe import TILEWRIGHT_UNIVERSE

TINY = load_target("tiny")
Array = NDArray[Any]


def local(access: str, extents: dict[str, int], element: str, *addresses: int) -> Surrogate:
    expr = parse_expr(access)
    assert isinstance(expr, Access)
    axes = window([index_forms(expr)], extents)
    return Surrogate(expr.tensor, "SPAD", tuple(axis.size for axis in axes), element, addresses, axes)


def emitted(codelet: Codelet) -> list[str]:
    emitter = Emitter(TINY)
    emitter.codelet(codelet)
    return disassemble(TINY, pack(TINY, emitter.finish(schedule=False).code)).splitlines()


def relu(*body: Node) -> Codelet:
    surrogates = (
        Surrogate("x", "DRAM", (6, 8), "f32", (0,), constant=True),
        Surrogate("y", "DRAM", (6, 8), "f32", (192,)),
        local("X[m, n]", {"m": 4, "n": 8}, "f32", 0, 128),
        local("Y[m, n]", {"m": 4, "n": 8}, "f32", 256, 384),
    )
    return Codelet("relu", (("m", 6), ("n", 8)), surrogates, body)


RELU = Issue(
    "VPU", "unary", parse_statement("O[m, n] = relu(A[m, n])"), (3, 2), (("a", "m"), ("b", "n")), (("F", "relu"),)
)


def test_tiles_alternate_copies_and_wait_for_what_they_touch():
    body = (Define(2), Transfer(0, 2), Define(3), RELU, Transfer(3, 1))
    assert emitted(relu(Loop("m", 4, body))) == [
        "LOAD TAG=1, RUN=128, NB=1, NC=1",
        "UNARY TAG=3, WT0=1, WC0=1, FN=relu, O=0x100, NA=4, NB=8, OA=32, OB=4, AA=32, AB=4",
        "STORE TAG=1, WT0=3, WC0=1, DST=0xc0, SRC=0x100, RUN=128, NB=1, NC=1",
        "LOAD TAG=1, DST=0x80, SRC=0x80, RUN=64, NB=1, NC=1",
        "UNARY TAG=3, WT0=1, WC0=3, FN=relu, O=0x180, A=0x80, NA=2, NB=8, OA=32, OB=4, AA=32, AB=4",
        "STORE TAG=1, WT0=3, WC0=2, DST=0x140, SRC=0x180, RUN=64, NB=1, NC=1",
    ]


def test_padding_is_filled_around_what_is_loaded():
    surrogates = (
        Surrogate("x", "DRAM", (3, 5), "i8", (0,), constant=True),
        local("X[m - 1, n - 2]", {"m": 5, "n": 8}, "i8", 0),
    )
    codelet = Codelet("pad", (("m", 5), ("n", 8)), surrogates, (Define(1), Transfer(0, 1, -1)))
    assert emitted(codelet) == [
        "FILL TAG=1, T=i8, NB=1, NA=8, DA=1, V=0xffffffff",
        "FILL TAG=1, T=i8, D=0x20, NB=1, NA=8, DA=1, V=0xffffffff",
        "FILL TAG=1, T=i8, D=0x8, NB=3, NA=2, DB=8, DA=1, V=0xffffffff",
        "FILL TAG=1, T=i8, D=0xf, NB=1, NA=3, DA=8, V=0xffffffff",
        "LOAD TAG=1, DST=0xa, RUN=5, NB=3, NC=1, DB=8, SB=5",
    ]


def test_reductions_start_at_the_first_pieces_of_their_dims():
    surrogates = (
        local("Y[m]", {"m": 4, "k": 6}, "i32", 0),
        local("X[m, k]", {"m": 4, "k": 6}, "i8", 64),
        local("W[k]", {"m": 4, "k": 6}, "i8", 128),
    )
    statement = parse_statement("O[m] += X[m, k] * W[k]")
    issue = Issue("MXU", "mac", statement, (0, 1, 2), (("p", "m"), ("c", "k")), spread=(("x", "p"),))
    body = (Define(0), Define(1), Define(2), Loop("k", 4, (issue,)))
    expected = [
        "MAC TAG=2, SX=p, X=0x40, W=0x80, NK=1, NP=4, NC=4, OP=4, XP=6, XC=1, WC=1",
        "MAC TAG=2, ACC=1, SX=p, X=0x44, W=0x84, NK=1, NP=4, NC=2, OP=4, XP=6, XC=1, WC=1",
    ]
    assert emitted(Codelet("sum", (("m", 4), ("k", 6)), surrogates, body)) == expected


def test_strides_that_a_compute_cannot_say_are_named():
    surrogates = (local("Y[m]", {"m": 2}, "f32", 0), Surrogate("X", "SPAD", (2, 100, 100), "f32", (64,)))
    issue = Issue("VPU", "unary", parse_statement("O[m] = relu(A[m, 0, 0])"), (0, 1), (("a", "m"),), (("F", "relu"),))
    with pytest.raises(TilewrightError, match=r"stride of -1024 to 1023 B of A along a in VPU.unary, found 40000 B"):
        emitted(Codelet("far", (("m", 2),), surrogates, (Define(0), issue)))


def test_machines_without_an_instruction_for_something_say_so():
    body = (Define(2), Transfer(2, 3))
    with pytest.raises(TilewrightError, match="a mnemonic that copies from SPAD to SPAD"):
        emitted(relu(*body))


def test_reductions_in_parts_need_an_instruction_that_goes_on():
    text = target_files()["tiny"].read_text().replace("accumulate ACC;", "")
    machine = parse_target(text)
    extents = {"m": 4, "k": 6}
    accesses = (("Y[m]", 0), ("W[m, k]", 64), ("X[k]", 160))
    surrogates = tuple(local(access, extents, "f32", address) for access, address in accesses)
    statement = parse_statement("O[m] += X[k] * W[m, k]")
    issue = Issue("MXU", "mac", statement, (0, 2, 1), (("k", "m"), ("c", "k")))
    codelet = Codelet("c", (("m", 4), ("k", 6)), surrogates, (Define(0), Define(1), Define(2), Loop("k", 3, (issue,))))
    with pytest.raises(TilewrightError, match="MAC to go on from its target"):
        Emitter(machine).codelet(codelet)


@pytest.mark.parametrize(("value", "element"), [(0.5, "i8"), (float("-inf"), "i32"), (300.0, "i8")])
def test_padding_that_no_fill_can_write_is_refused(value: float, element: str):
    surrogates = (Surrogate("x", "DRAM", (3,), element, (0,), constant=True), local("X[m - 1]", {"m": 5}, element, 0))
    spec = Codelet("pad", (("m", 5),), surrogates, (Define(1), Transfer(0, 1, value)))
    with pytest.raises(TilewrightError, match="an instruction that fills"):
        emitted(spec)


DEEP = """
acg deep {
  control queues;
  memory DRAM { data_width 8; banks 1; depth 65536; align 4; offchip; }
  memory L2 { data_width 8; banks 1; depth 4096; align 4; }
  memory L1 { data_width 8; banks 1; depth 512; align 4; }
  compute VPU { capability unary { dims a <= 255, b <= 255; O{a, b} = F(A{a, b}); functions F = relu; types f32 = f32;
    cycles a * b; energy ops; } }
  link DRAM <-> L2 { bandwidth 4;
    capability copy { dims b <= 255, a <= 1023; D{b, a} = S{b, a}; types u8 = u8; cycles ceildiv(ops, bandwidth); } }
  link L2 <-> L1 { bandwidth 4;
    capability copy { dims b <= 255, a <= 1023; D{b, a} = S{b, a}; types u8 = u8; cycles ceildiv(ops, bandwidth); } }
  link L1 <-> VPU { bandwidth 16; }
  unit A; unit B; unit V;
  isa { opcode_bits 8; align 8; header { ifield TAG 8, WT0 8, WC0 16, WT1 8, WC1 16; } signal TAG; wait WT0 WC0;
    wait WT1 WC1; }
  mnemonic LOAD(1) { unit A; ifield D 16, S 16, RUN 10, N 8, DB 16, SB 16; execute DRAM->L2.copy; extents a RUN, b N;
    operand D L2[D] u8 { b DB, a 1 }; operand S DRAM[S] u8 { b SB, a 1 }; }
  mnemonic STORE(2) { unit A; ifield D 16, S 16, RUN 10, N 8, DB 16, SB 16; execute L2->DRAM.copy; extents a RUN, b N;
    operand D DRAM[D] u8 { b DB, a 1 }; operand S L2[S] u8 { b SB, a 1 }; }
  mnemonic FETCH(3) { unit B; ifield D 16, S 16, RUN 10, N 8, DB 16, SB 16; execute L2->L1.copy; extents a RUN, b N;
    operand D L1[D] u8 { b DB, a 1 }; operand S L2[S] u8 { b SB, a 1 }; }
  mnemonic EVICT(4) { unit B; ifield D 16, S 16, RUN 10, N 8, DB 16, SB 16; execute L1->L2.copy; extents a RUN, b N;
    operand D L2[D] u8 { b DB, a 1 }; operand S L1[S] u8 { b SB, a 1 }; }
  mnemonic UNARY(5) { unit V; efield FN 2 [relu];
    ifield O 16, A 16, NA 8, NB 8, OA 16 signed, OB 16 signed, AA 16 signed, AB 16 signed;
    execute VPU.unary; extents a NA, b NB; function F FN; operand O L1[O] f32 { a OA, b OB };
    operand A L1[A] f32 { a AA, b AB }; }
}
"""

HOPS = """
func.func @main(%x : tensor<9x8xf32>) -> tensor<9x8xf32> {
  %y = nest.group @relu dims {m = 9, n = 8} ins(X = %x) -> tensor<9x8xf32> {
  ^bb0(%X : tensor<9x8xf32>):
    %0 = nest.kernel @relu "Y[m,n] = relu(X[m,n])" (X = %X) : (tensor<9x8xf32>) -> tensor<9x8xf32>
    nest.yield %0 : tensor<9x8xf32>
  } mapping {
    MAPPING
  }
  func.return %y : tensor<9x8xf32>
}
"""

STRIDED = """
func.func @main(%x : tensor<9x8xf32>) -> tensor<18x8xf32> {
  %e = nest.group @even dims {m = 9, n = 8} ins(X = %x) -> tensor<18x8xf32> {
  ^bb0(%X : tensor<9x8xf32>):
    %0 = nest.kernel @relu "Y[2*m,n] = relu(X[m,n])" (X = %X) : (tensor<9x8xf32>) -> tensor<18x8xf32>
    nest.yield %0 : tensor<18x8xf32>
  } mapping {
    MAPPING
  }
  %y = nest.group @odd dims {m = 9, n = 8} ins(X = %x, relu = %e) -> tensor<18x8xf32> {
  ^bb0(%X : tensor<9x8xf32>, %P : tensor<18x8xf32>):
    %0 = nest.kernel @other "Y[2*m+1,n] = relu(X[8-m,n])" (X = %X) into %P : (tensor<9x8xf32>) -> tensor<18x8xf32>
    nest.yield %0 : tensor<18x8xf32>
  } mapping {
    OTHER
  }
  func.return %y : tensor<18x8xf32>
}
"""

COMPUTE = "nest.compute @relu on @VPU::@unary dims {a = m, b = n} tensors {O = Y, A = X} functions {F = relu}"
MAPPINGS = {
    "straight": f"nest.for m step 4 {{ nest.hold @L1 [X, relu] buffers 2 {{ {COMPUTE} }} }}",
    "nested": "nest.for m step 6 { nest.hold @L2 [X, relu] buffers 2 { nest.for m step 4 { nest.for n step 3 { "
    f"nest.hold @L1 [X, relu] {{ {COMPUTE} }} }} }} }} }}",
}


def run_deep(text: str, x: Array) -> tuple[Array, list[str]]:
    """The output of a mapped module on the machine of three memories, and the mnemonics used."""
    module = Parser(make_context(), text).parse_module()
    module.body.block.insert_op_before(GraphOp.get(parse_target(DEEP)), next(iter(module.body.block.ops)))
    module.verify()
    passes = "convert-nest-to-codelet,codelet-allocate,codelet-verify,convert-codelet-to-mnemonic"
    PassPipeline.parse_spec(TILEWRIGHT_UNIVERSE.all_passes, passes).apply(make_context(), module)
    program = link(module)
    (y,) = simulate(program, {"arg0": x}).outputs.values()
    lines = disassemble(program.machine, program.code).splitlines()
    return y, sorted({line.split()[0] for line in lines})


@pytest.mark.parametrize("name", list(MAPPINGS))
def test_data_hops_through_all_memories_on_its_way(name: str):
    x = np.random.default_rng(0).standard_normal((9, 8)).astype(np.float32)
    y, used = run_deep(HOPS.replace("MAPPING", MAPPINGS[name]), x)
    np.testing.assert_array_equal(y, np.maximum(x, 0))
    assert used == ["EVICT", "FETCH", "LOAD", "STORE", "UNARY"]


@pytest.mark.parametrize("name", list(MAPPINGS))
def test_strided_results_pass_through_memories_without_their_holes(name: str):
    x = np.random.default_rng(0).standard_normal((9, 8)).astype(np.float32)
    other = MAPPINGS[name].replace("@relu", "@other").replace("m step 4 { nest.for", "m step 1 { nest.for")
    y, _ = run_deep(STRIDED.replace("MAPPING", MAPPINGS[name]).replace("OTHER", other), x)
    np.testing.assert_array_equal(y[::2], np.maximum(x, 0))
    np.testing.assert_array_equal(y[1::2], np.maximum(x[::-1], 0))


DEPTHWISE = """func.func @main(%x : tensor<1x144x56x56xf32>) -> tensor<1x144x56x56xf32> {
  %w = graph.weight @w = dense<0.5> : tensor<144x1x3x3xf32> : tensor<144x1x3x3xf32>
  %a = graph.conv %x, %w strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 144
    : (tensor<1x144x56x56xf32>, tensor<144x1x3x3xf32>) -> tensor<1x144x56x56xf32>
  %b = graph.conv %a, %w strides [1, 1] pads [1, 1, 1, 1] dilations [1, 1] groups 144
    : (tensor<1x144x56x56xf32>, tensor<144x1x3x3xf32>) -> tensor<1x144x56x56xf32>
  func.return %b : tensor<1x144x56x56xf32>
}
"""


def test_taps_that_take_longer_to_feed_than_to_sum_up_stay_together(tmp_path: Path):
    """Arrays take 31,752 cycles for a layer of 9 taps, and 9 times 7,059 to be fed for one tap after another."""
    path = tmp_path / "depthwise.mlir"
    path.write_text(DEPTHWISE)
    program = compile(path, "edge16", options=CompileOptions(partition="greedy", prove=False))
    assert all(31_752 <= layer.busy_cycles["MXU"] < 1.1 * 31_752 for layer in program.layers)

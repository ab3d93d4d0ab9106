"""From nest to instruction words: each pass keeps what its input means, on small shapes."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.interpreter import Interpreter
from xdsl.parser import Parser
from xdsl.passes import PassPipeline
from xdsl.universe import XDSL_UNIVERSE

from tilewright.backends.link import link
from tilewright.backends.program import Program
from tilewright.backends.simulator import simulate
from tilewright.dialects.codelet import ProgramOp
from tilewright.dialects.types import dtype_of
from tilewright.driver import make_context
from tilewright.interpreters.codelet import run_program
from tilewright.interpreters.nest import NestFunctions
from tilewright.universe import TILEWRIGHT_UNIVERSE

CONV = """
func.func @main(%x : tensor<2x5x11x9xf32>, %w : tensor<6x5x3x3xf32>, %b : tensor<6xf32>) -> tensor<2x6x6x5xf32> {
  %y = nest.group @conv dims {n = 2, k = 6, p = 6, q = 5, c = 5, r = 3, s = 3} ins(X = %x, W = %w, B = %b)
      -> tensor<2x6x6x5xf32> {
  ^bb0(%X : tensor<2x5x11x9xf32>, %W : tensor<6x5x3x3xf32>, %B : tensor<6xf32>):
    %0 = nest.kernel @bias "Y[n,k,p,q] = B[k]" (B = %B) : (tensor<6xf32>) -> tensor<2x6x6x5xf32>
    %1 = nest.kernel @mac "Y[n,k,p,q] += X[n,c,2*p+r-1,2*q+s-1] * W[k,c,r,s]" (X = %X, W = %W) into %0 pad {X = 0.0}
      : (tensor<2x5x11x9xf32>, tensor<6x5x3x3xf32>) -> tensor<2x6x6x5xf32>
    %2 = nest.kernel @relu "Y[n,k,p,q] = relu(A[n,k,p,q])" (A = %1) into %1
      : (tensor<2x6x6x5xf32>) -> tensor<2x6x6x5xf32>
    nest.yield %2 : tensor<2x6x6x5xf32>
  }
  func.return %y : tensor<2x6x6x5xf32>
}
"""

INTEGER_CONV = """
func.func @main(%x : tensor<4x6x6xui8>, %w : tensor<3x4x3xsi8>) -> tensor<3x6x6xi32> {
  %y = nest.group @conv dims {k = 3, p = 6, q = 6, c = 4, r = 3} ins(X = %x, W = %w) -> tensor<3x6x6xi32> {
  ^bb0(%X : tensor<4x6x6xui8>, %W : tensor<3x4x3xsi8>):
    %0 = nest.kernel @mac "Y[k,p,q] += X[c,p+2*r-2,q] * W[k,c,r]" (X = %X, W = %W) pad {X = 7}
      : (tensor<4x6x6xui8>, tensor<3x4x3xsi8>) -> tensor<3x6x6xi32>
    nest.yield %0 : tensor<3x6x6xi32>
  }
  func.return %y : tensor<3x6x6xi32>
}
"""

POOL = """
func.func @main(%x : tensor<3x9x9xf32>) -> tensor<3x5x5xf32> {
  %y = nest.group @pool dims {c = 3, p = 5, q = 5, r = 3, s = 3} ins(X = %x) -> tensor<3x5x5xf32> {
  ^bb0(%X : tensor<3x9x9xf32>):
    %0 = nest.kernel @max "Y[c,p,q] max= X[c,2*p+r-1,2*q+s-1]" (X = %X) pad {X = neg_inf}
      : (tensor<3x9x9xf32>) -> tensor<3x5x5xf32>
    nest.yield %0 : tensor<3x5x5xf32>
  }
  func.return %y : tensor<3x5x5xf32>
}
"""

SOFTMAX = """
func.func @main(%x : tensor<6x10xf32>) -> tensor<6x10xf32> {
  %y = nest.group @softmax dims {m = 6, n = 10} ins(X = %x) -> tensor<6x10xf32> {
  ^bb0(%X : tensor<6x10xf32>):
    %0 = nest.kernel @peak "M[m] max= X[m,n]" (X = %X) : (tensor<6x10xf32>) -> tensor<6xf32>
    %1 = nest.kernel @shift "Y[m,n] = sub(X[m,n], M[m])" (X = %X, M = %0)
      : (tensor<6x10xf32>, tensor<6xf32>) -> tensor<6x10xf32>
    %2 = nest.kernel @exp "Y[m,n] = exp(A[m,n])" (A = %1) into %1 : (tensor<6x10xf32>) -> tensor<6x10xf32>
    %3 = nest.kernel @sum "S[m] += A[m,n]" (A = %2) : (tensor<6x10xf32>) -> tensor<6xf32>
    %4 = nest.kernel @div "Y[m,n] = div(A[m,n], S[m])" (A = %2, S = %3) into %2
      : (tensor<6x10xf32>, tensor<6xf32>) -> tensor<6x10xf32>
    nest.yield %4 : tensor<6x10xf32>
  }
  func.return %y : tensor<6x10xf32>
}
"""

MOVES = """
func.func @main(%x : tensor<5x7xf32>, %y : tensor<5x3xf32>) -> (tensor<70xf32>, tensor<7x5xf32>) {
  %0 = nest.group @first dims {m = 5, n = 7} ins(X = %x) -> tensor<7x10xf32> {
  ^bb0(%X : tensor<5x7xf32>):
    %k = nest.kernel @copy "Y[n,m] = identity(X[m,n])" (X = %X) : (tensor<5x7xf32>) -> tensor<7x10xf32>
    nest.yield %k : tensor<7x10xf32>
  }
  %1 = nest.group @second dims {m = 5, n = 7} ins(X = %x, P = %0) -> tensor<7x10xf32> {
  ^bb0(%X : tensor<5x7xf32>, %P : tensor<7x10xf32>):
    %k = nest.kernel @copy "Y[n,9-m] = neg(X[m,n])" (X = %X) into %P : (tensor<5x7xf32>) -> tensor<7x10xf32>
    nest.yield %k : tensor<7x10xf32>
  }
  %2 = nest.group @third dims {m = 5, n = 4} ins(X = %x) -> tensor<7x5xf32> {
  ^bb0(%X : tensor<5x7xf32>):
    %k = nest.kernel @copy "Y[2*n,m] = identity(X[m,6-2*n])" (X = %X) : (tensor<5x7xf32>) -> tensor<7x5xf32>
    nest.yield %k : tensor<7x5xf32>
  }
  %3 = nest.group @fourth dims {m = 5, n = 3} ins(X = %y, P = %2) -> tensor<7x5xf32> {
  ^bb0(%X : tensor<5x3xf32>, %P : tensor<7x5xf32>):
    %k = nest.kernel @copy "Y[2*n+1,m] = identity(X[m,n])" (X = %X) into %P : (tensor<5x3xf32>) -> tensor<7x5xf32>
    nest.yield %k : tensor<7x5xf32>
  }
  %flat = nest.view %1 : tensor<7x10xf32> -> tensor<70xf32>
  func.return %flat, %3 : tensor<70xf32>, tensor<7x5xf32>
}
"""

TWICE = """
func.func @main(%x : tensor<5x7xf32>) -> (tensor<5x7xf32>, tensor<35xf32>, tensor<5x7xf32>) {
  %0 = nest.group @square dims {m = 5, n = 7} ins(X = %x) -> tensor<5x7xf32> {
  ^bb0(%X : tensor<5x7xf32>):
    %k = nest.kernel @square "Y[m,n] = mul(X[m,n], X[m,n])" (X = %X) : (tensor<5x7xf32>) -> tensor<5x7xf32>
    nest.yield %k : tensor<5x7xf32>
  }
  %v = nest.view %0 : tensor<5x7xf32> -> tensor<35xf32>
  func.return %0, %v, %x : tensor<5x7xf32>, tensor<35xf32>, tensor<5x7xf32>
}
"""

KERNELS = {"conv": CONV, "integer_conv": INTEGER_CONV, "pool": POOL, "softmax": SOFTMAX, "moves": MOVES, "twice": TWICE}
PASSES = XDSL_UNIVERSE.all_passes | TILEWRIGHT_UNIVERSE.all_passes
Array = NDArray[Any]


def apply(module: ModuleOp, passes: str) -> None:
    PassPipeline.parse_spec(PASSES, passes).apply(make_context(), module)
    module.verify()


def parse(text: str) -> tuple[ModuleOp, FuncOp]:
    module = Parser(make_context(), text).parse_module()
    module.verify()
    (function,) = (op for op in module.body.block.ops if isinstance(op, FuncOp))
    return module, function


def random_inputs(function: FuncOp) -> tuple[Array, ...]:
    rng = np.random.default_rng(1)
    arrays: list[Array] = []
    for arg in function.body.block.args:
        dtype = dtype_of(arg.type.element_type)  # pyright: ignore
        shape = arg.type.get_shape()  # pyright: ignore
        low, high = (0, 256) if dtype == np.uint8 else (-128, 128)
        made = rng.standard_normal(shape) if dtype.kind == "f" else rng.integers(low, high, shape)
        arrays.append(made.astype(dtype))
    return tuple(arrays)


def run_nest(module: ModuleOp, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
    from xdsl.interpreters.func import FuncFunctions

    interpreter = Interpreter(module)
    interpreter.register_implementations(FuncFunctions())
    interpreter.register_implementations(NestFunctions())
    return interpreter.call_op("main", inputs)


def run_codelets(module: ModuleOp, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
    (program,) = (op for op in module.body.block.ops if isinstance(op, ProgramOp))
    return run_program(program, inputs, {})


def run_words(program: Program, inputs: tuple[Array, ...]) -> tuple[Array, ...]:
    names = [tensor.name for tensor in program.tensors if tensor.role == "input"]
    result = simulate(program, dict(zip(names, inputs, strict=True)))
    return tuple(result.outputs.values())


CASES = [(name, "edge16") for name in KERNELS] + [(name, "tiny") for name in ("integer_conv", "moves", "twice")]


@pytest.mark.parametrize(("name", "target"), CASES)
def test_lowering_keeps_the_meaning(name: str, target: str):
    module, function = parse(KERNELS[name])
    inputs = random_inputs(function)
    expected = run_nest(module, inputs)
    apply(module, f'load-target{{target="{target}"}},nest-tile,nest-map')
    mapped = run_nest(module, inputs)
    apply(module, "convert-nest-to-codelet")
    codelets = run_codelets(module, inputs)
    apply(module, "codelet-allocate,codelet-verify")
    allocated = run_codelets(module, inputs)
    apply(module, "convert-codelet-to-mnemonic")
    words = run_words(link(module), inputs)
    for stage, results in (("mapped", mapped), ("codelets", codelets), ("allocated", allocated), ("words", words)):
        for i, (result, right) in enumerate(zip(results, expected, strict=True)):
            np.testing.assert_allclose(result, right, 1e-5, 1e-5, err_msg=f"{stage}, result {i}")

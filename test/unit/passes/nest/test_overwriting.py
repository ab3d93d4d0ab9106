"""Which inputs the result of a group may overwrite."""

from __future__ import annotations

import pytest
from xdsl.parser import Parser

from tilewright.dialects import nest
from tilewright.driver.models import make_context
from tilewright.passes.nest.storage import overwritable, overwrite, overwritten_inputs, storage_of

GROUP = """
func.func @f(%x : tensor<8x8xf32>, %a : tensor<8x8xf32>) -> tensor<8x8xf32> {{
  %b = nest.group @g dims {{m = 8, n = 8, k = 8}} ins(X = %x, A = %a) -> tensor<8x8xf32> {{
  ^bb0(%X : tensor<8x8xf32>, %A : tensor<8x8xf32>):
    {body}
  }}
  func.return %b : tensor<8x8xf32>
}}
"""
T1, T2 = "(tensor<8x8xf32>) -> tensor<8x8xf32>", "(tensor<8x8xf32>, tensor<8x8xf32>) -> tensor<8x8xf32>"
SUM = f'%0 = nest.kernel @add "Y[m, n] = X[m, n] + A[m, n]" (X = %X, A = %A) : {T2}'
LATER = f'%0 = nest.kernel @neg "Y[m, n] = neg(X[m, n])" (X = %X) : {T1}'
CASES = {
    f"{SUM}\n nest.yield %0 : tensor<8x8xf32>": {"X": "add", "A": "add"},
    # The sum reads A after `neg` has written the result.
    f'{LATER}\n %1 = nest.kernel @add "Y[m, n] = B[m, n] + A[m, n]" (B = %0, A = %A) into %0 : {T2}\n'
    "nest.yield %1 : tensor<8x8xf32>": {"X": "neg"},
    # The sum has bytes of its own.
    f'{LATER}\n %1 = nest.kernel @add "Y[m, n] = B[m, n] + A[m, n]" (B = %0, A = %A) : {T2}\n'
    "nest.yield %1 : tensor<8x8xf32>": {"X": "add", "A": "add"},
    # A later sum reads X again in another place.
    f'{LATER}\n %1 = nest.kernel @add "Y[m, n] = B[m, n] + X[n, m]" (B = %0, X = %X) into %0 : {T2}\n'
    "nest.yield %1 : tensor<8x8xf32>": {"A": "neg"},
    # A product writes each element many times.
    f'%0 = nest.kernel @mac "Y[m, n] += X[m, k] * A[k, n]" (X = %X, A = %A) : {T2}\n'
    "nest.yield %0 : tensor<8x8xf32>": {},
    # A broadcast row is read by every row.
    f'%0 = nest.kernel @add "Y[m, n] = X[m, n] + A[0, n]" (X = %X, A = %A) : {T2}\nnest.yield %0 : tensor<8x8xf32>': {
        "X": "add"
    },
    # Reads beyond the borders want room around the map.
    f'%0 = nest.kernel @max "Y[m, n] max= X[m + k, n]" (X = %X) pad {{X = 0.0}} : {T1}\n'
    f'%1 = nest.kernel @add "Y[m, n] = B[m, n] + A[m, n]" (B = %0, A = %A) into %0 : {T2}\n'
    "nest.yield %1 : tensor<8x8xf32>": {},
}


def group_of_text(body: str) -> nest.GroupOp:
    """The group of a function with this body."""
    module = Parser(make_context(), GROUP.format(body=body)).parse_module()
    return next(op for op in module.walk() if isinstance(op, nest.GroupOp))


@pytest.mark.parametrize("body", CASES)
def test_what_may_be_overwritten(body: str):
    group = group_of_text(body)
    found = overwritable(group)
    assert {name: kernel.sym_name.data for name, kernel in found.items()} == CASES[body]
    assert not overwritten_inputs(group)
    assert storage_of(group.outs[0]) is group.outs[0]
    for name, kernel in found.items():
        one = group_of_text(body)
        overwrite(one, name, next(k for k in one.kernels if k.sym_name == kernel.sym_name))
        one.verify()
        assert one.buffers()[one.yielded[0]] == name
        (source,) = [value for own, value in zip(one.input_names, one.inputs, strict=True) if own.data == name]
        assert overwritten_inputs(one) == {one.outs[0]: source}
        assert storage_of(one.outs[0]) is source

"""Addresses on chip: where bytes are taken again late and there is room, locals of no two groups share any."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from tilewright.dialects.codelet import LocalOp
from tilewright.driver import make_context, parse_passes

GROUPS = 8
TYPE = "!codelet.surrogate<20xf32, @SPAD>"
STATEMENT = '"O[i] = relu(A[i])"'
FUNCTION = "functions {{F = relu}}"
GROUP = f"""
codelet.fused @g{{0}} updates dense<[[0, 0, 0, 1]]> : tensor<1x4xi64> samples [""] rows [""] {{{{
  codelet.codelet @c{{0}} dims {{{{i = 20}}}} (%A = %a : {TYPE}) {{{{
    %l = codelet.local "l[i]" : {TYPE}
    codelet.compute @VPU::@unary {STATEMENT} (%l, %A) dims {{{{a = i}}}} {FUNCTION} : ({TYPE}, {TYPE})
    codelet.compute @VPU::@unary {STATEMENT} (%A, %l) dims {{{{a = i}}}} {FUNCTION} : ({TYPE}, {TYPE})
  }}}}
}}}}"""


def addresses_of_locals(options: str) -> list[int]:
    """Of the local of each group of a chain, in a memory that holds a map and the locals of all."""
    groups = "".join(GROUP.format(number) for number in range(GROUPS))
    text = f'codelet.program @main {{\n%a = codelet.tensor "a" temp : {TYPE}{groups}\n}}'
    module: ModuleOp = Parser(make_context(), text).parse_module()
    target = f"tiny:SPAD.depth={20 * (GROUPS + 1)}"
    parse_passes(f'load-target{{target="{target}"}},codelet-prefetch{options}').apply(make_context(), module)
    addresses = (op.addresses for op in module.walk() if isinstance(op, LocalOp))
    return [found.get_values()[0] for found in addresses if found is not None]


@pytest.mark.parametrize(("options", "places"), [("", 4), ("{late=true}", GROUPS)])
def test_locals_have_bytes_of_their_own_where_bytes_are_taken_late(options: str, places: int):
    found = addresses_of_locals(options)
    assert len(found) == GROUPS
    assert len(set(found)) == places

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from xdsl.parser import Parser

from tilewright.costs.bounds.program import program_bound
from tilewright.costs.bounds.program.network import NetworkBuilder
from tilewright.costs.mapping.binding import pricer_of
from tilewright.dialects import nest
from tilewright.driver.models import make_context
from tilewright.frontends.acg import load_target
from tilewright.interpreters.constants import Constants
from tilewright.passes.nest.nest_band import Band, bands
from tilewright.passes.nest.trees import group_of

MODULE = """
func.func @main(%x: tensor<1x{g}x{rows}x{columns}xui8>) -> tensor<1x{g}x{p}x{q}xi32> {{
  %w = graph.weight @w = dense<1> : tensor<{g}x1x3x3xsi8> : tensor<{g}x1x3x3xsi8>
  %y = nest.group @dw dims {{g = {g}, p = {p}, q = {q}, r = 3, s = 3}} ins(X = %x, W = %w)
    -> tensor<1x{g}x{p}x{q}xi32> {{
  ^bb0(%X: tensor<1x{g}x{rows}x{columns}xui8>, %W: tensor<{g}x1x3x3xsi8>):
    %mac = nest.kernel @mac "Y[0, g, p, q] += X[0, g, {step} * p + r, {step} * q + s] * W[g, 0, r, s]"
      (X = %X, W = %W) : (tensor<1x{g}x{rows}x{columns}xui8>, tensor<{g}x1x3x3xsi8>) -> tensor<1x{g}x{p}x{q}xi32>
    nest.yield %mac : tensor<1x{g}x{p}x{q}xi32>
  }}
  func.return %y : tensor<1x{g}x{p}x{q}xi32>
}}
"""


def band_of(g: int, p: int, q: int, step: int, target: str) -> Band:
    text = MODULE.format(g=g, p=p, q=q, step=step, rows=step * (p - 1) + 3, columns=step * (q - 1) + 3)
    module = Parser(make_context(), text).parse_module()
    (band,) = bands(module, pricer_of(load_target(target)), Constants.of(module))
    return band


@pytest.mark.parametrize("step", [1, 2])
def test_products_with_rows_of_taps_are_the_same(step: int):
    band = band_of(64, 28, 28, step, "cloud128")
    random = np.random.default_rng(0)
    taps, row = random.integers(-9, 9, (1, 1, 3, 3)), random.integers(0, 9, (3, step * (band.together - 1) + 3))
    weights = band.weights(taps)[0, 0]
    seen = row.shape[1]
    for k in range(band.together):
        found = sum(row[r, s] * weights[seen * r + s - step * k + band.lead] for r in range(3) for s in range(seen))
        assert found == (row[:, step * k : step * k + 3] * taps[0, 0]).sum()


@pytest.mark.parametrize("target", ["cloud128", "edge16"])
@pytest.mark.parametrize("step", [1, 2])
def test_no_number_of_neighbours_is_below_the_bound(target: str, step: int):
    band, machine = band_of(64, 28, 28, step, target), load_target(target)
    group = group_of(band.op)
    builder, shapes = NetworkBuilder(), [buffer.shape for buffer in group.buffers if buffer.is_input]
    assert isinstance(band.op, nest.GroupOp)
    held = builder.add_group(group, dict(zip("XW", (builder.add_tensor(s, 1) for s in shapes), strict=True)))
    terms = program_bound(builder.network([held[group.kernels[0].target.buffer]]), machine).terms
    least, pricer = terms["work of MXU"], pricer_of(machine)
    for count in (1, 2, 4, 7, 14, 28):
        other = band._replace(together=count)
        kernel = replace(band.row.kernel, statement=other.product()) if count > 1 else band.row.kernel
        extents = other.extents if count > 1 else band.op.extents
        fitting = pricer.matches(kernel)[0]
        assert pricer.tile_cycles(fitting, pricer.best(fitting, extents).dims, extents)[0] >= least

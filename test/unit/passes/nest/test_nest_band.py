from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from itertools import product

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.parser import Parser

from tilewright.backends.simulator import simulate
from tilewright.costs.bounds.program import program_bound
from tilewright.costs.bounds.program.network import NetworkBuilder
from tilewright.costs.mapping.binding import Pricer, pricer_of
from tilewright.dialects import nest
from tilewright.driver.lowering import Lowering
from tilewright.driver.models import load_model, make_context
from tilewright.driver.pipelines import SCHEDULE, CompileOptions, Room, pipeline_text
from tilewright.frontends.acg import load_target, parse_target, target_files
from tilewright.interpreters.constants import Constants
from tilewright.machine import Machine
from tilewright.passes.nest import nest_band
from tilewright.passes.nest.nest_band import Band, bands, row_of
from tilewright.passes.nest.trees import group_of

MODULE = """
func.func @main(%x: tensor<1x{g}x{rows}x{columns}xui8>) -> tensor<1x{g}x{p}x{q}xi32> {{
  %w = graph.weight @w = dense<{taps}> : tensor<{g}x1x{r}x{s}xsi8> : tensor<{g}x1x{r}x{s}xsi8>
  %b = graph.weight @b = dense<{bias}> : tensor<{g}xi32> : tensor<{g}xi32>
  %y = nest.group @dw dims {{{dims}}} ins(X = %x, W = %w, B = %b) -> tensor<1x{g}x{p}x{q}xi32> {{
  ^bb0(%X: tensor<1x{g}x{rows}x{columns}xui8>, %W: tensor<{g}x1x{r}x{s}xsi8>, %B: tensor<{g}xi32>):
    %bias = nest.kernel @bias "{made} = B[g]" (B = %B) : (tensor<{g}xi32>) -> tensor<1x{g}x{p}x{q}xi32>
    %mac = nest.kernel @mac "{made} += X[0, g, {row} - {pad}, {step} * q + s - {pad}] * W[g, 0, r, s]"
      (X = %X, W = %W){into}{padded} : (tensor<1x{g}x{rows}x{columns}xui8>, tensor<{g}x1x{r}x{s}xsi8>)
      -> tensor<1x{g}x{p}x{q}xi32>
    nest.yield %mac : tensor<1x{g}x{p}x{q}xi32>
  }}
  func.return %y : tensor<1x{g}x{p}x{q}xi32>
}}
"""
PADDING = 3
"""What is read around the map."""


@dataclass(frozen=True)
class Layer:
    """A depthwise convolution with `p` x `q` results, to which `bias` is added."""

    g: int
    p: int
    q: int
    step: int = 1
    kernel: tuple[int, int] = (3, 3)
    pad: int = 0
    bias: int = 0

    @property
    def given(self) -> tuple[int, ...]:
        rows, columns = (
            self.step * (n - 1) + k - 2 * self.pad for n, k in zip((self.p, self.q), self.kernel, strict=True)
        )
        return 1, self.g, rows, columns

    @property
    def taps(self) -> NDArray[np.int8]:
        return np.random.default_rng(0).integers(-9, 9, (self.g, 1, *self.kernel), dtype=np.int8)

    def module(self) -> ModuleOp:
        """A dim of one element does not stand in the text, as a front end has it."""
        r, s = self.kernel
        dims = {"g": self.g, "p": self.p, "q": self.q, "r": r, "s": s}
        one_row = self.p == 1
        module = MODULE
        if not self.bias:
            module = re.sub(r"\n.*(graph.weight @b|nest.kernel @bias).*", "", module)
            module = module.replace(", B = %b", "").replace(", %B: tensor<{g}xi32>", "")
        text = module.format(
            **dims,
            bias=self.bias,
            into=" into %bias" if self.bias else "",
            rows=self.given[2],
            columns=self.given[3],
            step=self.step,
            pad=self.pad,
            taps=self.taps.tolist(),
            dims=", ".join(f"{name} = {extent}" for name, extent in dims.items() if name != "p" or not one_row),
            made="Y[0, g, 0, q]" if one_row else "Y[0, g, p, q]",
            row="r" if one_row else f"{self.step} * p + r",
            padded=f" pad {{X = {PADDING}}}" if self.pad else "",
        )
        return Parser(make_context(), text).parse_module()

    def results(self, given: NDArray[np.uint8]) -> NDArray[np.int32]:
        around = [(0, 0), (0, 0), (self.pad, self.pad), (self.pad, self.pad)]
        padded = np.pad(given.astype(np.int32), around, constant_values=PADDING)
        windows = sliding_window_view(padded, self.kernel, (2, 3))[:, :, :: self.step, :: self.step]
        return np.einsum("ngpqrs,gzrs->ngpq", windows, self.taps.astype(np.int32)) + self.bias


def band_of(layer: Layer, machine: Machine) -> Band:
    module = layer.module()
    (band,) = bands(module, pricer_of(machine), Constants.of(module))
    return band


@pytest.mark.parametrize("step", [1, 2, 4])
@pytest.mark.parametrize("segment", [0, 3, 8, 9])
@pytest.mark.parametrize("together", [2, 7, 14])
def test_products_with_rows_of_taps_are_the_same(step: int, segment: int, together: int):
    module = Layer(64, 28, 28, step).module()
    (op,) = (op for op in module.walk() if isinstance(op, nest.GroupOp))
    row = row_of(group_of(op), op, Constants.of(module))
    assert row is not None
    band = Band(op, row, together, "k", segment=segment)
    random = np.random.default_rng(0)
    taps, seen = random.integers(1, 9, (1, 1, 3, 3)), random.integers(1, 9, (3, step * (together - 1) + 3))
    weights, found = band.weights(taps)[0, 0], np.zeros(together, np.int64)
    for part in band.segments:
        for k, r, s in product(range(part.first, part.last + 1), range(3), range(part.start, part.stop)):
            found[k] += seen[r, s] * weights[band.row_elements * r + s - step * k + band.lead]
    assert found.tolist() == [(seen[:, step * k : step * k + 3] * taps[0, 0]).sum() for k in range(together)]


def test_rows_of_many_neighbours_are_made_in_segments_that_fill_lanes():
    """14 results see 16 elements: arrays of 8 x 8 make 8 of them from 8 elements, twice."""
    layer, machine = Layer(64, 28, 28, bias=5), load_target("cocco_npu")
    band = band_of(layer, machine)
    assert (band.together, [(part.stop - part.start, part.last - part.first + 1) for part in band.segments]) == (
        14,
        [(8, 8), (8, 8)],
    )
    assert band_of(replace(layer, bias=0), machine).segment == 0  # results that are not there yet cannot be added to


def falling(target: str) -> Machine:
    """A target whose products take less time the more is summed up in lanes."""
    text, count = re.subn(
        r"cycles max\(ceildiv\(g.*?;",
        "cycles ceildiv(4096 * g * k * p * q * r * s, c * c);",
        target_files()[target].read_text(),
        count=1,
        flags=re.DOTALL,
    )
    assert count == 1
    return parse_target(text, target)


@pytest.mark.parametrize("machine_of", [load_target, falling])
@pytest.mark.parametrize("target", ["cloud128", "edge16"])
@pytest.mark.parametrize("layer", [Layer(64, 28, 28), Layer(64, 28, 28, 2), Layer(64, 1, 28), Layer(64, 1, 28, 2)])
def test_no_number_of_neighbours_is_below_the_bound(machine_of: Callable[[str], Machine], target: str, layer: Layer):
    """Results of one row have windows along it alone; where longer rows of taps cost less, zeros count as taps."""
    machine = machine_of(target)
    module = layer.module()
    (op,) = (op for op in module.walk() if isinstance(op, nest.GroupOp))
    group, row = group_of(op), row_of(group_of(op), op, Constants.of(module))
    assert row is not None
    builder, shapes = NetworkBuilder(), [buffer.shape for buffer in group.buffers if buffer.is_input]
    held = builder.add_group(group, dict(zip("XW", (builder.add_tensor(s, 1) for s in shapes), strict=True)))
    terms = program_bound(builder.network([held[group.kernels[0].target.buffer]]), machine).terms
    least, pricer = terms["work of MXU"], pricer_of(machine)
    for count in (1, 2, 4, 7, 14, 28):
        other = Band(op, row, count, "k")
        kernel = replace(row.kernel, statement=other.products()[0]) if count > 1 else row.kernel
        extents = other.extents if count > 1 else op.extents
        fitting = pricer.matches(kernel)[0]
        assert pricer.tile_cycles(fitting, pricer.best(fitting, extents).dims, extents)[0] >= least


@pytest.mark.parametrize("target", ["cocco_npu", "edge16", "cloud128"])
@pytest.mark.parametrize("step", [1, 2])
def test_no_segments_are_below_the_bound(target: str, step: int):
    machine, layer = load_target(target), Layer(64, 28, 28, step, bias=1)
    module = layer.module()
    (op,) = (op for op in module.walk() if isinstance(op, nest.GroupOp))
    group, row = group_of(op), row_of(group_of(op), op, Constants.of(module))
    assert row is not None
    builder, shapes = NetworkBuilder(), [buffer.shape for buffer in group.buffers if buffer.is_input]
    held = builder.add_group(group, dict(zip("XWB", (builder.add_tensor(s, 1) for s in shapes), strict=True)))
    network, pricer = builder.network([held[group.kernels[-1].target.buffer]]), pricer_of(machine)
    least = program_bound(network, machine).terms["work of MXU"]
    for count, segment in product((2, 4, 7, 14, 28), (3, 4, 7, 8, 16, 32)):
        other = Band(op, row, count, "k", segment=segment)
        kernels = [replace(row.kernel, statement=statement) for statement in other.products()]
        found = [(kernel, pricer.matches(kernel)[0]) for kernel in kernels]
        ways = [(fitting, pricer.best(fitting, other.extents).dims) for _, fitting in found]
        assert sum(pricer.tile_cycles(*way, other.extents)[0] for way in ways) >= least


@pytest.mark.parametrize(
    "layer",
    [
        Layer(3, 4, 6),
        Layer(20, 3, 8, 2, (3, 3), 1),
        Layer(5, 2, 6, 3, (2, 5)),
        Layer(2, 5, 4, 1, (5, 3), 1),
        Layer(7, 1, 6),
        Layer(1, 6, 6, 2, (1, 4)),
        Layer(9, 4, 14, 1, (3, 3), 1, bias=7),
        Layer(20, 3, 8, 2, (3, 3), 1, bias=-7),
        Layer(2, 5, 4, 3, (5, 2), 1, bias=1),
    ],
)
@pytest.mark.parametrize("target", ["cloud128", "cocco_npu"])
def test_every_number_of_neighbours_in_programs(layer: Layer, target: str, monkeypatch: pytest.MonkeyPatch):
    """Outputs are those of NumPy to the bit, and cycles as predicted, and at or above the bound of all programs."""
    options, module = CompileOptions(partition=SCHEDULE, prove=False), layer.module()
    given = np.random.default_rng(1).integers(0, 255, layer.given, dtype=np.uint8)
    counts = (n for n in range(2, layer.q + 1) if layer.q % n == 0)
    for count, segment in product(counts, (0, 3, 8) if layer.bias else (0,)):

        def forced(
            op: ModuleOp, _: Pricer, constants: Constants, count: int = count, segment: int = segment
        ) -> Iterator[Band]:
            (group,) = (one for one in op.walk() if isinstance(one, nest.GroupOp))
            row = row_of(group_of(group), group, constants)
            assert row is not None
            yield Band(group, row, count, "k", segment=segment)

        monkeypatch.setattr(nest_band, "bands", forced)
        lowering = Lowering(load_model(module), options, None, "layer")
        program = lowering.program(pipeline_text(target, options, room=Room(band=True)), recorded=False)
        (name,) = (tensor.name for tensor in program.tensors if tensor.role == "input")
        run = simulate(program, {name: given})
        (found,) = run.outputs.values()
        np.testing.assert_array_equal(found, layer.results(given))
        assert run.cycles == program.predicted["cycles"] >= program.lower_bound["cycles"]
        assert run.energy_pj >= program.lower_bound["energy_pj"]

"""The `dram` dialect: when every byte moves between DRAM and the chip, in the tensor-centric notation of SoMa.

J. Cai et al., "SoMa", HPCA 2025, section IV.  A network is a table of layers; a schedule of it has all six attributes
of the notation: computing order (of the layers as they are listed), DRAM cuts (between layer groups), fine-grained cuts
(between fused groups) with tiling numbers, DRAM tensor order (of the transfers as they are listed), and the living
duration of each DRAM tensor, in positions of tiles.

    dram.network @pair {
      dram.input "x" 3x8x8
      dram.layer "a" conv 16x8x8 of ["x"] kernel 3x3
      dram.layer "b" pool 16x4x4 of ["a"] kernel 2x2 stride 2x2
    }
    dram.schedule @s of @pair batch 1 on <side 4, macs 512, ...> {
      dram.layer_group {
        dram.fused_group tiles 2 ["a", "b"]
      }
      dram.transfers {
        load "a" weights during [-1, 3)
        load "a" tile 0 from "x" during [-1, 1)
        ...
        store "b" tile 1 during [3, 4)
      }
    }

Position -1 comes before all tiles.  A load may begin once the tile before its life is done; a store must be complete
before the tile at its life's end begins.  Where layers and inputs have one name, `of` and `from` mean the layer.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    FlatSymbolRefAttrConstr,
    IntegerAttr,
    StringAttr,
    SymbolNameConstraint,
    TensorType,
    UnitAttr,
    i64,
)
from xdsl.ir import Block, Dialect, Operation, Region
from xdsl.irdl import IRDLOperation, irdl_op_definition, lazy_traits_def, opt_prop_def, prop_def, region_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsolatedFromAbove, NoTerminator, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from . import dram_rules as rules
from . import dram_syntax as syntax
from .dram_syntax import MOST, Extents, IntsConstr, MachineAttr, MachineNumbers, Names, Row, Window, numbers
from .properties import PlainOp
from .syntax import Body, Count, Counts, Word


@irdl_op_definition
class InputOp(PlainOp):
    """A feature map that DRAM holds: channels x height x width of one sample, one byte each: `dram.input "x" 3x8x8`."""

    name = "dram.input"
    sym_name = prop_def(StringAttr)
    shape = prop_def(IntsConstr)
    traits = lazy_traits_def(lambda: (HasParent(NetworkOp),))
    custom_directives = (Extents,)
    assembly_format = "$sym_name custom<Extents>($shape) attr-dict-with-keyword"

    def __init__(self, name: str, shape: Sequence[int]) -> None:
        super().__init__(sym_name=name, shape=shape)


@irdl_op_definition
class LayerOp(PlainOp):
    """A layer: its kind, its result, and whose feature maps, concatenated along channels, it reads.

    `weights` are layers whose result it uses as weights (attention); `groups`, `operands` (equal parts of the
    concatenation that an `eltwise` adds) and `permute` (axis i of the result is axis `permute[i]` of the input) are 1,
    1 and [0, 1, 2] where not said.

        dram.layer "a" conv 16x8x8 of ["x"] kernel 3x3 stride 1x1
    """

    name = "dram.layer"
    sym_name = prop_def(StringAttr)
    kind = prop_def(StringAttr)
    shape = prop_def(IntsConstr)
    inputs = prop_def(ArrayAttr[StringAttr])
    weights = prop_def(ArrayAttr[StringAttr], default_value=ArrayAttr[StringAttr](()))
    kernel = prop_def(IntsConstr, default_value=numbers((1, 1)))
    stride = prop_def(IntsConstr, default_value=numbers((1, 1)))
    groups = prop_def(IntegerAttr, default_value=IntegerAttr(1, i64))
    operands_count = prop_def(IntegerAttr, default_value=IntegerAttr(1, i64))
    permutation = prop_def(IntsConstr, default_value=numbers((0, 1, 2)))
    traits = lazy_traits_def(lambda: (HasParent(NetworkOp),))
    custom_directives = (Word, Extents, Names, Window, Count, Counts)
    assembly_format = (
        "$sym_name custom<Word>($kind) custom<Extents>($shape) `of` custom<Names>($inputs) "
        "(`weights` custom<Names>($weights)^)? (`kernel` custom<Window>($kernel)^)? "
        "(`stride` custom<Window>($stride)^)? (`groups` custom<Count>($groups)^)? "
        "(`operands` custom<Count>($operands_count)^)? "
        "(`permute` custom<Counts>($permutation)^)? attr-dict-with-keyword"
    )

    def __init__(self, name: str, kind: str, shape: Sequence[int], **given: Any) -> None:
        super().__init__(sym_name=name, kind=kind, shape=shape, **{"inputs": (), **given})

    def verify_(self) -> None:
        rules.check_layer(self)


@irdl_op_definition
class NetworkOp(PlainOp):
    """Inputs and layers in a topological order; names are used once among layers, and once among inputs."""

    name = "dram.network"
    sym_name = prop_def(SymbolNameConstraint())
    body = region_def("single_block")
    traits = traits_def(SymbolOpInterface(), IsolatedFromAbove(), NoTerminator())
    custom_directives = (Body,)
    assembly_format = "$sym_name attr-dict-with-keyword custom<Body>($body)"

    def __init__(self, name: str, body: Sequence[Operation]) -> None:
        super().__init__(sym_name=name, regions=[Region(Block(body))])

    @property
    def inputs(self) -> list[InputOp]:
        """The inputs in order."""
        return [op for op in self.body.block.ops if isinstance(op, InputOp)]

    @property
    def layers(self) -> list[LayerOp]:
        """The layers in order."""
        return [op for op in self.body.block.ops if isinstance(op, LayerOp)]

    def verify_(self) -> None:
        rules.check_network(self)


@irdl_op_definition
class FusedGroupOp(PlainOp):
    """Layers that run tile by tile, in this order (an FLG): `dram.fused_group tiles 2 ["a", "b"]`.

    `streaming`: weights are loaded again for each tile.  `reused`: layers take from earlier fused groups of the layer
    group, and from their own tiles before, what these loaded from DRAM.
    """

    name = "dram.fused_group"
    tiles = prop_def(IntegerAttr)
    layers = prop_def(ArrayAttr[StringAttr])
    streaming = opt_prop_def(UnitAttr)
    reused = opt_prop_def(UnitAttr)
    traits = lazy_traits_def(lambda: (HasParent(LayerGroupOp),))
    custom_directives = (Count, Names)
    assembly_format = (
        "`tiles` custom<Count>($tiles) (`streaming` $streaming^)? (`reused` $reused^)? custom<Names>($layers) "
        "attr-dict-with-keyword"
    )

    def __init__(self, tiles: int, layers: Sequence[str], *, streaming: bool = False, reused: bool = False) -> None:
        super().__init__(tiles=tiles, layers=layers, streaming=streaming, reused=reused)

    def verify_(self) -> None:
        if not 1 <= self.tiles.value.data < MOST or not self.layers.data:
            raise VerifyException(f"expected a layer and a tile, found {len(self.layers)} and {self.tiles.value.data}")


@irdl_op_definition
class LayerGroupOp(IRDLOperation):
    """Fused groups between two DRAM cuts (an LG): what passes between them stays on chip."""

    name = "dram.layer_group"
    body = region_def("single_block")
    traits = lazy_traits_def(lambda: (HasParent(ScheduleOp), NoTerminator()))
    custom_directives = (Body,)
    assembly_format = "attr-dict-with-keyword custom<Body>($body)"

    def __init__(self, groups: Sequence[FusedGroupOp]) -> None:
        super().__init__(regions=[Region(Block(groups))])

    @property
    def fused_groups(self) -> list[FusedGroupOp]:
        """The fused groups in order."""
        return [op for op in self.body.block.ops if isinstance(op, FusedGroupOp)]

    def verify_(self) -> None:
        if not self.fused_groups or len(self.fused_groups) != len(list(self.body.block.ops)):
            raise VerifyException("expected fused groups, and nothing else, in a layer group")


@irdl_op_definition
class TransfersOp(PlainOp):
    """Tensors that pass through DRAM, in the order of the channel, packed in rows.

    `layer_names` and `input_names` are what rows count in.
    """

    name = "dram.transfers"
    layer_names = prop_def(ArrayAttr[StringAttr])
    input_names = prop_def(ArrayAttr[StringAttr])
    packed = prop_def(DenseIntOrFPElementsAttr)
    traits = lazy_traits_def(lambda: (HasParent(ScheduleOp),))

    def __init__(self, layers: Sequence[str], inputs: Sequence[str], rows: Sequence[Row]) -> None:
        data = np.array(rows, np.int64).reshape(-1)
        packed = DenseIntOrFPElementsAttr(TensorType(i64, [len(data)]), BytesAttr(data.tobytes()))
        super().__init__(layer_names=layers, input_names=inputs, packed=packed)

    @property
    def rows(self) -> list[Row]:
        """The rows in order; ValueError where one is cut short."""
        return [
            Row(*row) for row in np.frombuffer(self.packed.data.data, np.int64).reshape(-1, len(Row._fields)).tolist()
        ]

    @classmethod
    def parse(cls, parser: Parser) -> "TransfersOp":
        return cls(*syntax.parse_rows(parser))

    def print(self, printer: Printer) -> None:
        syntax.print_rows(self, printer)

    def verify_(self) -> None:
        rules.check_rows(self)


@irdl_op_definition
class ScheduleOp(PlainOp):
    """A schedule of `network` for `batch` samples on `machine`; see the dialect's text."""

    name = "dram.schedule"
    sym_name = prop_def(SymbolNameConstraint())
    network = prop_def(FlatSymbolRefAttrConstr)
    batch = prop_def(IntegerAttr)
    machine = prop_def(MachineAttr)
    body = region_def("single_block")
    traits = traits_def(SymbolOpInterface(), IsolatedFromAbove(), NoTerminator())
    custom_directives = (Count, Body)
    assembly_format = (
        "$sym_name `of` $network `batch` custom<Count>($batch) `on` $machine attr-dict-with-keyword custom<Body>($body)"
    )

    def __init__(self, name: str, network: str, batch: int, machine: MachineNumbers, body: Sequence[Operation]) -> None:
        regions = [Region(Block(body))]
        super().__init__(sym_name=name, network=network, batch=batch, machine=machine, regions=regions)

    @property
    def layer_groups(self) -> list[LayerGroupOp]:
        """The layer groups in order."""
        return [op for op in self.body.block.ops if isinstance(op, LayerGroupOp)]

    @property
    def transfers(self) -> TransfersOp | None:
        """The transfers, if they are decided."""
        return next((op for op in self.body.block.ops if isinstance(op, TransfersOp)), None)

    @property
    def scheduled(self) -> NetworkOp:
        """The network; VerifyException where the module has none of that name."""
        return rules.network_of(self)

    def verify_(self) -> None:
        rules.check_schedule(self)


Dram = Dialect(
    "dram", [InputOp, LayerOp, NetworkOp, FusedGroupOp, LayerGroupOp, TransfersOp, ScheduleOp], [MachineAttr]
)

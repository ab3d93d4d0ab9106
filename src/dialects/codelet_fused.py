"""Operations of the `codelet` dialect for groups of layers that run tile by tile on chip (Cocco, section 3).

The maps of such a group are tensors on chip that keep only some rows: `ring [1, 0, 5, 0]` says that one sample and five
rows of the third axis are there, row r in the place of row r mod 5 (0: the whole axis).  `codelet.fused` says in which
order its codelets make rows:

    %r = codelet.tensor "MAIN of a" temp ring [1, 0, 3, 0] at 0 : !codelet.surrogate<1x8x32x32xi8, @GBUF>
    codelet.fused @group updates dense<[[0, 0, 0, 2], [1, 0, 0, 1], ...]> : tensor<9x4xi64>
        samples ["n", "n"] rows ["h", "p"] {
      codelet.codelet @load dims {c = 8, h = 32, w = 32} (%X = %x : ..., %R = %r : ...) {
        codelet.transfer %X -> %R over "X[0, c, h, w]" : ...
      }
      codelet.codelet @pool dims {c = 8, p = 32, q = 32, r = 3, s = 3} (...) { ... }
    }
"""

from collections.abc import Iterator, Sequence

import numpy as np
from xdsl.dialects.builtin import (
    ArrayAttr,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    StringAttr,
    SymbolNameConstraint,
    TensorType,
    i64,
)
from xdsl.ir import Operation, Region, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, opt_prop_def, prop_def, region_def, traits_def
from xdsl.traits import NoTerminator, SymbolOpInterface

from ..algebra.affine import Range
from .codelet_attributes import SurrogateType
from .properties import PlainOp, RuledOp
from .syntax import Body, Count, Word


@irdl_op_definition
class PartOp(PlainOp):
    """Runs its body once with iterations `start` to `stop` (exclusive) of `dim`, which no loop around it cuts."""

    name = "codelet.part"
    dim = prop_def(StringAttr)
    start = prop_def(IntegerAttr)
    stop = prop_def(IntegerAttr)
    body = region_def("single_block")
    traits = traits_def(NoTerminator())
    custom_directives = (Word, Count, Body)
    assembly_format = (
        "custom<Word>($dim) `from` custom<Count>($start) `to` custom<Count>($stop) "
        "attr-dict-with-keyword custom<Body>($body)"
    )

    def __init__(self, dim: str, start: int, stop: int, body: Region) -> None:
        super().__init__(dim=dim, start=start, stop=stop, regions=[body])

    @property
    def extent(self) -> int:
        """Iterations of the part."""
        return self.stop.value.data - self.start.value.data


@irdl_op_definition
class FillOp(RuledOp):
    """Sets all elements of a tensor on chip to a value.

    codelet.fill %z with -3 : i8 : !codelet.surrogate<1xi8, @GBUF>
    """

    name = "codelet.fill"
    target = operand_def(SurrogateType)
    value = prop_def(IntegerAttr | FloatAttr)
    assembly_format = "$target `with` $value attr-dict `:` type($target)"

    def __init__(self, target: SSAValue, value: IntegerAttr | FloatAttr) -> None:
        super().__init__(operands=[target], properties={"value": value})


@irdl_op_definition
class FusedOp(PlainOp):
    """Codelets that take turns, some rows of some sample at a time.

    Row u of `updates` is (codelet by number, sample, first row, rows); the turn runs that codelet with these iterations
    of the dims that `samples` and `rows` name for it ("": the codelet has none, and does all).  With `columns`, which
    names dims in the same way, (first column, columns) follow in each row of `updates`.
    """

    name = "codelet.fused"
    sym_name = prop_def(SymbolNameConstraint())
    updates = prop_def(DenseIntOrFPElementsAttr)
    samples = prop_def(ArrayAttr[StringAttr])
    rows = prop_def(ArrayAttr[StringAttr])
    columns = opt_prop_def(ArrayAttr[StringAttr])
    body = region_def("single_block")
    traits = traits_def(NoTerminator(), SymbolOpInterface())
    assembly_format = (
        "$sym_name `updates` $updates `samples` $samples `rows` $rows (`columns` $columns^)? "
        "attr-dict-with-keyword $body"
    )

    def __init__(
        self,
        name: str,
        updates: Sequence[Sequence[int]],
        samples: Sequence[str],
        rows: Sequence[str],
        body: Region,
        columns: Sequence[str] | None = None,
    ) -> None:
        table = np.array(updates, np.int64).reshape(-1, 4 if columns is None else 6)
        packed = DenseIntOrFPElementsAttr(TensorType(i64, table.shape), BytesAttr(table.tobytes()))
        super().__init__(sym_name=name, updates=packed, samples=samples, rows=rows, columns=columns, regions=[body])

    @property
    def codelets(self) -> list[Operation]:
        """The codelets, in the order of their numbers."""
        return list(self.body.block.ops)

    @property
    def turns(self) -> list[list[int]]:
        """The updates in order: codelet, sample, first row, rows, and first column, columns where there are these."""
        width = 4 if self.columns is None else 6
        return np.frombuffer(self.updates.data.data, np.int64).reshape(-1, width).tolist()

    def ranges(self) -> Iterator[tuple[int, dict[str, Range]]]:
        """Each turn's codelet by number, and what its sample, row and column dims range over."""
        samples, rows = [dim.data for dim in self.samples], [dim.data for dim in self.rows]
        columns = None if self.columns is None else [dim.data for dim in self.columns]
        for number, sample, first, count, *across in self.turns:
            found: dict[str, Range] = {}
            if samples[number]:
                found[samples[number]] = Range(sample, 1)
            if rows[number]:
                found[rows[number]] = Range(first, count)
            if columns is not None and columns[number]:
                found[columns[number]] = Range(*across)
            yield number, found

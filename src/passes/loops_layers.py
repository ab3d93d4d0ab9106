"""A nest group as a layer of a machine of loops: places of its tensors, and what follows its sum."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

from ..algebra.expr import Access
from ..algebra.statement import tensors_of
from ..backends.loops.places import Epilogue, Operation, Rows, SumLayer, VectorLayer
from ..dialects import nest
from ..errors import TilewrightError
from ..search.tiles import Loop, SumProblem
from .loops_epilogue import Chain, EpilogueBuilder, Leaf
from .loops_folding import channels_of, window_weights, windows
from .loops_forms import ROWS, Form, SumForm, form_of, forms, sum_form, unsupported
from .loops_tensors import Stored, batch_pitch, input_rows, output_rows

if TYPE_CHECKING:
    from .loops_program import LoopsProgram

FOLDS = {"max=": "max(A, B)", "min=": "min(A, B)", "+=": "A + B"}


class LayerBuilder:
    """Reads one group."""

    def __init__(self, program: LoopsProgram, group: nest.GroupOp) -> None:
        self.program, self.group = program, group
        self.extents = group.extents
        self.outside: dict[SSAValue, SSAValue] = dict(zip(group.body.block.args, group.inputs, strict=True))
        self.kernels = list(group.kernels)
        if len(group.results) != 1:
            raise unsupported(self.kernels[0], "a group with one result", f"{len(group.results)}")
        self.result = group.results[0]
        self.chain: set[SSAValue] = set()
        self.named: dict[str, SSAValue] = {}
        self.lane = ""
        self.output_form = forms(self.kernels[-1])[0]

    def build(self) -> SumLayer | VectorLayer:
        """The layer; `TilewrightError` for groups that are none."""
        sums = [i for i, kernel in enumerate(self.kernels) if kernel.statement.data.reduce != "="]
        products = [i for i in sums if not isinstance(self.kernels[i].statement.data.value, Access)]
        if products:
            return self._sum_layer(products[0])
        return self._vector_layer(sums[0] if sums else -1)

    def _sum_layer(self, at: int) -> SumLayer:
        kernel = self.kernels[at]
        self.program.target.check_columns()
        form = sum_form(kernel, self.extents)
        given, weight = (self.outside[kernel.operands_by_name[f.name]] for f in (form.input, form.weight))
        lanes = self.program.table.lanes
        n = -(-form.width(self.extents) // lanes)
        for dim in form.columns[:-1]:
            n *= self.extents[dim]
        k = -(-self.extents[form.summed] // lanes)
        x = form.loops["x"]
        channels = channels_of(self.program, form, given, weight, self.extents[form.summed])
        if channels:
            rows = windows(self.program, form, given, channels)
            blocks = window_weights(self.program, form, weight, channels, self.extents)
            x = Loop(x.extent)
        else:
            rows = input_rows(form, self.program.place(given), self.extents)
            blocks = self._weights(form, weight)
        bias = self._bias(kernel, at, form, n)
        self.lane = form.columns[-1] if form.columns else ""
        self.chain = {kernel.result}
        bound = self._bound(kernel, form, weight, at)
        epilogue = self._epilogue(self.kernels[at + 1 :], Chain(bound), n)
        if epilogue is None:
            self._narrow(form, n)
        output = output_rows(form, self.program.place(self.result), self.extents)
        batch = 1
        for dim in form.batch:
            batch *= self.extents[dim]
        vector = len(epilogue.operations) if epilogue is not None else 0
        problem = SumProblem(
            batch,
            n,
            form.loops["y"],
            x,
            k,
            lanes,
            blocks.row_bytes,
            output.row_bytes,
            vector_cycles=vector,
        )
        return SumLayer(self.group.sym_name.data, problem, rows, blocks, output, bias, epilogue)

    def _narrow(self, form: SumForm, n: int) -> None:
        """Places a result of one row with few columns in as few granules as hold it."""
        program, width = self.program, form.width(self.extents)
        memory = program.target.roles["output"]
        words = program.target.granule(memory) // 4
        rows = form.loops["y"].extent * form.loops["x"].extent
        small = -(-width // words) * words
        if n == rows == 1 and not form.batch and small < program.table.lanes and self.result in program.outputs:
            name, role = program.name_of(self.result)
            shape = cast(TensorType, self.result.type).get_shape()
            none = ((0, 0),) * len(shape)
            program.places[self.result] = program.table.rows(
                name, role, program.dtype(self.result), shape, none, None, small
            )

    def _weights(self, form: SumForm, value: SSAValue) -> Rows:
        program = self.program
        if value in program.places or isinstance(value.owner, nest.GroupOp):
            return self._rows_as_blocks(form, program.place(value))
        name, role = program.name_of(value)
        constant = program.constant(value)
        if constant is not None:
            program.weights[name] = constant
        shape = cast(TensorType, value.type).get_shape()
        return program.table.blocks(name, role, program.dtype(value), shape, form)

    def _rows_as_blocks(self, form: SumForm, place: Stored) -> Rows:
        """Activations as weights: columns are rows of lanes, one after another."""
        weight = form.weight
        lanes, column = place.lanes, place.pitch(weight, form.columns[-1])
        if place.lane != weight.axis_of(form.summed) or len(form.columns) != 1:
            raise unsupported(self.kernels[0], f"sums of {weight.name} over axis {place.lane}", form.summed)
        if column != place.row_bytes or self.extents[form.columns[-1]] % lanes:
            raise unsupported(self.kernels[0], f"whole blocks of {lanes} columns next to each other", "others")
        batch = batch_pitch(
            weight.name, [place.pitch(weight, d) for d in form.batch], [self.extents[d] for d in form.batch]
        )
        pitches = {"k": place.pitches[place.lane], "n": lanes * column, "batch": batch}
        return Rows(place.start(weight), pitches, lanes * column)

    def _bias(self, kernel: nest.KernelOp, at: int, form: SumForm, n: int) -> Rows | None:
        """The rows that sums start from: of kernels before the sum."""
        if kernel.init is None:
            return None
        init = [k for k in self.kernels[:at] if k.result is kernel.init]
        others = forms(init[0])[1:] if init else []
        if not init or len(others) != 1 or not isinstance(init[0].statement.data.value, Access):
            raise unsupported(kernel, "sums that start from a tensor of columns", "others")
        value = self.outside[init[0].operands_by_name[others[0].name]]
        constant = self.program.constant(value)
        if constant is None or others[0].dims - set(form.columns):
            raise unsupported(kernel, "a constant bias of columns", "another")
        return self.program.table.constant(
            f"{self.group.sym_name.data}.bias", self._columns(others[0], constant, form.columns), n
        )

    def _columns(self, form: Form, values: NDArray[np.int64], columns: tuple[str, ...]) -> NDArray[np.int64]:
        """A constant for each column, in the order of the rows of lanes; lanes without a column have the last one's."""
        lanes = self.program.table.lanes
        sizes = [self.extents[dim] for dim in columns]
        grid = np.indices(sizes)
        index = tuple(
            sum((axis.coefficient(d) * grid[i] for i, d in enumerate(columns)), np.full(sizes, axis.const))
            for axis in form.axes
        )
        found = np.broadcast_to(np.asarray(values, np.int64)[index] if index else values, sizes)
        unused = [(0, 0)] * len(sizes[:-1]) + [(0, -sizes[-1] % lanes)] if sizes else []
        return np.pad(found, unused, mode="edge").reshape(-1)

    def _bound(self, kernel: nest.KernelOp, form: SumForm, weight: SSAValue, at: int) -> NDArray[np.int64]:
        """What no sum exceeds in magnitude: the weights' and bias' magnitudes, or the types' alone."""
        points = 1
        for dim in form.weight.dims - set(form.columns) - set(form.batch):
            points *= self.extents[dim]
        largest = points * 128 * 128
        constant = self.program.constant(weight)
        if constant is not None:
            axes = tuple(i for i, axis in enumerate(form.weight.axes) if not set(axis.names) & set(form.columns))
            largest = int(np.abs(constant.astype(np.int64)).sum(axis=axes).max()) * 128
        if kernel.init is not None:
            init = next(k for k in self.kernels[:at] if k.result is kernel.init)
            value = self.program.constant(self.outside[init.operands_by_name[forms(init)[1].name]])
            largest += int(np.abs(np.asarray(value, np.int64)).max()) if value is not None else 0
        return np.array([largest], np.int64)

    def _epilogue(self, kernels: list[nest.KernelOp], chain: Chain, n: int) -> Epilogue | None:
        """What follows the first value of a chain."""
        builder = EpilogueBuilder(chain, self._leaf)
        for kernel in kernels:
            builder.take(kernel)
            self.chain.add(kernel.result)
        width = 8 * self.program.dtype(self.result).itemsize
        if not chain.operations and width == 32:
            return None
        name = self.group.sym_name.data
        vectors = tuple(self.program.table.constant(f"{name}.factors", v, n) for v in chain.vectors)
        tensors = tuple(self._tensor(name_, form) for name_, form in chain.tensors)
        operations = chain.operations or [Operation("A", "sum")]
        return Epilogue(tuple(operations), vectors, tensors, width)

    def _leaf(self, kernel: nest.KernelOp, access: Access) -> Leaf:
        value = kernel.operands_by_name[access.tensor]
        form = form_of(access)
        if value in self.chain:
            return "chain", form
        outside = self.outside.get(value)
        if outside is None:
            raise unsupported(kernel, "values of one chain", f"{access.tensor}")
        constant = self.program.constant(outside)
        if constant is not None and constant.dtype.kind in "iu" and form.dims <= {self.lane}:
            if constant.size == 1:
                return "number", int(constant.reshape(-1)[0])
            return "vector", self._columns(form, constant, (self.lane,))
        self.named[access.tensor] = outside
        return "tensor", form

    def _tensor(self, name: str, form: Form) -> tuple[Rows, int]:
        value = self.named[name]
        return self._rows(form, self.program.place(value)), 8 * self.program.dtype(value).itemsize

    def _slots(self) -> dict[str, str]:
        """The dims of a group without a sum of products: lanes, and rows of the result from the innermost on."""
        place = self.program.place(self.result)
        dims = [axis.names[0] if axis.names else "" for axis in self.output_form.axes]
        slots = {"n": dims[place.lane]} if dims[place.lane] else {}
        others = [(place.pitches[i], dim) for i, dim in enumerate(dims) if i != place.lane and dim]
        ordered = [dim for _, dim in sorted(others)]
        slots |= dict(zip(("x", "y", "batch"), ordered, strict=False))
        if len(ordered) > 3:
            raise unsupported(self.kernels[-1], "at most three dims of rows", f"{len(ordered)}")
        return slots

    def _rows(self, form: Form, place: Stored) -> Rows:
        """A tensor by the slots of the result."""
        slots = self._slots()
        if place.lane != form.axis_of(slots.get("n", "")) and "n" in slots:
            raise unsupported(self.kernels[-1], f"axis {place.lane} of {form.name} over lanes", slots["n"])
        pitches = {slot: place.pitch(form, dim) for slot, dim in slots.items()}
        pitches["n"] = place.pitches[place.lane]
        return Rows(place.start(form), pitches, place.row_bytes)

    def _vector_layer(self, at: int) -> VectorLayer:
        kernel = self.kernels[max(at, 0)]
        if at > 0 or (kernel.init is not None and len(self.kernels) > 1):
            raise unsupported(kernel, "a pool or an elementwise statement first", "another")
        slots = self._slots()
        self.lane = slots.get("n", "")
        lanes = self.program.table.lanes
        if at == 0:
            if not isinstance(kernel.statement.data.value, Access):
                raise unsupported(kernel, "elements as they are, or products of two tensors", "another value")
            form, fold = forms(kernel)[1], FOLDS[kernel.statement.data.reduce]
            rest = self.kernels[1:]
            self.chain.add(kernel.result)
        else:
            form, fold, rest = self._first(kernel), "A", self.kernels
        value = self.outside[kernel.operands_by_name[form.name]]
        place = self.program.place(value)
        n = -(-self.extents[self.lane] // lanes) if self.lane else 1
        bound = 1 << (8 * self.program.dtype(value).itemsize - 1)
        loops = {slot: self._taps(kernel, form, slots.get(slot), used) for slot, used in zip(ROWS, (0, 1), strict=True)}
        points = loops["y"].taps * loops["x"].taps
        chain = Chain(np.array([bound * points if fold == FOLDS["+="] else bound], np.int64))
        epilogue = self._epilogue(rest, chain, n) or Epilogue((), (), (), 32)
        rows = self._input(form, place, slots, loops)
        extents = {slot: self.extents[slots[slot]] if slot in slots else 1 for slot in ("batch", "y", "x")}
        output = self._rows(self.output_form, self.program.place(self.result))
        width = 8 * self.program.dtype(value).itemsize
        return VectorLayer(
            self.group.sym_name.data, extents | {"n": n}, loops["y"], loops["x"], rows, width, fold, output, epilogue
        )

    def _first(self, kernel: nest.KernelOp) -> Form:
        """The tensor that an elementwise group begins with: the first that is no constant."""
        for form in forms(kernel)[1:]:
            value = self.outside.get(kernel.operands_by_name[form.name])
            if value is not None and self.program.constant(value) is None:
                self.chain = {kernel.operands_by_name[form.name]}
                return form
        raise unsupported(kernel, "an elementwise statement of a tensor", str(tensors_of(kernel.statement.data)))

    def _tap_dims(self, form: Form, row: str | None) -> list[str]:
        """Dims that are folded along the axis of a row."""
        rows = self.output_form.dims
        for axis in form.axes:
            if row is not None and row in axis.names:
                return [dim for dim in axis.names if dim not in rows]
        return []

    def _alone(self, form: Form) -> list[str]:
        """Dims that are folded along axes of their own."""
        return [
            axis.names[0] for axis in form.axes if len(axis.names) == 1 and axis.names[0] not in self.output_form.dims
        ]

    def _taps(self, kernel: nest.KernelOp, form: Form, row: str | None, used: int) -> Loop:
        if row is None:
            alone = self._alone(form)
            return Loop(1, 1, self.extents[alone[used]]) if used < len(alone) else Loop(1)
        axis = next(axis for axis in form.axes if row in axis.names)
        taps = self._tap_dims(form, row)
        if len(taps) > 1 or (taps and axis.coefficient(taps[0]) != 1):
            raise unsupported(kernel, "taps next to each other", f"{axis}")
        return Loop(self.extents[row], axis.coefficient(row), self.extents[taps[0]] if taps else 1)

    def _input(self, form: Form, place: Stored, slots: dict[str, str], loops: dict[str, Loop]) -> Rows:
        if self.lane and form.axis_of(self.lane) != place.lane:
            found = f"`{self.lane}` along axis {form.axis_of(self.lane)}"
            raise TilewrightError("unsupported", form.name, f"lanes along axis {place.lane}, as they lie", found)
        pitches = {slot: place.pitch(form, dim) for slot, dim in slots.items()}
        pitches["n"] = place.pitches[place.lane]
        alone = self._alone(form)
        for number, slot in enumerate(ROWS):
            if slot not in slots and loops[slot].taps > 1:
                pitches[slot] = place.pitch(form, alone[number])
        return Rows(place.start(form), pitches, place.row_bytes)

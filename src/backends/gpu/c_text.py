"""Kernels of the `gpu` dialect as C: OpenCL's or CUDA's, with the operations of `scf`, `memref` and `arith` in them."""

import math
from collections.abc import Iterator, Sequence

from xdsl.dialects import arith, gpu, memref, scf, vector
from xdsl.dialects.builtin import (
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    Float16Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    MemRefType,
    VectorType,
)
from xdsl.ir import Block, Operation, SSAValue

from ...dialects import warp
from ...errors import TilewrightError
from .languages import Language, identifier

INFIX: dict[type[Operation], str] = {
    arith.AddiOp: "+",
    arith.MuliOp: "*",
    arith.AddfOp: "+",
    arith.MulfOp: "*",
    arith.DivUIOp: "/",
    arith.RemUIOp: "%",
    arith.AndIOp: "&&",
    arith.OrIOp: "||",
}
COMPARED = {0: "==", 1: "!=", 2: "<", 3: "<=", 4: ">", 5: ">="}
"""Operators by the number of a comparison's predicate."""

UNROLLED = "unrolled"


def c_text(kernel: gpu.FuncOp, language: Language) -> str:
    """The source of a kernel, complete: types, conversions, the function.

    Arithmetic of indices is that of `int`; operations without effects stand where they are used if that is one place.
    Raises `TilewrightError` (kind `unsupported`) for other operations.
    """
    return "\n".join(_Text(language).function(kernel)) + "\n"


class _Text:
    """Names and expressions of the values of a kernel."""

    def __init__(self, language: Language) -> None:
        self._language = language
        self._text: dict[SSAValue, str] = {}
        self._taken: set[str] = set()

    def function(self, kernel: gpu.FuncOp) -> Iterator[str]:
        block = kernel.body.block
        written = {op.memref for op in kernel.walk() if isinstance(op, memref.StoreOp)}
        arguments: list[str] = []
        for arg in block.args:
            assert isinstance(arg.type, MemRefType)
            kind = self._language.kind(arg.type.element_type)
            const = "" if arg in written else "const "
            arguments.append(self._language.pointer.format(const=const, kind=kind, name=self._name(arg, arg.name_hint)))
        sizes = kernel.known_block_size
        threads = sizes.get_values()[0] if isinstance(sizes, DenseArrayBase) else 1
        name = identifier(kernel.sym_name.data)
        body = list(self._block(block, "  "))
        if any("half_" in text for text in (*arguments, *body)):
            yield self._language.prelude
        if any("_fragment " in text for text in body):
            yield self._language.fragments
        yield self._language.head.format(threads=threads, name=name, arguments=", ".join(arguments)) + " {"
        yield from body
        yield "}"

    def _name(self, value: SSAValue, hint: str | None = None) -> str:
        start = identifier(hint) if hint else "v"
        name = start if hint and start not in self._taken else f"{start}{len(self._taken)}"
        self._taken.add(name)
        self._text[value] = name
        return name

    def _block(self, block: Block, indent: str) -> Iterator[str]:
        for op in block.ops:
            for line in self._operation(op):
                yield line if line.startswith("#") else indent + line

    def _operation(self, op: Operation) -> Iterator[str]:
        match op:
            case arith.ConstantOp(value=IntegerAttr() as number):
                self._text[op.result] = str(number.value.data)
            case arith.ConstantOp(value=FloatAttr() as number):
                self._text[op.result] = self._float(number)
            case arith.ConstantOp(value=DenseIntOrFPElementsAttr()) if isinstance(op.result.type, VectorType):
                self._text[op.result] = self._language.vector(op.result.type)[1]
            case vector.LoadOp():
                kind = self._language.kind(op.result.type)
                yield f"const {kind} {self._name(op.result)} = {self._vector('const ', kind, op.base, op.indices)};"
            case vector.StoreOp():
                kind = self._language.kind(op.vector.type)
                yield f"{self._vector('', kind, op.base, op.indices)} = {self._text[op.vector]};"
            case memref.AllocaOp():
                yield self._array(op)
            case memref.LoadOp():
                kind = self._language.kind(op.res.type)
                element = self._element(op.memref, op.indices)
                yield f"const {kind} {self._name(op.res)} = {element};"
            case memref.StoreOp():
                yield f"{self._element(op.memref, op.indices)} = {self._text[op.value]};"
            case warp.ClearOp():
                yield f"clear(&{self._element(op.target, op.place)});"
            case warp.LoadOp():
                yield self._moved("load", op, (op.target, op.target_indices), (op.source, op.source_indices))
            case warp.StoreOp():
                yield self._moved("store", op, (op.source, op.source_indices), (op.target, op.target_indices))
            case warp.MultiplyOp():
                yield self._product(op)
            case gpu.BarrierOp():
                yield self._language.barrier
            case scf.ForOp():
                yield from self._loop(op)
            case scf.IfOp():
                yield from self._condition(op)
            case scf.YieldOp() | gpu.ReturnOp():
                return
            case _:
                yield from self._value(op)

    def _float(self, number: FloatAttr) -> str:  # pyright: ignore[reportMissingTypeArgument]
        value = float(number.value.data)
        if not math.isfinite(value):
            raise TilewrightError("unsupported", "a kernel", "finite numbers", str(value))
        return f"float_to_half({value!r}f)" if isinstance(number.type, Float16Type) else f"{value!r}f"

    def _array(self, op: memref.AllocaOp) -> str:
        kind = op.memref.type
        assert isinstance(kind, MemRefType)
        shared = isinstance(kind.memory_space, IntegerAttr)
        size = math.prod(kind.get_shape())
        name = self._name(op.memref, "staged" if shared else "held")
        where = f"{self._language.shared} " if shared else ""
        aligned = "" if op.alignment is None else self._language.aligned.format(bytes=op.alignment.value.data) + " "
        return f"{where}{aligned}{self._language.kind(kind.element_type)} {name}[{size}];"

    def _moved(
        self,
        way: str,
        op: warp.MoveOp,
        fragment: tuple[SSAValue, Sequence[SSAValue]],
        tile: tuple[SSAValue, Sequence[SSAValue]],
    ) -> str:
        """A fragment between registers and an array."""
        kind = fragment[0].type
        assert isinstance(kind, MemRefType)
        assert isinstance(kind.element_type, warp.FragmentType)
        columns = "false" if op.by_columns is None else "true"
        ends = f"&{self._element(*fragment)}, &{self._element(*tile)}"
        return f"{way}_{kind.element_type.role.data}({ends}, {op.leading.value.data}, {columns});"

    def _product(self, op: warp.MultiplyOp) -> str:
        columns = ["false" if flag is None else "true" for flag in (op.left_by_columns, op.right_by_columns)]
        left, right = self._element(op.left, op.left_place), self._element(op.right, op.right_place)
        return f"multiply(&{left}, {columns[0]}, &{right}, {columns[1]}, &{self._element(op.sums, op.sums_place)});"

    def _element(self, array: SSAValue, indices: Sequence[SSAValue]) -> str:
        assert isinstance(array.type, MemRefType)
        terms: list[str] = []
        stride = 1
        for index, extent in reversed(list(zip(indices, array.type.get_shape(), strict=True))):
            text = self._text[index]
            if text != "0":
                terms.append(text if stride == 1 else f"{text} * {stride}")
            stride *= extent
        return f"{self._text[array]}[{' + '.join(reversed(terms)) or '0'}]"

    def _vector(self, const: str, kind: str, array: SSAValue, indices: Sequence[SSAValue]) -> str:
        """Neighbouring elements of an array as one value."""
        assert isinstance(array.type, MemRefType)
        space = self._language.spaces[isinstance(array.type.memory_space, IntegerAttr)]
        return f"*({const}{space}{kind} *)&{self._element(array, indices)}"

    def _loop(self, op: scf.ForOp) -> Iterator[str]:
        language = self._language
        if UNROLLED in op.attributes:
            yield language.unroll
        start, end, step = (self._text[value] for value in (op.lb, op.ub, op.step))
        i = self._name(op.body.block.args[0], None)
        advance = f"++{i}" if step == "1" else f"{i} += {step}"
        yield f"for (int {i} = {start}; {i} < {end}; {advance}) {{"
        yield from self._block(op.body.block, "  ")
        yield "}"

    def _condition(self, op: scf.IfOp) -> Iterator[str]:
        for result in op.results:
            yield f"{self._language.kind(result.type)} {self._name(result)};"
        yield f"if ({self._text[op.cond]}) {{"
        yield from self._branch(op, op.true_region.block)
        if op.false_region.blocks:
            yield "} else {"
            yield from self._branch(op, op.false_region.block)
        yield "}"

    def _branch(self, op: scf.IfOp, block: Block) -> Iterator[str]:
        yield from self._block(block, "  ")
        last = block.last_op
        if isinstance(last, scf.YieldOp):
            for result, value in zip(op.results, last.operands, strict=True):
                yield f"  {self._text[result]} = {self._text[value]};"

    def _value(self, op: Operation) -> Iterator[str]:
        text = self._expression(op, [self._text.get(operand, "") for operand in op.operands])
        result = op.results[0]
        if result.has_one_use() and not isinstance(result.type, Float16Type):
            self._text[result] = f"({text})"
        else:
            yield f"const {self._language.kind(result.type)} {self._name(result)} = {text};"

    def _expression(self, op: Operation, operands: Sequence[str]) -> str:
        if type(op) in INFIX:
            return f" {INFIX[type(op)]} ".join(operands)
        match op:
            case gpu.BlockIdOp():
                return self._language.block
            case gpu.ThreadIdOp():
                return self._language.thread
            case arith.CmpiOp() if op.predicate.value.data in COMPARED:
                return f" {COMPARED[op.predicate.value.data]} ".join(operands)
            case arith.ExtFOp():
                return f"half_to_float({operands[0]})"
            case arith.TruncFOp():
                return f"float_to_half({operands[0]})"
            case arith.ExtSIOp() | arith.TruncIOp():
                return f"({self._language.kind(op.results[0].type)}){operands[0]}"
            case arith.ExtUIOp():
                source = op.operands[0].type
                assert isinstance(source, IntegerType)
                return f"{operands[0]} & {(1 << source.width.data) - 1}"
            case _:
                raise TilewrightError(
                    "unsupported", f"a kernel in {self._language.name}", "operations of kernels", op.name
                )

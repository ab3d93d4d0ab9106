"""The `mnemonic` dialect: a program as the machine's instruction words, and where its tensors lie.

    mnemonic.program @main code dense<"0x01..."> : tensor<144xi8> predicted {cycles = 1.0e3} {
      mnemonic.tensor "x" input in @DRAM at 0 : tensor<16x8xf32>
      mnemonic.tensor "y" output in @DRAM at 512 : tensor<16x8xf32>
    }

Compiled code is packed bytes, whatever its length one attribute.  Small programs may be written by hand instead, in a
module that holds the machine's `acg.graph`:

    mnemonic.program @main {
      mnemonic.tensor "x" input in @DRAM at 0 : tensor<64xui8>
      mnemonic.instr @LOAD <TAG = 1, DST = 64, RUN = 64, NB = 1>
      mnemonic.instr @VUN <WT0 = 1, WC0 = 1, FN = relu, O = 128, A = 64, NA = 16>
    }
"""

from collections.abc import Iterable, Mapping, Sequence

from xdsl.dialects.builtin import (
    BytesAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    FlatSymbolRefAttrConstr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolNameConstraint,
    TensorType,
    i8,
    i64,
)
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, Block, Data, Dialect, Region, SpacedOpaqueSyntaxAttribute
from xdsl.irdl import (
    irdl_attr_definition,
    irdl_op_definition,
    lazy_traits_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
)
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsolatedFromAbove, NoTerminator, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from ..algebra.blocked import BlockedLayout
from ..errors import TilewrightError
from ..machine import Machine
from ..machine.packets import PacketIsa
from .acg import graph_of, has_target
from .nest_attributes import NamedAttr
from .properties import PlainOp, figures_attr
from .types import ProgramCallable, Role, Tensor, dtype_of, is_element_type


@irdl_attr_definition
class RoleAttr(EnumAttribute[Role], SpacedOpaqueSyntaxAttribute):
    """`input`, `output`, `weight` or `temp`."""

    name = "mnemonic.role"


@irdl_attr_definition
class ValuesAttr(NamedAttr[int | str]):
    """Values of fields, integers or names of enumerators: `#mnemonic.values<TAG = 1, FN = relu>`."""

    name = "mnemonic.values"

    @staticmethod
    def parse_value(parser: AttrParser) -> int | str:
        number = parser.parse_optional_integer(allow_boolean=False)
        return parser.parse_identifier() if number is None else number


@irdl_attr_definition
class LayoutAttr(Data[BlockedLayout]):
    """Axes padded, cut into blocks and put into order: `#mnemonic.layout<[0 0, 0 6], [0, 64], [0, 1, 2], 0, []>`.

    `planes` at the end: the bytes of numbers lie apart.
    """

    name = "mnemonic.layout"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> BlockedLayout:
        def numbers() -> tuple[int, ...]:
            return tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, parser.parse_integer))

        def pair() -> tuple[int, int]:
            return parser.parse_integer(allow_negative=False), parser.parse_integer(allow_negative=False)

        with parser.in_angle_brackets():
            pads = tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, pair))
            parser.parse_punctuation(",")
            blocks = numbers()
            parser.parse_punctuation(",")
            order = numbers()
            parser.parse_punctuation(",")
            fill = parser.parse_integer()
            parser.parse_punctuation(",")
            pitches = numbers()
            planes = parser.parse_optional_punctuation(",") is not None
            if planes:
                parser.parse_keyword("planes")
            return BlockedLayout(pads, blocks, order, fill, pitches, planes)

    def print_parameter(self, printer: Printer) -> None:
        data = self.data
        pads = ", ".join(f"{before} {after}" for before, after in data.pads)
        with printer.in_angle_brackets():
            lists = f"{list(data.blocks)}, {list(data.order)}, {data.fill}, {list(data.pitches)}"
            printer.print_string(f"[{pads}], {lists}{', planes' if data.planes else ''}")


@irdl_op_definition
class TensorOp(PlainOp):
    """A tensor of the program, row-major from byte `address` of `memory`; weights take their bytes from resources."""

    name = "mnemonic.tensor"
    tensor_name = prop_def(StringAttr)
    role = prop_def(RoleAttr)
    memory = prop_def(FlatSymbolRefAttrConstr)
    address = prop_def(IntegerAttr.constr(i64))
    tensor = prop_def(TensorType)
    layout = opt_prop_def(LayoutAttr)
    traits = lazy_traits_def(lambda: (HasParent(ProgramOp),))
    assembly_format = "$tensor_name $role `in` $memory `at` $address (`layout` $layout^)? attr-dict `:` $tensor"

    def __init__(
        self, name: str, role: Role, tensor: Tensor, memory: str, address: int, layout: BlockedLayout | None = None
    ) -> None:
        blocks = LayoutAttr(layout) if layout is not None else None
        super().__init__(tensor_name=name, role=role, memory=memory, address=address, tensor=tensor, layout=blocks)

    @property
    def size_bytes(self) -> int:
        """Bytes of the tensor."""
        tensor = self.tensor
        size = dtype_of(tensor.element_type).itemsize
        if self.layout is not None:
            return self.layout.data.size_bytes(tensor.get_shape(), size)
        for extent in tensor.get_shape():
            size *= extent
        return size

    def verify_(self) -> None:
        tensor = self.tensor
        if not is_element_type(tensor.element_type) or min(tensor.get_shape(), default=0) < 0:
            raise VerifyException(f"expected a static tensor of numbers, found {tensor}")
        if self.layout is not None:
            try:
                self.layout.data.strides(tensor.get_shape(), 1)
            except (TilewrightError, ValueError) as error:
                raise VerifyException(f"expected a layout of {tensor}, found another ({error})") from error
        if self.address.value.data < 0:
            raise VerifyException(f"expected an address of at least 0, found {self.address.value.data}")


@irdl_op_definition
class InstrOp(PlainOp):
    """One instruction written by hand; fields that are not given are 0."""

    name = "mnemonic.instr"
    mnemonic = prop_def(FlatSymbolRefAttrConstr)
    fields = prop_def(ValuesAttr)
    traits = lazy_traits_def(lambda: (HasParent(ProgramOp),))
    assembly_format = "$mnemonic $fields attr-dict"

    def __init__(self, mnemonic: str, fields: Mapping[str, int | str]) -> None:
        super().__init__(mnemonic=mnemonic, fields=tuple(fields.items()))

    def codes(self, machine: Machine) -> dict[str, int]:
        """The fields' values as integers; `VerifyException` for what the machine's instruction does not have."""
        name = self.mnemonic.root_reference.data
        if machine.packets is not None:
            return packed_codes(machine.packets, name, self.fields.data)
        word = machine.words.get(name)
        if word is None:
            raise VerifyException(f"expected a mnemonic among {', '.join(machine.words)}, found {name}")
        enums = {key: dict(item.enum) for key, item in machine.fields_of(word.mnemonic).items()}
        codes: dict[str, int] = {}
        for field, value in self.fields.data:
            place = word.by_name.get(field)
            if place is None or field in codes:
                raise VerifyException(f"expected fields of {name} ({', '.join(word.by_name)}) once, found {field}")
            code = enums[field].get(value) if isinstance(value, str) else value
            if code is None or not place.lowest <= code <= place.highest:
                known = ", ".join(enums[field]) or f"{place.lowest} to {place.highest}"
                raise VerifyException(f"expected {name}.{field} of {place.width_bits} bits ({known}), found {value}")
            codes[field] = code
        return codes


@irdl_op_definition
class ProgramOp(PlainOp):
    """A program for the machine of the module's `acg.graph`: tensors, and instructions packed or written out.

    `code` holds instruction words one after another; `predicted` figures of the cost model by name.
    """

    name = "mnemonic.program"
    sym_name = prop_def(SymbolNameConstraint())
    code = opt_prop_def(DenseIntOrFPElementsAttr)
    predicted = opt_prop_def(DictionaryAttr)
    body = region_def()
    traits = traits_def(IsolatedFromAbove(), NoTerminator(), SymbolOpInterface(), ProgramCallable())
    assembly_format = "$sym_name (`code` $code^)? (`predicted` $predicted^)? attr-dict-with-keyword ($body^)?"

    def __init__(
        self,
        name: str,
        tensors: Sequence[TensorOp],
        code: bytes | Sequence[InstrOp],
        predicted: Mapping[str, float] | None = None,
    ) -> None:
        ops = [*tensors, *(() if isinstance(code, bytes) else code)]
        super().__init__(
            sym_name=name,
            code=packed(code) if isinstance(code, bytes) else None,
            predicted=None if predicted is None else figures_attr(predicted),
            regions=[Region(Block(ops) if ops else ())],
        )

    def tensors(self, role: Role | None = None) -> tuple[TensorOp, ...]:
        """The tensors in order, of one role or all."""
        found = (op for op in self.body.walk() if isinstance(op, TensorOp))
        return tuple(op for op in found if role is None or op.role.data == role)

    def types_of(self, role: Role) -> tuple[Attribute, ...]:
        """The types of the tensors of a role, in order."""
        return tuple(op.tensor for op in self.tensors(role))

    @property
    def instructions(self) -> tuple[InstrOp, ...]:
        """The instructions that are written out, in order."""
        return tuple(op for op in self.body.walk() if isinstance(op, InstrOp))

    def verify_(self) -> None:
        for op in self.body.walk():
            if not isinstance(op, TensorOp | InstrOp):
                raise VerifyException(f"expected tensors and instructions in mnemonic.program, found {op.name}")
        if self.code is not None and self.instructions:
            raise VerifyException("expected packed code or instructions, found both")
        if self.code is not None and (self.code.get_element_type() != i8 or len(self.code.get_shape()) != 1):
            raise VerifyException(f"expected code of bytes (tensor<nxi8>), found {self.code.type}")
        names = [tensor.tensor_name.data for tensor in self.tensors()]
        if len(set(names)) < len(names):
            raise VerifyException("expected tensors with different names, found one twice")
        self._verify_on_machine()

    def _verify_on_machine(self) -> None:
        """Where the module says which machine: tensors lie inside memories, instructions fit their words."""
        module = self.parent_op()
        if not isinstance(module, ModuleOp) or not has_target(module):
            return
        machine = graph_of(module).machine()
        capacities = {memory.name: memory.capacity_bytes for memory in machine.memories}
        for tensor in self.tensors():
            memory, end = tensor.memory.root_reference.data, tensor.address.value.data + tensor.size_bytes
            if end > capacities.get(memory, -1):
                known = ", ".join(f"{name} ({size} bytes)" for name, size in capacities.items())
                subject = tensor.tensor_name.data
                raise VerifyException(f"expected {subject} inside a memory among {known}, found {memory} up to {end}")
        for instruction in self.instructions:
            instruction.codes(machine)


def packed_codes(isa: PacketIsa, name: str, values: Iterable[tuple[str, int | str]]) -> dict[str, int]:
    """Registers and immediates of an instruction of a packet; `VerifyException` for what there is not."""
    item = next((one for one in isa.mnemonics if one.name == name), None)
    if item is None:
        raise VerifyException(f"expected a mnemonic among {', '.join(one.name for one in isa.mnemonics)}, found {name}")
    limits = item.limits(isa.files)
    codes: dict[str, int] = {}
    for field, value in values:
        low, high = limits.get(field, (0, -1))
        if field in codes or not isinstance(value, int) or not low <= value <= high:
            known = ", ".join(f"{one} {first} to {last}" for one, (first, last) in limits.items())
            raise VerifyException(f"expected fields of {name} once ({known}), found {field} = {value}")
        codes[field] = value
    return codes


def packed(code: bytes) -> DenseIntOrFPElementsAttr:
    """Bytes as an attribute."""
    return DenseIntOrFPElementsAttr(TensorType(i8, [len(code)]), BytesAttr(code))


Mnemonic = Dialect("mnemonic", [ProgramOp, TensorOp, InstrOp], [RoleAttr, ValuesAttr, LayoutAttr])

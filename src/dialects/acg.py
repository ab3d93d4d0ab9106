"""The `acg` dialect: an accelerator as IR, with the same content as its `.acg` text (Covenant, section 2; docs/acg.md).

    acg.graph @toy control "queues" frequency 1.0e9 {
      acg.memory @DRAM data_width 8 banks 1 depth 65536 align 1 read_energy 84.0 write_energy 84.0 offchip
      acg.compute @ADDER x 1 y 1 {
        acg.capability @add dims <a to 255> <"O{a} = A{a} + B{a}"> types <[i32, i32, i32]> cycles <"a"> energy <"0">
      }
      acg.link @DRAM -> @ADDER both bandwidth 4.0 latency 0 channel "DRAM<->ADDER"
      acg.unit @ALU depth 0
      acg.isa opcode_bits 8 align 8 width 0 header <TAG 8> signal "TAG" waits <>
      acg.mnemonic @ADD 1 unit @ALU fields <O 16, A 16, B 16, N 8> execute @ADDER::@add extents <a N>
          operands <O = DRAM[O] i32 {a 4}, A = DRAM[A] i32 {a 4}, B = DRAM[B] i32 {a 4}>
    }

Passes ask for the machine of a module by `machine_of`.
"""

from xdsl.dialects.builtin import (
    Float64Type,
    FloatAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    UnitAttr,
    f64,
    i64,
)
from xdsl.ir import Attribute, Dialect, Operation, Region
from xdsl.irdl import IRDLOperation, irdl_op_definition, lazy_traits_def, opt_prop_def, prop_def, region_def, traits_def
from xdsl.irdl.declarative_assembly_format import AttributeVariable, irdl_custom_directive
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsolatedFromAbove, NoTerminator, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from ..errors import TilewrightError
from ..machine import Machine
from ..machine.rules import NAME, first_complaint
from .acg_attributes import (
    ActionAttr,
    ChoicesAttr,
    DimsAttr,
    EngineAttr,
    FieldsAttr,
    FormulaAttr,
    NamesAttr,
    OperandsAttr,
    PairsAttr,
    PortsAttr,
    StatementAttr,
    TypesAttr,
    executed,
)
from .acg_control_models import (
    FetchOp,
    MacroOp,
    MicroopsOp,
    NeedsAttr,
    PackedOp,
    PacketOp,
    PlacesAttr,
    RegistersOp,
    ShadowOp,
    TokenOp,
)
from .acg_timing import TimingAttr
from .syntax import Written

INTEGER = IntegerAttr.constr(i64)
NUMBER = FloatAttr[Float64Type].constr(f64)


@irdl_custom_directive
class Number(Written):
    """A number with a point.  Whole ones of many digits too, which `print_float` would print as their bits."""

    value: AttributeVariable

    def is_optional_like(self) -> bool:
        return self.value.is_optional_like()

    def read(self, parser: Parser) -> Attribute:
        return FloatAttr(parser.parse_float(), f64)

    def write(self, attribute: FloatAttr, printer: Printer) -> None:
        number = attribute.value.data
        if "." in f"{number:.17g}" or float(f"{number:.5e}") == number:
            printer.print_float(number, f64)
        else:
            printer.print_string(f"{number:.16e}")


@irdl_op_definition
class CapabilityOp(IRDLOperation):
    """What a node does in one issue: a statement over free strides, the types it takes, cycles and pJ.

    `functions` are choices for function variables, `immediates` scalars with their types, `splits` dims that may be
    spread over instances.
    """

    name = "acg.capability"
    sym_name = prop_def(SymbolNameConstraint())
    dims = prop_def(DimsAttr)
    statement = prop_def(StatementAttr)
    functions = opt_prop_def(ChoicesAttr)
    immediates = opt_prop_def(PairsAttr)
    types = prop_def(TypesAttr)
    splits = opt_prop_def(NamesAttr)
    cycles = prop_def(FormulaAttr)
    energy_pj = prop_def(FormulaAttr)
    traits = lazy_traits_def(lambda: (HasParent(ComputeOp, LinkOp),))
    assembly_format = (
        "$sym_name `dims` $dims $statement (`functions` $functions^)? (`immediates` $immediates^)? `types` $types "
        "(`splits` $splits^)? `cycles` $cycles `energy` $energy_pj attr-dict"
    )


@irdl_op_definition
class MemoryOp(IRDLOperation):
    """`x` by `y` storage nodes of `depth` elements of `data_width * banks` bits each, unlimited without a depth.

    `align` in bytes, energies in pJ per byte; `holds`, `buffering` and `regions` as in `machine.Memory`.
    """

    name = "acg.memory"
    sym_name = prop_def(SymbolNameConstraint())
    data_width_bits = prop_def(INTEGER)
    banks = prop_def(INTEGER)
    depth = opt_prop_def(INTEGER)
    align_bytes = prop_def(INTEGER)
    read_energy_pj = prop_def(NUMBER)
    write_energy_pj = prop_def(NUMBER)
    instances_x = opt_prop_def(INTEGER)
    instances_y = opt_prop_def(INTEGER)
    holds = opt_prop_def(NamesAttr)
    buffering = opt_prop_def(NUMBER)
    most_regions = opt_prop_def(INTEGER)
    ports = opt_prop_def(PortsAttr)
    offchip = opt_prop_def(UnitAttr)
    timing = opt_prop_def(TimingAttr)
    area_mm2 = opt_prop_def(FormulaAttr)
    traits = lazy_traits_def(lambda: (HasParent(GraphOp),))
    custom_directives = (Number,)
    assembly_format = (
        "$sym_name (`x` $instances_x^)? (`y` $instances_y^)? `data_width` $data_width_bits `banks` $banks "
        "(`depth` $depth^)? `align` $align_bytes `read_energy` custom<Number>($read_energy_pj) "
        "`write_energy` custom<Number>($write_energy_pj) "
        "(`holds` $holds^)? (`buffering` custom<Number>($buffering)^)? (`regions` $most_regions^)? (`ports` $ports^)? "
        "(`offchip` $offchip^)? (`timing` $timing^)? (`area` $area_mm2^)? attr-dict"
    )


@irdl_op_definition
class ComputeOp(IRDLOperation):
    """A compute node of `x` by `y` instances, with its capabilities."""

    name = "acg.compute"
    sym_name = prop_def(SymbolNameConstraint())
    instances_x = prop_def(INTEGER)
    instances_y = prop_def(INTEGER)
    area_mm2 = opt_prop_def(FormulaAttr)
    body = region_def()
    traits = lazy_traits_def(lambda: (HasParent(GraphOp), NoTerminator()))
    assembly_format = (
        "$sym_name `x` $instances_x `y` $instances_y (`area` $area_mm2^)? attr-dict-with-keyword ($body^)?"
    )


@irdl_op_definition
class LinkOp(IRDLOperation):
    """An edge for `bandwidth` bytes per cycle (without one unlimited); `both` adds the way back.

    Links of one `channel` exclude each other.
    """

    name = "acg.link"
    src = prop_def(SymbolNameConstraint())
    dst = prop_def(SymbolNameConstraint())
    both = opt_prop_def(UnitAttr)
    bandwidth = opt_prop_def(NUMBER)
    latency_cycles = prop_def(INTEGER)
    channel = prop_def(StringAttr)
    area_mm2 = opt_prop_def(FormulaAttr)
    body = region_def()
    traits = lazy_traits_def(lambda: (HasParent(GraphOp), NoTerminator()))
    custom_directives = (Number,)
    assembly_format = (
        "$src `->` $dst (`both` $both^)? (`bandwidth` custom<Number>($bandwidth)^)? `latency` $latency_cycles "
        "`channel` $channel (`area` $area_mm2^)? "
        "attr-dict-with-keyword ($body^)?"
    )


@irdl_op_definition
class UnitOp(IRDLOperation):
    """An in-order queue of instructions; `depth` of them may wait, 0 for no limit.  `engine`: see `machine.Engine`."""

    name = "acg.unit"
    sym_name = prop_def(SymbolNameConstraint())
    depth = prop_def(INTEGER)
    engine = opt_prop_def(EngineAttr)
    traits = lazy_traits_def(lambda: (HasParent(GraphOp),))
    assembly_format = "$sym_name `depth` $depth (`engine` $engine^)? attr-dict"


@irdl_op_definition
class IsaOp(IRDLOperation):
    """What all instruction words share; sizes in bits, `width` 0 for words of different lengths."""

    name = "acg.isa"
    opcode_bits = prop_def(INTEGER)
    align_bits = prop_def(INTEGER)
    width_bits = prop_def(INTEGER)
    header = prop_def(FieldsAttr)
    signal = prop_def(StringAttr)
    waits = prop_def(PairsAttr)
    positional = opt_prop_def(UnitAttr)
    little = opt_prop_def(UnitAttr)
    traits = lazy_traits_def(lambda: (HasParent(GraphOp),))
    assembly_format = (
        "`opcode_bits` $opcode_bits `align` $align_bits `width` $width_bits `header` $header `signal` $signal "
        "`waits` $waits (`positional` $positional^)? (`little` $little^)? attr-dict"
    )


@irdl_op_definition
class MnemonicOp(IRDLOperation):
    """An instruction: opcode, unit, fields, and the capability that it executes with everything bound to fields.

    Or (`loops`) the action that it takes; `named` is the efield whose names stand for the mnemonic in assembly text.
    """

    name = "acg.mnemonic"
    sym_name = prop_def(SymbolNameConstraint())
    opcode = prop_def(INTEGER)
    unit = prop_def(SymbolNameConstraint())
    fields = prop_def(FieldsAttr)
    execute = opt_prop_def(SymbolRefAttr)
    extents = opt_prop_def(PairsAttr)
    bindings = opt_prop_def(OperandsAttr)
    functions = opt_prop_def(PairsAttr)
    immediates = opt_prop_def(PairsAttr)
    accumulate = opt_prop_def(StringAttr)
    spread = opt_prop_def(PairsAttr)
    action = opt_prop_def(ActionAttr)
    named = opt_prop_def(StringAttr)
    traits = lazy_traits_def(lambda: (HasParent(GraphOp),))
    assembly_format = (
        "$sym_name $opcode `unit` $unit `fields` $fields (`execute` $execute^)? (`extents` $extents^)? "
        "(`operands` $bindings^)? (`action` $action^)? (`named` $named^)? "
        "(`functions` $functions^)? (`immediates` $immediates^)? (`accumulate` $accumulate^)? (`spread` $spread^)? "
        "attr-dict"
    )

    def verify_(self) -> None:
        executed(self.execute)
        axes = [axis for axis, _ in self.spread.data] if self.spread is not None else []
        if axes not in ([], ["x"], ["y"], ["x", "y"]):
            raise VerifyException(f"expected spread over x, y or both, found {axes}")


@irdl_op_definition
class GraphOp(IRDLOperation):
    """An accelerator; its verifier applies the rules of `machine.rules`."""

    name = "acg.graph"
    sym_name = prop_def(SymbolNameConstraint())
    control = prop_def(StringAttr)
    frequency_hz = prop_def(NUMBER)
    body = region_def()
    traits = traits_def(IsolatedFromAbove(), NoTerminator(), SymbolOpInterface())
    custom_directives = (Number,)
    assembly_format = (
        "$sym_name `control` $control `frequency` custom<Number>($frequency_hz) attr-dict-with-keyword $body"
    )

    @staticmethod
    def get(machine: Machine) -> "GraphOp":
        """The op of a machine."""
        from .acg_convert import graph_op

        return graph_op(machine)

    def machine(self) -> Machine:
        """The accelerator as data."""
        from .acg_convert import machine_value

        return machine_value(self)

    def verify(self, verify_nested_ops: bool = True) -> None:
        """As any op; declarations that say the same as verified ones are not verified again."""
        from .acg_convert import note_verified, was_verified

        super().verify(verify_nested_ops and not was_verified(self))
        if verify_nested_ops:
            note_verified(self)

    def verify_region_ops(self) -> None:
        """Only declarations, with names that the text can spell."""
        for op in self.body.walk():
            name = op.properties.get("sym_name")
            if not isinstance(op, DECLARATIONS):
                raise VerifyException(f"expected declarations of the acg dialect in acg.graph, found {op.name}")
            if isinstance(name, StringAttr) and NAME.fullmatch(name.data) is None:
                raise VerifyException(f"expected a name of letters, digits and underscores, found @{name.data}")
        for kind in (IsaOp, PacketOp, MicroopsOp, FetchOp):
            if sum(isinstance(op, kind) for op in declarations(self.body)) > 1:
                raise VerifyException(f"expected {kind.name} once in acg.graph, found it twice")

    def verify_(self) -> None:
        self.verify_region_ops()
        complaint = first_complaint(self.machine())
        if complaint is not None:
            lever = f"; {complaint.lever}" if complaint.lever else ""
            raise VerifyException(f"{complaint.subject}: expected {complaint.expected}, found {complaint.found}{lever}")


PACKETS = (PacketOp, RegistersOp, PackedOp)
STAGES = (TokenOp, MicroopsOp, ShadowOp, FetchOp)
DECLARATIONS = (MemoryOp, ComputeOp, CapabilityOp, LinkOp, UnitOp, IsaOp, MnemonicOp, MacroOp, *PACKETS, *STAGES)


def declarations(body: Region) -> list[Operation]:
    """The ops of a body, which may be empty."""
    return [op for block in body.blocks for op in block.ops]


def has_target(module: ModuleOp) -> bool:
    """Whether a module has an `acg.graph` at the top."""
    return any(isinstance(op, GraphOp) for op in module.body.ops)


def graph_of(module: ModuleOp) -> GraphOp:
    """The one `acg.graph` at the top of a module; `TilewrightError` (kind `target`) if there is none or several."""
    graphs = [op for op in module.body.ops if isinstance(op, GraphOp)]
    if len(graphs) != 1:
        lever = "run the pass load-target first" if not graphs else "keep one"
        raise TilewrightError("target", "module", "one acg.graph", f"{len(graphs)}", lever)
    return graphs[0]


def machine_of(module: ModuleOp) -> Machine:
    """The machine that the module's `acg.graph` describes; errors as for `graph_of`."""
    return graph_of(module).machine()


Acg = Dialect(
    "acg",
    [GraphOp, *DECLARATIONS],
    [
        ActionAttr,
        EngineAttr,
        StatementAttr,
        FormulaAttr,
        DimsAttr,
        NamesAttr,
        TypesAttr,
        ChoicesAttr,
        PairsAttr,
        FieldsAttr,
        OperandsAttr,
        PortsAttr,
        TimingAttr,
        NeedsAttr,
        PlacesAttr,
    ],
)

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

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

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
from xdsl.ir import Attribute, Block, Dialect, Operation, Region
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    lazy_traits_def,
    opt_prop_def,
    prop_def,
    region_def,
    traits_def,
)
from xdsl.traits import HasParent, IsolatedFromAbove, NoTerminator, SymbolOpInterface
from xdsl.utils.exceptions import VerifyException

from ..errors import TilewrightError
from ..machine import Capability, Compute, Link, Machine, Memory, Mnemonic, Unit
from ..machine_rules import first_complaint
from .acg_attributes import (
    NAME,
    ChoicesAttr,
    DimsAttr,
    FieldsAttr,
    FormulaAttr,
    NamesAttr,
    OperandsAttr,
    PairsAttr,
    StatementAttr,
    TypesAttr,
)

INTEGER = IntegerAttr.constr(i64)
NUMBER = FloatAttr[Float64Type].constr(f64)


def _int(value: int) -> IntegerAttr:
    return IntegerAttr(value, i64)


def _float(value: float) -> FloatAttr[Float64Type]:
    return FloatAttr(value, f64)


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

    @staticmethod
    def get(capability: Capability) -> CapabilityOp:
        """The op of a machine's capability."""
        properties = {
            "sym_name": StringAttr(capability.name),
            "dims": DimsAttr(capability.dims),
            "statement": StatementAttr(capability.statement),
            "functions": ChoicesAttr(capability.functions) if capability.functions else None,
            "immediates": PairsAttr(capability.immediates) if capability.immediates else None,
            "types": TypesAttr(capability.types),
            "splits": NamesAttr(capability.splits) if capability.splits else None,
            "cycles": FormulaAttr(capability.cycles),
            "energy_pj": FormulaAttr(capability.energy_pj),
        }
        return CapabilityOp.create(properties=_present(properties))

    def value(self, node: str) -> Capability:
        """The capability as data, of the node or link called `node`."""
        return Capability(
            self.sym_name.data,
            node,
            self.dims.data,
            self.statement.data,
            self.types.data,
            self.cycles.data,
            self.energy_pj.data,
            self.functions.data if self.functions is not None else (),
            self.immediates.data if self.immediates is not None else (),
            self.splits.data if self.splits is not None else (),
        )


@irdl_op_definition
class MemoryOp(IRDLOperation):
    """A storage node of `depth` elements of `data_width * banks` bits; `align` in bytes, energies in pJ per byte."""

    name = "acg.memory"
    sym_name = prop_def(SymbolNameConstraint())
    data_width_bits = prop_def(INTEGER)
    banks = prop_def(INTEGER)
    depth = prop_def(INTEGER)
    align_bytes = prop_def(INTEGER)
    read_energy_pj = prop_def(NUMBER)
    write_energy_pj = prop_def(NUMBER)
    offchip = opt_prop_def(UnitAttr)
    traits = lazy_traits_def(lambda: (HasParent(GraphOp),))
    assembly_format = (
        "$sym_name `data_width` $data_width_bits `banks` $banks `depth` $depth `align` $align_bytes "
        "`read_energy` $read_energy_pj `write_energy` $write_energy_pj (`offchip` $offchip^)? attr-dict"
    )

    @staticmethod
    def get(memory: Memory) -> MemoryOp:
        """The op of a machine's memory."""
        properties = {
            "sym_name": StringAttr(memory.name),
            "data_width_bits": _int(memory.data_width_bits),
            "banks": _int(memory.banks),
            "depth": _int(memory.depth),
            "align_bytes": _int(memory.align_bytes),
            "read_energy_pj": _float(memory.read_energy_pj_per_byte),
            "write_energy_pj": _float(memory.write_energy_pj_per_byte),
            "offchip": UnitAttr() if memory.offchip else None,
        }
        return MemoryOp.create(properties=_present(properties))

    def value(self) -> Memory:
        """The memory as data."""
        integers = (self.data_width_bits, self.banks, self.depth)
        energies = self.read_energy_pj.value.data, self.write_energy_pj.value.data
        width, banks, depth = (attribute.value.data for attribute in integers)
        align = self.align_bytes.value.data
        return Memory(self.sym_name.data, width, banks, depth, self.offchip is not None, align, *energies)


@irdl_op_definition
class ComputeOp(IRDLOperation):
    """A compute node of `x` by `y` instances, with its capabilities."""

    name = "acg.compute"
    sym_name = prop_def(SymbolNameConstraint())
    instances_x = prop_def(INTEGER)
    instances_y = prop_def(INTEGER)
    body = region_def()
    traits = lazy_traits_def(lambda: (HasParent(GraphOp), NoTerminator()))
    assembly_format = "$sym_name `x` $instances_x `y` $instances_y attr-dict-with-keyword ($body^)?"

    @staticmethod
    def get(compute: Compute) -> ComputeOp:
        """The op of a machine's compute node."""
        properties = {
            "sym_name": StringAttr(compute.name),
            "instances_x": _int(compute.instances_x),
            "instances_y": _int(compute.instances_y),
        }
        return ComputeOp.create(properties=properties, regions=[_capability_ops(compute.capabilities)])

    def value(self) -> Compute:
        """The node as data."""
        name = self.sym_name.data
        capabilities = tuple(op.value(name) for op in declarations(self.body) if isinstance(op, CapabilityOp))
        return Compute(name, self.instances_x.value.data, self.instances_y.value.data, capabilities)


@irdl_op_definition
class LinkOp(IRDLOperation):
    """An edge for `bandwidth` bytes per cycle; `both` adds the way back.  Links of one `channel` exclude each other."""

    name = "acg.link"
    src = prop_def(SymbolNameConstraint())
    dst = prop_def(SymbolNameConstraint())
    both = opt_prop_def(UnitAttr)
    bandwidth = prop_def(NUMBER)
    latency_cycles = prop_def(INTEGER)
    channel = prop_def(StringAttr)
    body = region_def()
    traits = lazy_traits_def(lambda: (HasParent(GraphOp), NoTerminator()))
    assembly_format = (
        "$src `->` $dst (`both` $both^)? `bandwidth` $bandwidth `latency` $latency_cycles `channel` $channel "
        "attr-dict-with-keyword ($body^)?"
    )

    @staticmethod
    def get(link: Link, both: bool) -> LinkOp:
        """The op of a machine's link, or of both halves of one where `link` is the first."""
        properties = {
            "src": StringAttr(link.src),
            "dst": StringAttr(link.dst),
            "both": UnitAttr() if both else None,
            "bandwidth": _float(link.bandwidth_bytes_per_cycle),
            "latency_cycles": _int(link.latency_cycles),
            "channel": StringAttr(link.channel),
        }
        return LinkOp.create(properties=_present(properties), regions=[_capability_ops(link.capabilities)])

    def values(self) -> tuple[Link, ...]:
        """The link as data, and its back half where there is one."""
        src, dst, channel = self.src.data, self.dst.data, self.channel.data
        forth = Link(src, dst, self.bandwidth.value.data, self.latency_cycles.value.data, channel)
        capabilities = tuple(op.value(forth.name) for op in declarations(self.body) if isinstance(op, CapabilityOp))
        forth = replace(forth, capabilities=capabilities)
        return (forth,) if self.both is None else (forth, forth.reversed())


@irdl_op_definition
class UnitOp(IRDLOperation):
    """An in-order queue of instructions; `depth` of them may wait, 0 for no limit."""

    name = "acg.unit"
    sym_name = prop_def(SymbolNameConstraint())
    depth = prop_def(INTEGER)
    traits = lazy_traits_def(lambda: (HasParent(GraphOp),))
    assembly_format = "$sym_name `depth` $depth attr-dict"


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
    traits = lazy_traits_def(lambda: (HasParent(GraphOp),))
    assembly_format = (
        "`opcode_bits` $opcode_bits `align` $align_bits `width` $width_bits `header` $header `signal` $signal "
        "`waits` $waits attr-dict"
    )

    @staticmethod
    def get(machine: Machine) -> IsaOp:
        """The op of what a machine's instructions share."""
        properties = {
            "opcode_bits": _int(machine.opcode_bits),
            "align_bits": _int(machine.instruction_align_bits),
            "width_bits": _int(machine.instruction_bits),
            "header": FieldsAttr(machine.header),
            "signal": StringAttr(machine.signal),
            "waits": PairsAttr(machine.waits),
        }
        return IsaOp.create(properties=properties)


@irdl_op_definition
class MnemonicOp(IRDLOperation):
    """An instruction: opcode, unit, fields, and the capability that it executes with everything bound to fields."""

    name = "acg.mnemonic"
    sym_name = prop_def(SymbolNameConstraint())
    opcode = prop_def(INTEGER)
    unit = prop_def(SymbolNameConstraint())
    fields = prop_def(FieldsAttr)
    execute = prop_def(SymbolRefAttr)
    extents = prop_def(PairsAttr)
    operands_ = prop_def(OperandsAttr, prop_name="bindings")
    functions = opt_prop_def(PairsAttr)
    immediates = opt_prop_def(PairsAttr)
    accumulate = opt_prop_def(StringAttr)
    spread = opt_prop_def(PairsAttr)
    traits = lazy_traits_def(lambda: (HasParent(GraphOp),))
    assembly_format = (
        "$sym_name $opcode `unit` $unit `fields` $fields `execute` $execute `extents` $extents `operands` $bindings "
        "(`functions` $functions^)? (`immediates` $immediates^)? (`accumulate` $accumulate^)? (`spread` $spread^)? "
        "attr-dict"
    )

    @staticmethod
    def get(mnemonic: Mnemonic) -> MnemonicOp:
        """The op of a machine's mnemonic."""
        axes = (("x", mnemonic.spread_x), ("y", mnemonic.spread_y))
        spread = tuple((axis, name) for axis, name in axes if name)
        properties = {
            "sym_name": StringAttr(mnemonic.name),
            "opcode": _int(mnemonic.opcode),
            "unit": StringAttr(mnemonic.unit),
            "fields": FieldsAttr(mnemonic.fields),
            "execute": SymbolRefAttr(mnemonic.node, [mnemonic.capability]),
            "extents": PairsAttr(mnemonic.extents),
            "bindings": OperandsAttr(mnemonic.operands),
            "functions": PairsAttr(mnemonic.functions) if mnemonic.functions else None,
            "immediates": PairsAttr(mnemonic.immediates) if mnemonic.immediates else None,
            "accumulate": StringAttr(mnemonic.accumulate) if mnemonic.accumulate else None,
            "spread": PairsAttr(spread) if spread else None,
        }
        return MnemonicOp.create(properties=_present(properties))

    def value(self) -> Mnemonic:
        """The mnemonic as data."""
        spread = dict(self.spread.data) if self.spread is not None else {}
        return Mnemonic(
            self.sym_name.data,
            self.opcode.value.data,
            self.unit.data,
            self.fields.data,
            self.execute.root_reference.data,
            self.execute.nested_references.data[0].data,
            self.extents.data,
            self.operands_.data,
            self.functions.data if self.functions is not None else (),
            self.immediates.data if self.immediates is not None else (),
            self.accumulate.data if self.accumulate is not None else "",
            spread.get("x", ""),
            spread.get("y", ""),
        )

    def verify_(self) -> None:
        if len(self.execute.nested_references) != 1:
            raise VerifyException(f"expected execute @node::@capability, found {self.execute}")
        axes = [axis for axis, _ in self.spread.data] if self.spread is not None else []
        if axes not in ([], ["x"], ["y"], ["x", "y"]):
            raise VerifyException(f"expected spread over x, y or both, found {axes}")


@irdl_op_definition
class GraphOp(IRDLOperation):
    """An accelerator; its verifier applies the rules of `machine_rules`."""

    name = "acg.graph"
    sym_name = prop_def(SymbolNameConstraint())
    control = prop_def(StringAttr)
    frequency_hz = prop_def(NUMBER)
    body = region_def()
    traits = traits_def(IsolatedFromAbove(), NoTerminator(), SymbolOpInterface())
    assembly_format = "$sym_name `control` $control `frequency` $frequency_hz attr-dict-with-keyword $body"

    @staticmethod
    def get(machine: Machine) -> GraphOp:
        """The op of a whole machine."""
        two_way = [(link.dst, link.src) for link in machine.links if link.back]
        ops: list[Operation] = [MemoryOp.get(memory) for memory in machine.memories]
        ops += [ComputeOp.get(compute) for compute in machine.computes]
        ops += [LinkOp.get(link, (link.src, link.dst) in two_way) for link in machine.links if not link.back]
        ops += [_unit_op(unit) for unit in machine.units]
        ops += [IsaOp.get(machine)] if machine.mnemonics or machine.header else []
        ops += [MnemonicOp.get(mnemonic) for mnemonic in machine.mnemonics]
        properties = {
            "sym_name": StringAttr(machine.name),
            "control": StringAttr(machine.control),
            "frequency_hz": _float(machine.frequency_hz),
        }
        return GraphOp.create(properties=properties, regions=[Region(Block(ops))])

    def machine(self) -> Machine:
        """The accelerator as data."""
        ops = declarations(self.body)
        machine = Machine(
            self.sym_name.data,
            self.control.data,
            tuple(op.value() for op in ops if isinstance(op, MemoryOp)),
            tuple(op.value() for op in ops if isinstance(op, ComputeOp)),
            tuple(link for op in ops if isinstance(op, LinkOp) for link in op.values()),
            tuple(Unit(op.sym_name.data, op.depth.value.data) for op in ops if isinstance(op, UnitOp)),
            tuple(op.value() for op in ops if isinstance(op, MnemonicOp)),
            frequency_hz=self.frequency_hz.value.data,
        )
        for op in ops:
            if isinstance(op, IsaOp):
                machine = replace(
                    machine,
                    opcode_bits=op.opcode_bits.value.data,
                    instruction_align_bits=op.align_bits.value.data,
                    instruction_bits=op.width_bits.value.data,
                    header=op.header.data,
                    signal=op.signal.data,
                    waits=op.waits.data,
                )
        return machine

    def verify_region_ops(self) -> None:
        """Only declarations, with names that the text can spell."""
        for op in self.body.walk():
            name = op.properties.get("sym_name")
            if not isinstance(op, DECLARATIONS):
                raise VerifyException(f"expected declarations of the acg dialect in acg.graph, found {op.name}")
            if isinstance(name, StringAttr) and NAME.fullmatch(name.data) is None:
                raise VerifyException(f"expected a name of letters, digits and underscores, found @{name.data}")
        if sum(isinstance(op, IsaOp) for op in declarations(self.body)) > 1:
            raise VerifyException("expected acg.isa once in acg.graph, found it twice")

    def verify_(self) -> None:
        self.verify_region_ops()
        complaint = first_complaint(self.machine())
        if complaint is not None:
            lever = f"; {complaint.lever}" if complaint.lever else ""
            raise VerifyException(f"{complaint.subject}: expected {complaint.expected}, found {complaint.found}{lever}")


DECLARATIONS = (MemoryOp, ComputeOp, CapabilityOp, LinkOp, UnitOp, IsaOp, MnemonicOp)


def _present(properties: Mapping[str, Attribute | None]) -> dict[str, Attribute]:
    return {name: attribute for name, attribute in properties.items() if attribute is not None}


def declarations(body: Region) -> list[Operation]:
    """The ops of a body, which may be empty."""
    return [op for block in body.blocks for op in block.ops]


def _capability_ops(capabilities: Sequence[Capability]) -> Region:
    return Region(Block([CapabilityOp.get(c) for c in capabilities]) if capabilities else ())


def _unit_op(unit: Unit) -> UnitOp:
    return UnitOp.create(properties={"sym_name": StringAttr(unit.name), "depth": _int(unit.depth)})


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
        StatementAttr,
        FormulaAttr,
        DimsAttr,
        NamesAttr,
        TypesAttr,
        ChoicesAttr,
        PairsAttr,
        FieldsAttr,
        OperandsAttr,
    ],
)

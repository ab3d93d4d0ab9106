"""Programs of several kernels: values in memory where `placement` says, then the code of step after step."""

from dataclasses import dataclass, field, replace

from ...algebra.affine import index_forms
from ...algebra.expr import Access, print_statement
from ...errors import InfeasibleError, TilewrightError
from ...machine import Machine
from ...machine.packet_program import Isa, Loop, Packet, PacketProgram, executed_packets
from ...machine.packet_storage import Storage
from .contraction import Addresses, Columns, Kernel, cheapest, plan_columns
from .emit import Emitter
from .forms import SINGLE, Buffer, Form, Memory
from .kernels import Program, Step, checked, joined, limits_of
from .lane_moves import is_move, move_regions
from .lanes import lane_regions
from .placement import Placement, lane_dim, place
from .regions import Lowering, Options, Region
from .roles import Contraction, Lying, contraction_of

SLACK_BYTES = 1 << 17
"""Memory behind the last tensor, which loads that run ahead may touch."""


@dataclass(frozen=True)
class Switches:
    """What the generator may do; each can be switched off to see what it is worth."""

    vectorize: bool = True
    pack: bool = True
    unroll: bool = True
    pipeline: bool = True
    choose: bool = True


def generate_network(machine: Machine, program: Program, switches: Switches | None = None) -> PacketProgram:
    """The program of packets of several kernels; `TilewrightError` where the target has no way to do one of them.

    Inputs and outputs are `stored` under the function's names.
    """
    checked(list(program.values.values()))
    program = joined(program)
    return _Network(Isa(machine), program, place(program), switches or Switches()).made()


@dataclass
class _Network:
    isa: Isa
    program: Program
    placement: Placement
    switches: Switches
    buffers: dict[str, Buffer] = field(default_factory=dict[str, Buffer])
    labels: int = 0

    def made(self) -> PacketProgram:
        """All steps' code, one after another."""
        width = Emitter(self.isa).vector_bytes
        self.storage = Storage(align_bytes(self.isa))
        self.memory = Memory(self.storage, width)
        self.storage.take(width)  # moves along lanes read some bytes before a tensor
        self.limits = limits_of(self.program)
        code: list[Packet | Loop] = []
        for step in self.program.steps:
            try:
                code += self.step(step)
            except InfeasibleError:
                raise
            except TilewrightError as error:
                raise TilewrightError(
                    error.kind, f"{step.name}: {error.subject}", error.expected, error.found, error.lever
                ) from error
        named = (self.program.weights, self.program.inputs, self.program.outputs)
        names = {value: name for each in named for name, value in each.items()}
        stored = tuple(replace(item, name=names.get(item.name, item.name)) for item in self.storage.stored)
        return PacketProgram(tuple(code), stored, self.storage.end + SLACK_BYTES, tuple(self.storage.images))

    def step(self, step: Step) -> tuple[Packet | Loop, ...]:
        """The code of one step."""
        if (contraction := self.placement.contraction(step)) is not None:
            return self.sums(step, contraction)
        emitter, extents = Emitter(self.isa), step.extents
        for access in (step.target, *step.read):
            if self.program.values[access.tensor].array is None:
                self.buffer(access.tensor)
        if is_move(step, self.buffers):
            return self.lowered(emitter, move_regions(emitter, self.memory, step.statement, extents, self.buffers))
        dim = lane_dim(self.program, step, self.placement)
        names = {access.tensor: access for access in (*step.read, step.target)}
        buffers = {name: self.operand(access, dim) for name, access in names.items()}
        return self.lowered(emitter, lane_regions(emitter, self.memory, step.statement, extents, buffers))

    def lowered(self, emitter: Emitter, regions: list[Region]) -> tuple[Packet | Loop, ...]:
        """The regions' packets; loops' counters in registers that this step leaves free."""
        options = Options(self.switches.pack, self.switches.pipeline)
        lowering = Lowering(self.isa, emitter.pool.untouched(emitter.scalars), options, self.labels)
        code = lowering.code(regions)
        self.labels = lowering.labels
        return code

    def sums(self, step: Step, roles: Contraction) -> tuple[Packet | Loop, ...]:
        """A sum of products of bytes, by the cheapest plan that registers allow."""
        scalar, target = self.buffer(roles.scalar), self.buffer(roles.target)
        shapes = {access.tensor: self.program.values[access.tensor].shape for access in step.read}
        lying = Lying(scalar.form.strides, scalar.form.origin_bytes, scalar.form.size_bytes)
        contraction = contraction_of(step.statement, step.extents, shapes, lying)
        types = {name: value.type_name for name, value in self.program.values.items()}
        addresses = Addresses(scalar.address, target.address, self.program.values[roles.vector].array)
        first = Kernel(Emitter(self.isa), self.storage, contraction, types, addresses)
        unroll, choose = self.switches.unroll, self.switches.choose
        plans = plan_columns(first.emitter, contraction, first.multiply, first.vectors, unroll, choose)
        mark = self.storage.mark()

        def made(columns: list[Columns]) -> tuple[list[Columns], tuple[Packet | Loop, ...]]:
            self.storage.back(mark)
            emitter = Emitter(self.isa)
            kernel = Kernel(emitter, self.storage, contraction, types, addresses)
            regions = kernel.regions(columns)
            self.check(step, target, kernel.target_strides())
            return columns, self.lowered(emitter, regions)

        best, _ = cheapest(plans, made, lambda found: executed_packets(found[1]))
        return made(best)[1]

    def check(self, step: Step, target: Buffer, strides: tuple[int, ...]) -> None:
        """A sum's rows follow each other as the target's form has them."""
        form = target.form
        axes = [axis for axis, index in enumerate(index_forms(step.target)) if index.terms]
        wanted = [form.strides[axis] for axis in axes if form.shape[axis] > 1]
        given = [stride for axis, stride in zip(axes, strides, strict=True) if form.shape[axis] > 1]
        if wanted != given or form.origin_bytes:
            text = print_statement(step.statement)
            raise TilewrightError("unsupported", text, "batches before rows, and nothing around sums", "others")

    def operand(self, access: Access, dim: str) -> Buffer:
        """The buffer of an access in a statement with lanes along `dim`; constants get one in a form that suits."""
        value = self.program.values[access.tensor]
        if value.array is None:
            return self.buffer(access.tensor)
        axes = [axis for axis, index in enumerate(index_forms(access)) if index.terms == ((dim, 1),)]
        lane = axes[0] if axes else SINGLE
        key = f"{access.tensor}|{lane}"
        if key not in self.buffers:
            form = Form(value.type_name, value.shape, lane, self.memory.width_bytes)
            self.buffers[key] = self.memory.constant(access.tensor, value.array, form)
        return self.buffers[key]

    def buffer(self, name: str) -> Buffer:
        """Where a value lies that is given or computed."""
        if name in self.buffers:
            return self.buffers[name]
        value, placement = self.program.values[name], self.placement
        source = self.program.aliases.get(name)
        around = placement.around.get(name)
        sides = (around.before, around.after) if around is not None else ((), ())
        form = Form(value.type_name, value.shape, placement.lanes[name], self.memory.width_bytes, *sides)
        limits = self.limits.get(name)
        if source is not None:
            whole = self.buffer(source)
            if around is not None or whole.form.before:
                raise TilewrightError("unsupported", name, "nothing around a tensor that is reshaped", "padding")
            self.buffers[name] = Buffer(name, form, whole.address, whole.limits)
            self.publish(name, self.buffers[name])
            return self.buffers[name]
        made = self.memory.buffer(name, form, self.role(name), around.value if around else 0, limits)
        self.buffers[name] = made
        return made

    def role(self, name: str) -> str:
        """What a value is to the program's caller."""
        if name in self.program.outputs.values():
            return "output"
        return "input" if name in self.program.inputs.values() else "scratch"

    def publish(self, name: str, buffer: Buffer) -> None:
        """A reshaped value that is an output is stored under its own shape, too."""
        if self.role(name) == "output":
            self.memory.store(buffer, "output")


def align_bytes(isa: Isa) -> int:
    """What addresses of tensors are multiples of."""
    return next(memory.align_bytes for memory in isa.machine.memories if memory.name == isa.memory)

"""Programs of several kernels: values in memory where `placement` says, then the code of step after step."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from ...algebra.affine import Affine, index_forms
from ...algebra.expr import Access, Name, dims_of, print_statement, target_dims
from ...errors import InfeasibleError, TilewrightError
from ...machine import Machine
from ...machine.packet_program import Isa, Loop, Packet, PacketProgram, executed_packets
from ...machine.packet_storage import Storage
from ..layer_errors import OTHERWISE
from .contraction import Addresses, Columns, Kernel, cheapest, plan_columns
from .emit import Emitter
from .forms import SINGLE, Buffer, Form, Memory
from .kernels import Program, Step, is_byte_product, joined, limits_of
from .lane_moves import is_move, move_regions
from .lanes import lane_regions
from .regions import Lowering, Options, Region
from .roles import Contraction, Lying, contraction_of


@dataclass(frozen=True)
class Around:
    """Places before and after a value along each axis, and what is in them."""

    before: tuple[int, ...]
    after: tuple[int, ...]
    value: int


@dataclass
class Placement:
    """Lanes' axis of each value, room around values, and the steps that are sums of products by rows and lanes."""

    lanes: dict[str, int] = field(default_factory=dict[str, int])
    around: dict[str, Around] = field(default_factory=dict[str, Around])
    contractions: dict[int, Contraction] = field(default_factory=dict[int, Contraction])

    def contraction(self, step: Step) -> Contraction | None:
        """The roles of a step that is such a sum."""
        return self.contractions.get(id(step))


def place(program: Program) -> Placement:
    """The placement of a program's values; `TilewrightError` where statements want a value along different lanes."""
    placement = Placement()
    for step in program.steps:
        if is_byte_product(step.statement, program.values):
            _contraction(program, step, placement)
    left = [step for step in program.steps if placement.contraction(step) is None]
    while left:
        known = [step for step in left if lane_dim(program, step, placement)]
        touched = [step for step in left if any(a.tensor in placement.lanes for a, _ in _accesses(program, step))]
        for step in known or touched[:1] or left[:1]:
            dim = lane_dim(program, step, placement)
            _spread(program, step, placement, dim or ("" if step in touched else _chosen(program, step)))
            left.remove(step)
    for alias, source in program.aliases.items():
        try:
            _alias(program, alias, source, placement)
        except TilewrightError as error:
            raise _of_step(error, _step_at(program, alias, source)) from error
    for step in program.steps:
        try:
            _room(program, step, placement)
        except TilewrightError as error:
            raise _of_step(error, step) from error
    return placement


def _step_at(program: Program, alias: str, source: str) -> Step:
    """A step that reads a reshaped value, or that makes it."""
    readers = [step for step in program.steps if alias in (access.tensor for access in step.read)]
    makers = [step for step in program.steps if step.result == source]
    return (*readers, *makers, *program.steps)[0]


def _contraction(program: Program, step: Step, placement: Placement) -> None:
    shapes = {access.tensor: program.values[access.tensor].shape for access in step.read}
    try:
        found = contraction_of(step.statement, step.extents, shapes)
    except TilewrightError:
        return
    if program.values[found.vector].array is None and found.vector not in program.inputs.values():
        return  # the host packs bytes for lanes before the program runs: constants and inputs
    axes = [axis for axis, index in enumerate(step.target.indices) if isinstance(index, Name)]
    roles = zip(axes, found.target_order, found.target_shape, strict=True)
    lanes = [(size > 1, axis) for axis, role, size in roles if role == "lane"]
    if sum(wide for wide, _ in lanes) > 1 or not lanes:
        return
    placement.contractions[id(step)] = found
    _set(placement, step, found.target, max(lanes)[1])
    _set(placement, step, found.scalar, found.scalar_strides.index(1))


def _set(placement: Placement, step: Step, name: str, axis: int) -> None:
    if placement.lanes.setdefault(name, axis) != axis:
        found = f"axes {placement.lanes[name]} and {axis}"
        text = print_statement(step.statement)
        raise TilewrightError("unsupported", text, f"one axis of {name} along lanes", found, "transpose it")


def _accesses(program: Program, step: Step) -> Iterator[tuple[Access, tuple[Affine, ...]]]:
    """The accesses of values that are computed or given, the target first, with their indices."""
    for access in (step.target, *step.read):
        if program.values[access.tensor].array is None:
            yield access, index_forms(access)


def lane_dim(program: Program, step: Step, placement: Placement) -> str:
    """The dim that lies along lanes, from a value whose lanes are known; "" if there is none."""
    for access, forms in _accesses(program, step):
        axis = placement.lanes.get(access.tensor)
        if axis is not None and axis != SINGLE and program.values[access.tensor].shape[axis] > 1:
            if len(forms[axis].names) == 1:
                return forms[axis].names[0]
    return ""


def _chosen(program: Program, step: Step) -> str:
    """The last dim that indexes tensors plainly; the target's if there is one.  "" where no dim does."""
    for dims in (target_dims(step.statement), dims_of(step.statement)):
        for dim in reversed(dims):
            indices = [index for _, forms in _accesses(program, step) for index in forms if index.coefficient(dim)]
            if step.extents[dim] > 1 and all(index.terms == ((dim, 1),) for index in indices):
                return dim
    return ""


def _spread(program: Program, step: Step, placement: Placement, dim: str) -> None:
    """Lanes along `dim` for all values of a step; a value without it fills its lanes with one element."""
    for access, forms in _accesses(program, step):
        shape = program.values[access.tensor].shape
        axes = [axis for axis, form in enumerate(forms) if form.terms == ((dim, 1),)]
        if axes:
            _set(placement, step, access.tensor, axes[0])
        elif access.tensor not in placement.lanes:
            single = [axis for axis, size in enumerate(shape) if size == 1]
            placement.lanes[access.tensor] = single[-1] if single else SINGLE
        elif placement.lanes[access.tensor] != SINGLE and shape[placement.lanes[access.tensor]] > 1:
            _set(placement, step, access.tensor, SINGLE)


def _alias(program: Program, alias: str, source: str, placement: Placement) -> None:
    """A reshaped value keeps its bytes where lanes and rows stay what they are; both get the lanes that one has."""
    shapes = program.values[alias].shape, program.values[source].shape
    squeezed = [[n for n in shape if n > 1] for shape in shapes]
    if squeezed[0] != squeezed[1]:
        found = f"{shapes[1]} as {shapes[0]}"
        expected = "another shape with the same axes, but for those of size 1"
        raise TilewrightError("unsupported", "a reshape", expected, found)
    wide = [[axis for axis, n in enumerate(shape) if n > 1] for shape in shapes]
    for name, given, (own, others) in ((source, alias, wide[::-1]), (alias, source, wide)):
        axis = placement.lanes.get(given, SINGLE)
        lanes = own[others.index(axis)] if axis in others else SINGLE
        if placement.lanes.setdefault(name, lanes) != lanes and (placement.lanes[name] in own or lanes != SINGLE):
            found = f"axes {placement.lanes[name]} and {lanes}"
            raise TilewrightError("unsupported", "a reshape", "one axis along lanes in both its shapes", found)


def _room(program: Program, step: Step, placement: Placement) -> None:
    """Room for what a step reads outside of values."""
    for access in step.read:
        value, axis = program.values[access.tensor], placement.lanes.get(access.tensor)
        if value.array is not None:
            continue
        ranges = [form.range(step.extents) for form in index_forms(access)]
        if axis is not None and axis != SINGLE and value.shape[axis] == 1 and ranges[axis] != (0, 0):
            axis = placement.lanes[access.tensor] = SINGLE  # all lanes hold the element, and rows around it others
        inside = [i == axis for i in range(len(ranges))]
        before = tuple(0 if lane else max(0, -low) for (low, _), lane in zip(ranges, inside, strict=True))
        after = tuple(
            0 if lane else max(0, high + 1 - size)
            for (_, high), size, lane in zip(ranges, value.shape, inside, strict=True)
        )
        if any(before) or any(after):
            _wider(placement, access.tensor, Around(before, after, step.pads.get(access.tensor, 0)))


def _wider(placement: Placement, name: str, wanted: Around) -> None:
    old = placement.around.get(name, wanted)
    if old.value != wanted.value:
        found = f"{old.value} and {wanted.value}"
        raise TilewrightError("unsupported", "padding", "one value around a tensor", found, "copy it for a reader")
    before, after = (
        tuple(map(max, a, b)) for a, b in ((old.before, wanted.before), (old.after, wanted.after))
    )  # fmt: skip
    placement.around[name] = Around(before, after, wanted.value)


SLACK_BYTES = 1 << 17
"""Memory behind the last tensor, which loads that run ahead may touch."""


@dataclass(frozen=True)
class Switches:
    """What the generator may do; each can be switched off to see what it is worth."""

    pack: bool = True
    unroll: bool = True
    pipeline: bool = True
    choose: bool = True


def generate_network(machine: Machine, program: Program, switches: Switches | None = None) -> PacketProgram:
    """The program of packets of several kernels; `TilewrightError` where the target has no way to do one of them.

    Inputs and outputs are `stored` under the function's names.
    """
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
            except TilewrightError as error:
                raise _of_step(error, step) from error
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
            return self.lowered(emitter, move_regions(emitter, self.memory, step, self.buffers))
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
                raise TilewrightError("unsupported", "a reshape", "nothing around a tensor that is reshaped", "padding")
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


def _of_step(error: TilewrightError, step: Step) -> TilewrightError:
    """The error with the step's layer and kernel in its subject."""
    subject = f"{step.layer}, kernel @{step.name}: {error.subject}" if step.layer else f"{step.name}: {error.subject}"
    if isinstance(error, InfeasibleError):
        return InfeasibleError(error.resource, error.demand, error.bound, error.unit, error.lever, subject)
    return TilewrightError(error.kind, subject, error.expected, error.found, error.lever or OTHERWISE)


def align_bytes(isa: Isa) -> int:
    """What addresses of tensors are multiples of."""
    return isa.machine.memory_by_name[isa.memory].align_bytes

"""Between `nest` IR and the plain data of the mapping search."""

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import cast

from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from ...algebra.element import ELEMENT_TYPES
from ...algebra.expr import print_statement, tensors_of
from ...costs.hierarchy import Architecture, LoopMapping, Problem
from ...costs.hierarchy.statement import problem_of_statement
from ...costs.mapping.binding import Bound
from ...costs.mapping.levels import mapping_of, tree_of
from ...costs.mapping.matching import Match, match_as
from ...costs.mapping.problem import Buffer, Group, Kernel
from ...costs.mapping.tree import Hold, Leaf, Loop, Node, Spatial
from ...dialects import nest
from ...dialects.layer_attributes import nodes_of
from ...dialects.nest_mapping import HoldOp
from ...dialects.types import dtype_of, element_type_name
from ...errors import InfeasibleError, TilewrightError
from ...machine import Capability, Machine
from ...machine.memory_chain import memory_chain, multiply_accumulate, multiply_accumulates


def group_of(op: nest.GroupOp) -> Group:
    """The group as a search problem; equal groups give equal problems, whatever they are called."""
    names = op.buffers()
    inputs = {name.data for name in op.input_names}
    results = {names[value] for value in op.yielded}
    kernels = tuple(kernel_of(kernel, names) for kernel in op.kernels)
    types = {name: cast(TensorType[Attribute], value.type) for value, name in names.items()}
    buffers = tuple(_buffer(n, types[n], n in inputs, n in results) for n in types)
    return _one(Group(op.dims.data, kernels, buffers))


@lru_cache(maxsize=1 << 12)
def _one(group: Group) -> Group:
    """The same object for equal groups, which work out once what follows from them."""
    return group


def _buffer(name: str, type_: TensorType[Attribute], is_input: bool, is_result: bool) -> Buffer:
    element = type_.element_type
    return Buffer(
        name, tuple(type_.get_shape()), element_type_name(element), dtype_of(element).itemsize, is_input, is_result
    )


def kernel_of(op: nest.KernelOp, names: Mapping[SSAValue, str]) -> Kernel:
    """A kernel of a group whose buffers have these names."""
    statement, values = op.statement.data, op.values
    order = tensors_of(statement)
    return Kernel(
        op.sym_name.data,
        statement,
        tuple((tensor, names[values[tensor]]) for tensor in order),
        tuple((tensor, _type_name(values[tensor])) for tensor in order),
        op.start is not None,
        tuple(op.pads),
    )


def _type_name(value: SSAValue) -> str:
    return element_type_name(cast(TensorType[Attribute], value.type).element_type)


def tree_region(nodes: tuple[Node, ...]) -> Region:
    """A mapping tree as the region of a group."""
    return Region(Block([_operation(node) for node in nodes]))


def _operation(node: Node) -> Operation:
    match node:
        case Loop(dim, step, body):
            return nest.ForOp(dim, step, tree_region(body))
        case Hold(memory, buffers, slots, body):
            return nest.HoldOp(memory, buffers, slots, tree_region(body))
        case Spatial(dim, ways, target, axis, body, step):
            return nest.SpatialOp(dim, ways, target, axis, tree_region(body), step)
        case Leaf(kernel, match, dims):
            return nest.ComputeOp(kernel) if match is None else _bound_compute(kernel, match, dims)


def _bound_compute(kernel: str, match: Match, dims: Bound) -> nest.ComputeOp:
    on = match.capability.node, match.capability.name
    functions, immediates = dict(match.functions), dict(match.immediates)
    return nest.ComputeOp(kernel, on, dict(dims), dict(match.tensors), functions, immediates)


def region_tree(region: Region, group: Group, machine: Machine | None) -> tuple[Node, ...]:
    """The mapping tree of a region; computes that are bound keep their capability.  Without a machine none may be.

    Raises `TilewrightError` (kind `unsupported`) for a capability that the machine does not have, or that cannot run
    the kernel as it is bound.
    """
    if not region.blocks:
        return ()
    return tuple(_node(op, group, machine) for op in region.block.ops)


def _node(op: Operation, group: Group, machine: Machine | None) -> Node:
    match op:
        case nest.ForOp():
            return Loop(op.dim.data, op.step.value.data, region_tree(op.body, group, machine))
        case nest.HoldOp():
            memory = op.memory.root_reference.data
            return Hold(memory, op.buffer_names, op.slots.value.data, region_tree(op.body, group, machine))
        case nest.SpatialOp():
            node = op.node.root_reference.data
            body = region_tree(op.body, group, machine)
            return Spatial(op.dim.data, op.ways.value.data, node, op.axis.data, body, op.piece)
        case nest.ComputeOp():
            return Leaf(op.kernel.data) if op.on is None else _bound_leaf(op, group, machine)
        case _:
            raise TypeError(f"{op.name} in a mapping")


def _bound_leaf(op: nest.ComputeOp, group: Group, machine: Machine | None) -> Leaf:
    if machine is None:
        lever = "change the mapping before nest-map binds its computes"
        raise TilewrightError("unsupported", f"compute @{op.kernel.data}", "no capability yet", str(op.on), lever)
    kernel = next(k for k in group.kernels if k.name == op.kernel.data)
    assert op.dims is not None
    assert op.tensors is not None
    for node in machine.computes:
        for capability in node.capabilities:
            if (node.name, capability.name) != (op.node, op.capability):
                continue
            functions = () if op.functions is None else op.functions.data
            immediates = () if op.immediates is None else op.immediates.data
            found = match_as(kernel, capability, op.tensors.data, functions, immediates)
            if found is None or not _slots_fit(found, op.dims.data):
                continue
            return Leaf(kernel.name, found, op.dims.data)
    text = print_statement(kernel.statement)
    raise TilewrightError(
        "unsupported",
        f"compute @{op.kernel.data}",
        f"a capability of {machine.name} that runs `{text}` as it is bound",
        f"{op.node}.{op.capability}",
        "leave the binding to nest-map",
    )


def _slots_fit(found: Match, dims: Bound) -> bool:
    slots = dict(found.slots)
    return all(slot in slots.get(dim, ()) for slot, dim in dims) and len({slot for slot, _ in dims}) == len(dims)


def set_mapping(op: nest.GroupOp, nodes: tuple[Node, ...]) -> None:
    """Replaces the mapping of a group."""
    for block in list(op.mapping.blocks):
        op.mapping.erase_block(block)
    region = tree_region(nodes)
    region.move_blocks(op.mapping)


MOST_NODES = 3
"""Nodes of a model that an error names."""


def layer_words(group: nest.GroupOp) -> str:
    """What errors call a group: the nodes of the model that it is of, as far as it says, and its name."""
    name, nodes = group.sym_name.data, nodes_of(group)
    if not nodes or nodes == (name,):
        return f"group @{name}"
    more = " and others" * (len(nodes) > MOST_NODES)
    return f"layer {' + '.join(nodes[:MOST_NODES])}{more}, group @{name}"


def in_group(error: TilewrightError, group: nest.GroupOp) -> TilewrightError:
    """The error with the group's name in its subject, and nodes of the model that the group is of."""
    subject = f"{layer_words(group)}, {error.subject}"
    if isinstance(error, InfeasibleError):
        return InfeasibleError(error.resource, error.demand, error.bound, error.unit, error.lever, subject)
    return TilewrightError(error.kind, subject, error.expected, error.found, error.lever)


def problem_of(kernel: nest.KernelOp, name: str | None = None, typed: bool = True) -> Problem:
    """The loop nest of a kernel in a group, its tensors named as in its statement, inputs first.

    With `typed` an element has the bits of its type, unless the group's attribute `elements` is "words"; otherwise each
    is one word of whatever memory it is in.
    `TilewrightError` (kind `unsupported`) for a kernel that is no such nest, see `problem_of_statement`.
    """
    group = kernel.group
    typed = typed and group.attributes.get("elements") != nest.WORDS
    bits = (
        {tensor: 8 * ELEMENT_TYPES[element].itemsize for tensor, element in types_of(kernel).items()} if typed else {}
    )
    return problem_of_statement(kernel.statement.data, group.extents, name or kernel.sym_name.data, bits)


def types_of(kernel: nest.KernelOp) -> dict[str, str]:
    """Each tensor of a kernel's statement -> the name of its element type."""
    return {tensor: _type_name(value) for tensor, value in kernel.values.items()}


def buffers_of(kernel: nest.KernelOp) -> dict[str, str]:
    """Each tensor of a kernel's statement -> its buffer in the group."""
    names = kernel.group.buffers()
    return {tensor: names[value] for tensor, value in kernel.values.items()}


def only_kernel(group: nest.GroupOp) -> nest.KernelOp:
    """The kernel of a group that has one; raises `TilewrightError` (kind `unsupported`) if it has more."""
    if len(group.kernels) != 1:
        found = ", ".join(f"@{kernel.sym_name.data}" for kernel in group.kernels) or "none"
        raise TilewrightError("unsupported", f"group @{group.sym_name.data}", "one kernel", found)
    return group.kernels[0]


def put_mapping(group: nest.GroupOp, arch: Architecture, problem: Problem, mapping: LoopMapping) -> None:
    """Makes a mapping the tree of a group of one kernel."""
    kernel = only_kernel(group)
    set_mapping(group, tree_of(arch, problem, mapping, kernel.sym_name.data, buffers_of(kernel)))


def capability_of(group: nest.GroupOp, machine: Machine) -> Capability:
    """The multiply-accumulate that a mapped group runs on: the first whose memories its tree names all."""
    held = {op.memory.root_reference.data for op in group.walk() if isinstance(op, HoldOp)}
    found = [c for c in multiply_accumulates(machine) if held <= {m.name for m in memory_chain(machine, c).memories}]
    first = next(iter(found), multiply_accumulate(machine))
    if first is None:
        lever = "give a compute node a capability like `O{} += I{} * W{}`"
        raise TilewrightError("target", machine.name, "a capability that sums products of operands", "none", lever)
    return first


def read_mapping(group: nest.GroupOp, machine: Machine | None, arch: Architecture, problem: Problem) -> LoopMapping:
    """The mapping that the tree of a group of one kernel spells; errors as for `mapping_of`."""
    nodes = region_tree(group.mapping, group_of(group), machine)
    return mapping_of(arch, problem, nodes, buffers_of(only_kernel(group)))


Nodes = tuple[Node, ...]


def change_groups(
    name: str, op: ModuleOp, only: str, change: Callable[[nest.GroupOp, Nodes], Nodes], unmapped: bool = False
) -> None:
    """Replaces the tree of each group by what `change` makes of it; `only` names one group, empty means all.

    A group without a mapping is an error, or with `unmapped` has its computes in order.  `TilewrightError`s of `change`
    get the group's name.
    """
    groups = [group for group in op.walk() if isinstance(group, nest.GroupOp)]
    chosen = [group for group in groups if not only or group.sym_name.data == only]
    if only and not chosen:
        names = ", ".join(group.sym_name.data for group in groups[:8]) or "none"
        raise TilewrightError("usage", f"{name}: group", f"one of the module's groups ({names})", only)
    for group in chosen:
        try:
            set_mapping(group, change(group, _tree(group, unmapped)))
        except TilewrightError as error:
            raise in_group(error, group) from error


def _tree(group: nest.GroupOp, unmapped: bool) -> Nodes:
    if group.is_mapped:
        return region_tree(group.mapping, group_of(group), None)
    if not unmapped:
        raise TilewrightError("unsupported", "mapping", "loops to change", "none", "run nest-tile before")
    return tuple(Leaf(kernel.sym_name.data) for kernel in group.kernels)

"""What an accelerator must satisfy: nodes, links and capabilities here, instructions in `instruction_rules`.

The `.acg` front end tells the first broken rule with the line of the declaration, the dialect's verifier with the op.
"""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from graphlib import CycleError, TopologicalSorter

from ..algebra.element import ELEMENT_TYPES
from ..algebra.expr import Access, Call, Expr, accesses, dims_of, free_names, print_expr, scalars_of, tensors_of, walk
from ..algebra.formula import FORMULA_FUNCTIONS, evaluate_formula
from ..algebra.functions import FUNCTIONS
from ..algebra.lookup import lookup_of
from ..errors import TilewrightError
from .area import area_complaints
from .complaint import Complaint, repeated
from .dram import DramTiming, timing_complaints
from .feeding_rules import bandwidth_complaints, feeding_complaints
from .instruction_rules import instruction_complaints
from .macro_rules import macro_complaints
from .memory_chain import chain_complaints
from .model import MIN_BANDWIDTH, Capability, Compute, Link, Machine, Memory
from .packet_rules import packet_complaints
from .paths import reachable
from .threads import thread_complaints

CONTROLS = ("queues", "packets", "loops", "threads", "stages")
MAX_BYTES = 1 << 62
MAX_INSTANCES = 1 << 20
INDEX_TYPES = ("i32", "i64")
NAME = re.compile(r"[A-Za-z_][A-Za-z_0-9]*")


@lru_cache(maxsize=16)
def first_complaint(machine: Machine) -> Complaint | None:
    """The first rule that the machine breaks, or None.  Modules are verified between passes: the answer is kept."""
    return next(complaints(machine), None)


def check_machine(machine: Machine, where: Callable[[str], str] | None = None) -> None:
    """Raises `TilewrightError` (kind `target`) for the first rule that is broken; `where` places its subject."""
    if (broken := first_complaint(machine)) is not None:
        subject = where(broken.subject) if where is not None else f"{machine.name}: {broken.subject}"
        raise TilewrightError("target", subject, broken.expected, broken.found, broken.lever)


def complaints(machine: Machine) -> Iterator[Complaint]:
    """Every broken rule, in the order of the rules."""
    subject = f"acg {machine.name}"
    if machine.control not in CONTROLS:
        yield Complaint(subject, f"control {' or '.join(CONTROLS)}", f"`{machine.control}`")
    if machine.stages is not None and machine.control != "stages":
        yield Complaint(subject, "control stages for tokens, microops or shadow", machine.control)
    if not 0 < machine.frequency_hz < math.inf:
        yield Complaint(subject, "a positive frequency", f"{machine.frequency_hz}")
    yield from _repetitions(machine)
    for unit in machine.units:
        if not 0 <= unit.depth < MAX_BYTES:
            yield Complaint(f"unit {unit.name}", "a depth of at least 0 and below 2^62", f"{unit.depth}")
    for memory in machine.memories:
        yield from _memory(machine, memory)
    if not machine.offchip:
        yield Complaint(subject, "a memory that is `offchip`", "none", "mark the memory that holds inputs and outputs")
    for link in machine.links:
        yield from _link(machine, link)
    yield from _cycle(machine)
    for compute in machine.computes:
        yield from _compute(machine, compute)
    yield from chain_complaints(machine)
    yield from area_complaints(machine)
    instructions = list(instruction_complaints(machine))
    yield from instructions or feeding_complaints(machine)
    yield from () if instructions else macro_complaints(machine)
    yield from packet_complaints(machine)
    yield from thread_complaints(machine)


def _repetitions(machine: Machine) -> Iterator[Complaint]:
    nodes = [(m.name, f"memory {m.name}") for m in machine.memories]
    nodes += [(c.name, f"compute {c.name}") for c in machine.computes]
    yield from repeated(nodes, "a name for one node only")
    yield from repeated([(link.name, f"link {link.name}") for link in machine.links], "one link each way between nodes")
    yield from repeated([(unit.name, f"unit {unit.name}") for unit in machine.units], "units with different names")
    for owner in (*machine.computes, *machine.links):
        names = [(c.name, f"capability {owner.name}.{c.name}") for c in owner.capabilities]
        yield from repeated(names, "capabilities of a node with different names")


def _memory(machine: Machine, memory: Memory) -> Iterator[Complaint]:
    subject = f"memory {memory.name}"
    sizes = {"data_width": memory.data_width_bits, "banks": memory.banks}
    sizes |= {} if memory.depth is None else {"depth": memory.depth}
    sizes["align"] = memory.align_bytes
    for name, value in sizes.items():
        if value < 1:
            yield Complaint(subject, f"{name} of at least 1", f"{value}", "a memory must hold something")
    if memory.align_bytes > max(memory.capacity_bytes, 1):
        yield Complaint(subject, "an alignment within the memory", f"{memory.align_bytes} bytes")
    bits = memory.data_width_bits * memory.banks
    odd = bits % 8 and machine.mnemonics  # addresses are in bytes
    if odd or not (memory.capacity_bytes < MAX_BYTES or memory.depth is None):
        yield Complaint(subject, "elements of whole bytes, below 2^62 bytes in all", f"{bits} bits by {memory.depth}")
    if memory.depth is None and not memory.offchip:
        yield Complaint(subject, "a depth", "none", "only what is `offchip` may be without a limit")
    for energy in (memory.read_energy_pj_per_byte, memory.write_energy_pj_per_byte):
        if not 0 <= energy < math.inf:
            yield Complaint(subject, "finite energies of at least 0 pJ", f"{energy}")
    if min(memory.instances_x, memory.instances_y) < 1 or memory.instances_x * memory.instances_y > MAX_INSTANCES:
        yield Complaint(subject, f"1 to {MAX_INSTANCES} instances", f"[{memory.instances_x}][{memory.instances_y}]")
    if not 1 <= memory.buffering < math.inf:
        yield Complaint(subject, "a buffering of at least 1", f"{memory.buffering}", "2 is double buffering")
    if memory.regions < 0:
        yield Complaint(subject, "a count of regions", f"{memory.regions}", "0 is no limit")
    if memory.timing is not None:
        yield from _timing(subject, memory, memory.timing)
    yield from _ports(subject, memory)


def _timing(subject: str, memory: Memory, timing: DramTiming) -> Iterator[Complaint]:
    yield from (Complaint(f"timing of {subject}", *fault) for fault in timing_complaints(timing))
    if not memory.offchip:
        yield Complaint(f"timing of {subject}", "a memory that is `offchip`", "one on chip", "leave the timing out")
    if memory.depth is not None and memory.capacity_bytes > timing.capacity_bytes:
        expected = f"at most the {timing.capacity_bytes} bytes of {timing.name}"
        found = f"{memory.capacity_bytes} bytes, so that two bursts would share one place"
        yield Complaint(f"timing of {subject}", expected, found, "more channels or rows, or less depth")


def _ports(subject: str, memory: Memory) -> Iterator[Complaint]:
    ports = memory.ports
    if not 1 <= ports.block_words < MAX_BYTES:
        yield Complaint(subject, "a block of at least 1 word", f"{ports.block_words}")
    if not 0 <= ports.latency_cycles < MAX_BYTES:
        yield Complaint(subject, "a latency of at least 0 and below 2^62 cycles", f"{ports.latency_cycles}")
    if not (
        0 <= ports.flit_bits <= 1 << 16 and 1 <= ports.queue_flits <= 1 << 16 and 1 <= ports.router_cycles <= 1 << 16
    ):
        found = f"{ports.flit_bits} bits, {ports.queue_flits} flits, {ports.router_cycles} cycles"
        yield Complaint(subject, "a mesh of flits, queues and routers of 1 to 65536 bits, flits and cycles", found)
    for energy in (ports.read_energy_pj, ports.write_energy_pj, ports.hop_energy_pj, ports.tag_energy_pj):
        if energy is not None and not 0 <= energy < math.inf:
            yield Complaint(subject, "finite energies of at least 0 pJ", f"{energy}")
    for rate in (ports.read_bandwidth, ports.write_bandwidth, ports.shared_bandwidth, ports.network_bandwidth):
        if rate is not None and not MIN_BANDWIDTH <= rate < math.inf:
            expected = f"positive bandwidths, at least {MIN_BANDWIDTH:g} words per cycle"
            yield Complaint(subject, expected, f"{rate}", "without one it is unlimited")
    per_byte = memory.read_energy_pj_per_byte or memory.write_energy_pj_per_byte
    if per_byte and (ports.read_energy_pj is not None or ports.write_energy_pj is not None):
        yield Complaint(subject, "energies per byte or per access", "both", "leave one out")
    if ports.write_energy_pj is not None and ports.read_energy_pj is None:
        yield Complaint(subject, "access_energy beside write_access_energy", "none")


def _link(machine: Machine, link: Link) -> Iterator[Complaint]:
    subject = f"link {link.name}"
    memories = machine.memory_by_name.keys()
    nodes = memories | {compute.name for compute in machine.computes}
    unknown = [name for name in (link.src, link.dst) if name not in nodes]
    if unknown:
        yield Complaint(subject, f"nodes among {', '.join(sorted(nodes))}", f"`{unknown[0]}`")
    if link.src == link.dst:
        yield Complaint(subject, "two different nodes", f"{link.src} twice")
    limited = link.bandwidth_bytes_per_cycle < math.inf
    if link.bandwidth_bytes_per_cycle < MIN_BANDWIDTH or (machine.mnemonics and not limited):
        found = f"{link.bandwidth_bytes_per_cycle}" if limited else "none"
        expected, lever = f"a positive bandwidth, at least {MIN_BANDWIDTH:g}", "give the bytes that it moves in a cycle"
        yield Complaint(subject, expected, found, lever)
    if not 0 <= link.latency_cycles < MAX_BYTES:
        yield Complaint(subject, "a latency of at least 0 and below 2^62 cycles", f"{link.latency_cycles}")
    if not NAME.fullmatch(link.channel) and link.channel != default_channel(machine, link):
        yield Complaint(subject, "a name for the channel", f"`{link.channel}`")
    for capability in link.capabilities:
        yield from _capability(capability)
        moves = len(tensors_of(capability.statement)) == 2 or lookup_of(capability.statement) is not None
        if not {link.src, link.dst} <= memories or not moves:
            where = f"capability {link.name}.{capability.name}"
            yield Complaint(where, "a statement that moves one tensor between two memories", "something else")
    yield from bandwidth_complaints(link)


def default_channel(machine: Machine, link: Link) -> str:
    """The channel of a link where the text names none: both halves of `A <-> B` share `A<->B`."""
    first = link.reversed() if link.back else link
    both = link.back or any(x.back and (x.dst, x.src) == (link.src, link.dst) for x in machine.links)
    return f"{first.src}<->{first.dst}" if both else ""


def _cycle(machine: Machine) -> Iterator[Complaint]:
    """Memories from off-chip inward: links into off-chip memories and back halves of `<->` lead outward."""
    memories = machine.memory_by_name
    inward = [x for x in machine.links if not x.back and {x.src, x.dst} <= memories.keys()]
    inward = [link for link in inward if not memories[link.dst].offchip]
    sorter: TopologicalSorter[str] = TopologicalSorter()
    for link in inward:
        sorter.add(link.dst, link.src)
    try:
        sorter.prepare()
        return
    except CycleError:
        import networkx as nx  # slow to load, and seldom needed

    graph: nx.DiGraph[str] = nx.DiGraph([(x.src, x.dst) for x in inward])
    rings = {name: ring for ring in nx.strongly_connected_components(graph) for name in ring}
    for link in inward:
        ring = rings[link.src]
        if link.dst in ring:
            around = ", ".join(name for name in memories if name in ring)
            lever = "declare the outward direction as the second half of `<->`"
            yield Complaint(f"link {link.name}", "memories in a hierarchy", f"a cycle through {around}", lever)


def _compute(machine: Machine, compute: Compute) -> Iterator[Complaint]:
    subject = f"compute {compute.name}"
    if min(compute.instances_x, compute.instances_y) < 1 or compute.instances_x * compute.instances_y > MAX_INSTANCES:
        found = f"[{compute.instances_x}][{compute.instances_y}]"
        yield Complaint(subject, f"1 to {MAX_INSTANCES} instances", found)
    forth = [(link.src, link.dst) for link in machine.links]
    lever = f"link {compute.name} with a memory"
    if compute.name not in reachable(forth, machine.offchip):
        yield Complaint(subject, "a path of links from an off-chip memory", "none", lever)
    if compute.name not in reachable([(dst, src) for src, dst in forth], machine.offchip):
        yield Complaint(subject, "a path of links to an off-chip memory", "none", lever)
    memories = machine.memory_by_name
    fed = any(src in memories and dst == compute.name for src, dst in forth)
    drained = any(src == compute.name and dst in memories for src, dst in forth)
    for capability in compute.capabilities:
        yield from _capability(capability)
        where = f"capability {compute.name}.{capability.name}"
        if lookup_of(capability.statement) is not None:
            yield Complaint(where, "a lookup as a capability of a link", f"one of {compute.name}")
        if not fed and len(capability.operands) > 1:
            yield Complaint(where, "a memory that feeds its operands", "no link from one", lever)
        if not drained:
            yield Complaint(where, "a memory that takes its result", "no link to one", lever)


def _capability(capability: Capability) -> Iterator[Complaint]:
    subject = f"capability {capability.node}.{capability.name}"
    yield from _dims(subject, capability)
    yield from _types(subject, capability)
    yield from _value(subject, capability)
    names = [dim.name for dim in capability.dims]
    unknown = [dim for dim in capability.splits if dim not in names]
    if unknown or len(set(capability.splits)) < len(capability.splits):
        yield Complaint(subject, f"splits among the dims {', '.join(names)}", ", ".join(capability.splits))
    yield from _formula(subject, "cycles", capability, capability.cycles)
    yield from _formula(subject, "energy", capability, capability.energy_pj)


def _dims(subject: str, capability: Capability) -> Iterator[Complaint]:
    names = [dim.name for dim in capability.dims]
    used = dims_of(capability.statement)
    yield from repeated([(name, subject) for name in names], "dims with different names")
    if any(isinstance(access, Access) for access in accesses(capability.statement)):
        yield Complaint(subject, "accesses with free strides, like `O{i, j}`", "indices in brackets")
    if set(names) != set(used):
        yield Complaint(subject, f"dims {', '.join(used)}, those of the statement", ", ".join(names))
    for dim in capability.dims:
        if dim.limit < 1 or dim.lanes < 1:
            yield Complaint(subject, f"a limit and lanes of {dim.name} of at least 1", f"{dim.limit}, {dim.lanes}")


def _types(subject: str, capability: Capability) -> Iterator[Complaint]:
    operands = capability.operands
    if not capability.types:
        yield Complaint(subject, "a row of types", "none")
    for row in capability.types:
        if len(row) != len(operands):
            yield Complaint(subject, f"a type for each of {', '.join(operands)}", ", ".join(row))
        yield from _element_types(subject, row)
    yield from _element_types(subject, [type_name for _, type_name in capability.immediates])
    yield from repeated([(" ".join(row), subject) for row in capability.types], "each combination of types once")


def _element_types(subject: str, names: Iterable[str]) -> Iterator[Complaint]:
    for name in names:
        if name not in ELEMENT_TYPES:
            yield Complaint(subject, f"element types among {', '.join(ELEMENT_TYPES)}", f"`{name}`")


def _value(subject: str, capability: Capability) -> Iterator[Complaint]:
    """Scalars of the value are immediates, functions are known or variables whose every choice fits."""
    immediates = [name for name, _ in capability.immediates]
    variables = dict(capability.functions)
    scalars = scalars_of(capability.statement)
    calls = [e for e in walk(capability.statement.value) if isinstance(e, Call)]
    names = [*immediates, *(name for name, _ in capability.functions)]
    yield from repeated([(name, subject) for name in names], "different names")
    empty = [name for name, choices in capability.functions if not choices]
    if empty:
        yield Complaint(subject, f"functions that {empty[0]} may stand for", "none")
    if set(scalars) != set(immediates) or set(scalars) & set(tensors_of(capability.statement)):
        found = ", ".join(immediates) or "none"
        yield Complaint(subject, f"immediates {', '.join(scalars) or 'none'}, the statement's scalars", found)
    unused = [name for name in variables if name not in [call.fn for call in calls]]
    if unused:
        yield Complaint(subject, "function variables that the statement calls", f"`{unused[0]}`, which it does not")
    if lookup_of(capability.statement) is not None:
        yield from _index_types(subject, capability)
        return
    for call in calls:
        for name in variables.get(call.fn, (call.fn,)):
            function = FUNCTIONS.get(name)
            if function is None or function.arity != len(call.args):
                yield Complaint(subject, f"known functions of {len(call.args)} arguments", f"`{name}`")


def _index_types(subject: str, capability: Capability) -> Iterator[Complaint]:
    """A lookup moves elements of one type; index and count are integers of 32 or 64 bits."""
    for target, table, index in (row for row in capability.types if len(row) == 3):
        if target != table or index not in INDEX_TYPES:
            found = f"{target} = {table}, {index}"
            yield Complaint(subject, f"one type of elements, and an index of {' or '.join(INDEX_TYPES)}", found)
    for name, type_name in capability.immediates:
        if type_name not in INDEX_TYPES:
            yield Complaint(subject, f"{name} of {' or '.join(INDEX_TYPES)}", f"`{type_name}`")


def _formula(subject: str, what: str, capability: Capability, formula: Expr) -> Iterator[Complaint]:
    dims = {dim.name: dim.limit for dim in capability.dims}
    ways = {f"{dim}_ways": 1 for dim in capability.splits}
    known = [*dims, *ways, "ops"]
    unknown = [name for name in free_names(formula) if name not in known]
    if unknown:
        lever = "attributes are bandwidth and latency of a copy's own link, D_lanes of a dim, or like GBUF.depth"
        yield Complaint(subject, f"{what} over {', '.join(known)}", f"`{unknown[0]}`", lever)
        return
    calls = [e for e in walk(formula) if isinstance(e, Call)]
    strange = [call.fn for call in calls if FORMULA_FUNCTIONS.get(call.fn, (-1,))[0] != len(call.args)]
    if strange:
        yield Complaint(subject, f"known functions of numbers in {what}", f"`{strange[0]}`")
        return
    least, most = dict.fromkeys(dims, 1), dims
    for extents in (least, most):
        env = {**extents, **ways, "ops": math.prod(extents.values())}
        yield from _formula_value(subject, what, formula, env)


def _formula_value(subject: str, what: str, formula: Expr, env: Mapping[str, int]) -> Iterator[Complaint]:
    expected = f"{what} that {'are positive' if what == 'cycles' else 'is at least 0'} at the dims' limits"
    try:
        value = evaluate_formula(formula, env)
    except TilewrightError as error:
        yield Complaint(subject, expected, f"{error.found} in `{print_expr(formula)}`")
        return
    if not (math.isfinite(value) and (value > 0 if what == "cycles" else value >= 0)):
        yield Complaint(subject, expected, f"{value}")

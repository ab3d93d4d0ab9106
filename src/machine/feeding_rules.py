"""What links and instructions must bring where: operands from off chip, results back, at one bandwidth.

Links say what could move; only a mnemonic that executes a capability moves anything.  These rules are those of machines
whose instructions each execute a capability (control model `queues`).
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, isfinite, prod

from ..algebra.element import ELEMENT_TYPES
from ..algebra.expr import Strided, print_expr
from ..algebra.formula import evaluate_formula
from ..errors import TilewrightError
from .complaint import Complaint
from .model import Capability, Link, Machine, Mnemonic, OperandBinding
from .paths import reachable


def feeding_complaints(machine: Machine) -> Iterator[Complaint]:
    """Every operand that nothing feeds, every result that nothing takes away, every address field that is too short."""
    if machine.control != "queues":
        return
    moves = [(mnemonic, *_ends(machine, mnemonic)) for mnemonic in machine.mnemonics]
    constants = {target.memory for _, target, sources in moves if target is not None and not sources}
    steps = [(s.memory, target.memory) for _, target, sources in moves if target is not None for s in sources]
    fed = reachable(steps, constants.union(machine.offchip))
    drained = reachable([(dst, src) for src, dst in steps], machine.offchip)
    for mnemonic, target, sources in moves:
        subject = f"mnemonic {mnemonic.name}"
        for source in sources:
            if source.memory not in fed:
                expected = f"instructions that bring {source.operand} from off chip to {source.memory}"
                yield Complaint(subject, expected, "none", f"add a mnemonic that copies to {source.memory}")
        if target is not None and target.memory not in drained:
            expected = f"instructions that bring {target.operand} from {target.memory} off chip"
            yield Complaint(subject, expected, "none", f"add a mnemonic that copies from {target.memory}")
    yield from _addresses(machine)


def _ends(machine: Machine, mnemonic: Mnemonic) -> tuple[OperandBinding | None, list[OperandBinding]]:
    """The operand that an instruction writes, and those that it reads."""
    found = machine.executed(mnemonic)
    if found is None:
        return None, []
    target = next((o for o in mnemonic.operands if o.operand == found.operands[0]), None)
    return target, [o for o in mnemonic.operands if o.operand in found.operands[1:]]


@dataclass(frozen=True)
class _Narrow:
    """An address field that does not reach all of its memory."""

    name: str
    memory: str
    width_bits: int
    needed_bits: int


def _narrow(machine: Machine) -> Iterator[_Narrow]:
    for mnemonic in machine.mnemonics:
        fields = machine.fields_of(mnemonic)
        for operand in mnemonic.operands:
            memory, item = machine.memory_by_name.get(operand.memory), fields.get(operand.address)
            if memory is None or memory.depth is None or item is None or item.highest >= memory.capacity_bytes - 1:
                continue
            needed = (memory.capacity_bytes - 1).bit_length()
            yield _Narrow(f"{mnemonic.name}.{item.name}", memory.name, item.width_bits, needed)


def _addresses(machine: Machine) -> Iterator[Complaint]:
    """One complaint about all fields that are too short."""
    narrow = list(dict.fromkeys(_narrow(machine)))
    if not narrow:
        return
    needs = dict.fromkeys((item.memory, item.needed_bits) for item in narrow)
    texts = [f"{bits} bits, enough for an address in all of {memory}" for memory, bits in needs]
    first, *others = narrow
    found = ", ".join([f"{first.width_bits}", *(f"{item.width_bits} in {item.name}" for item in others)])
    yield Complaint(f"field {first.name}", "; ".join(texts), found, "widen them" if others else "widen it")


TOLERANCE = 0.01
LARGE = 1 << 20
"""Iterations of a dim by which a formula is taken as long as it gets."""


def bandwidth_complaints(link: Link) -> Iterator[Complaint]:
    """A complaint for each capability whose cycles move bytes at another rate than the link."""
    limit = link.bandwidth_bytes_per_cycle
    for capability in link.capabilities:
        rate = _elements_per_cycle(capability)
        sizes = {ELEMENT_TYPES[row[0]].itemsize for row in capability.types if row and row[0] in ELEMENT_TYPES}
        if rate is None or limit == inf or not sizes:
            continue
        if all(abs(rate * size - limit) > TOLERANCE * limit for size in sizes):
            said = capability.written[0] if capability.written is not None else capability.cycles
            yield Complaint(
                f"capability {link.name}.{capability.name}",
                f"a copy at the link's {limit:g} bytes per cycle",
                f"{rate * min(sizes):g} bytes per cycle by `{print_expr(said)}`",
                "name `bandwidth` in the formula instead of a number",
            )


def _elements_per_cycle(capability: Capability) -> float | None:
    """What a copy's cycles come to for very long runs, along the best dim; None where they do not grow with them."""
    if not isinstance(capability.statement.value, Strided):
        return None
    try:
        rates = [_rate(capability, dim.name) for dim in capability.dims]
    except TilewrightError:
        return None  # another rule tells
    return max((rate for rate in rates if isfinite(rate)), default=None)


def _rate(capability: Capability, along: str) -> float:
    """Elements per cycle from LARGE iterations of a dim on, the others at some; infinite where they cost nothing."""
    points: list[tuple[int, float]] = []
    for times in (1, 2):
        extents = {dim.name: times * LARGE * dim.lanes if dim.name == along else dim.lanes for dim in capability.dims}
        ops = prod(extents.values())
        points.append((ops, float(evaluate_formula(capability.cycles, {**extents, "ops": ops}))))
    (less, soon), (more, late) = points
    return (more - less) / (late - soon) if late > soon else inf

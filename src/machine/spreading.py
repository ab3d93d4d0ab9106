"""Which dims instructions may spread over the instances of a node, and arrays of which a part is never used."""

from collections.abc import Iterator

from .model import Capability, Compute, Machine, Mnemonic

AXES = ("x", "y")


def spreadable(machine: Machine, capability: Capability, axis: str) -> tuple[str, ...]:
    """The dims that some instruction may spread over an axis; all that the capability splits where none executes it."""
    executing = [m for m in machine.mnemonics if (m.node, m.capability) == (capability.node, capability.name)]
    named = any((macro.node, macro.capability) == (capability.node, capability.name) for macro in machine.macros)
    if not executing and not named:
        return capability.splits
    choices = {dim for mnemonic in executing for dim in _choices(machine, mnemonic, axis)}
    return tuple(dim for dim in capability.splits if dim in choices)


def idle_axes(machine: Machine) -> Iterator[str]:
    """A warning for each axis of an array that an instruction leaves idle, with the line that would use it."""
    if machine.control != "queues":
        return
    computes = machine.compute_by_name
    for mnemonic in machine.mnemonics:
        node = computes.get(mnemonic.node)
        for axis in AXES if node is not None else ():
            if node is not None and instances(node, axis) > 1 and not _choices(machine, mnemonic, axis):
                yield _warning(node, mnemonic, axis)


def instances(node: Compute, axis: str) -> int:
    """Along an axis of the node's array."""
    return node.instances_x if axis == "x" else node.instances_y


def _choices(machine: Machine, mnemonic: Mnemonic, axis: str) -> list[str]:
    """Dims that an instruction may spread over an axis."""
    name = mnemonic.spread_x if axis == "x" else mnemonic.spread_y
    fields = machine.fields_of(mnemonic)
    return [dim for dim, _ in fields[name].enum if dim != "none"] if name in fields else []


def _warning(node: Compute, mnemonic: Mnemonic, axis: str) -> str:
    capability = next((c for c in node.capabilities if c.name == mnemonic.capability), None)
    splits = capability.splits if capability is not None else ()
    share = 100 / instances(node, axis)
    bits = max(1, len(splits).bit_length())
    names = ", ".join(("none", *splits)) if splits else "none, DIM"
    field = f"S{axis.upper()}"
    lever = f"`efield {field} {bits} [{names}]; spread {axis} {field};`"
    lever += "" if splits else f" and `splits DIM;` to capability {node.name}.{mnemonic.capability}"
    which = f"{instances(node, axis)} instances of {node.name} along {axis}"
    return f"mnemonic {mnemonic.name} uses one of {which}, {share:.0f} % of that axis; to use them add {lever}"

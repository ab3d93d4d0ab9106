"""Timeloop's `architecture` as a value, with energies from its attributes or from an Accelergy table."""

from collections.abc import Iterable
from dataclasses import replace
from typing import TypeVar

from ...costs.hierarchy import Architecture, Problem, parse_architecture
from ...errors import TilewrightError
from .components import COMPUTES, READS, UPDATES, WRITES, Component, Energies, components_of, is_compute, price
from .document import Item, refuse

_N = TypeVar("_N", int, float)

SPACES = {"Outputs": "O", "Inputs": "I", "Weights": "W"}
"""Operands that the data spaces of Timeloop's layers are."""

SIZES = ("entries", "depth", "memory_depth", "sizeKB")
WIDTHS = ("word_bits", "word_width", "datawidth")
NOT_MODELLED = (
    "allow_overbooking",
    "metadata_datawidth",
    "metadata_word_bits",
    "network_read",
    "network_fill",
    "network_drain",
    "network_update",
    "router_energy",
    "per_dataspace_bandwidth_consumption_scale",
)


def architecture_of_item(
    item: Item, energies: Energies | None = None, problem: Problem | None = None, directives: Iterable[Item] = ()
) -> Architecture:
    """The machine in the value of the key `architecture` or `arch`.

    `energies` come before the attributes `vector_access_energy` and `energy`.  `directives` are those of
    `architecture_constraints`; what they and the components say about data spaces tells which operands a level may
    hold.  Operands are O, I, W where data spaces have the names of Timeloop's layers, else the tensors of `problem`.
    """
    components = _constrained(components_of(item), directives)
    *levels, arithmetic = [component for component in components if not component.hollow]
    if not is_compute(arithmetic) and any(key in arithmetic.attributes for key in SIZES):
        raise arithmetic.item.error("a component that computes as the last one", f"the storage {arithmetic.name}")
    operands = _operands(problem, [*levels, arithmetic])
    energies = energies or {}
    instances, columns = _array(arithmetic)
    energy = price(energies.get(arithmetic.name, {}), COMPUTES)
    data = {
        "name": _machine_name(item),
        "operands": list(operands.values()),
        "mac": {
            "name": arithmetic.name,
            "instances": instances,
            "meshX": columns,
            "energy": energy if energy is not None else _energy(arithmetic, "energy", "energy_per_op"),
        },
        "levels": [_level(level, energies, operands) for level in reversed(levels)],
    }
    return parse_architecture(data, item.where)


def _machine_name(item: Item) -> str:
    """The name that is given, or that of the outermost container or subtree."""
    given = item.find("an architecture", "name")
    if given is not None:
        return given.text("a name")
    for key in ("nodes", "subtree"):
        children = item.part("an architecture", key).items(key)
        name = children[0].find("a node", "name") if children else None
        if name is not None:
            return name.text("a name").split("[", maxsplit=1)[0]
    return "machine"


def _constrained(components: list[Component], directives: Iterable[Item]) -> list[Component]:
    by_name: dict[str, Component] = {}
    for component in components:
        if component.name in by_name:
            raise component.item.error("components, each with a name of its own", f"`{component.name}` twice")
        by_name[component.name] = component
    for directive in directives:
        kind = directive.find("a constraint", "type")
        target = directive.find("a constraint", "target")
        if kind is None or kind.value not in ("datatype", "bypass", "dataspace") or target is None:
            continue
        name = target.text("a target")
        if name not in by_name:
            raise target.error(f"a component among {', '.join(by_name)}", f"`{name}`")
        found, bypass = by_name[name], directive.part("a constraint", "bypass").names("bypass")
        by_name[name] = replace(found, bypass=(*found.bypass, *bypass))
    return list(by_name.values())


def _operands(problem: Problem | None, components: list[Component]) -> dict[str, str]:
    """The operand that each data space is, the output first."""
    named = {name for component in components for name in _named(component)}
    tensors = () if problem is None else sorted(problem.tensors, key=lambda tensor: not tensor.is_output)
    layer = {tensor.name for tensor in tensors} <= SPACES.keys() or (named and named <= SPACES.keys())
    spaces = SPACES if layer else {tensor.name: tensor.name for tensor in tensors}
    for component in components:
        for name in _named(component):
            if name not in spaces:
                lever = "give the problem too" if problem is None else ""
                expected = f"data spaces among {', '.join(spaces)}"
                raise TilewrightError("parse", component.item.where, expected, f"`{name}`", lever)
    return spaces


def _named(component: Component) -> tuple[str, ...]:
    return (*(component.keep or ()), *component.bypass)


def _array(component: Component) -> tuple[int, int]:
    """Instances and columns, from `instances`, `meshX` and `meshY` as far as they are given."""
    if component.instances is not None and component.columns is not None:
        return component.instances, component.columns
    total, x, y = (_whole(component, key) for key in ("instances", "meshX", "meshY"))
    if total is None:
        total = x * y if x is not None and y is not None else component.nodes
    columns = x if x is not None else total // y if y else total
    if columns < 1 or total < 1 or total % columns or (y is not None and columns * y != total):
        expected = f"{component.name}: instances that are meshX times meshY"
        rows = "not given" if y is None else f"{y}"
        raise component.item.error(expected, f"{total} instances, meshX {columns}, meshY {rows}")
    return total, columns


def _level(component: Component, energies: Energies, operands: dict[str, str]) -> dict[str, object]:
    refuse(replace(component.item, value=component.attributes), component.name, NOT_MODELLED)
    word_bits = next((value for key in WIDTHS if (value := _whole(component, key))), 16)
    block = _block(component, word_bits)
    instances, columns = _array(component)
    prices = energies.get(component.name, {})
    read, fill, update = (price(prices, actions) for actions in (READS, WRITES, UPDATES))
    if read is None:
        read = _energy(component, "vector_access_energy")
    if fill is not None and update is not None and fill != update:
        raise component.item.error(
            f"{component.name}: one energy for writes", f"{fill} for fills, {update} for updates"
        )
    whole = _number(component, "bandwidth")
    latencies = [_whole(component, key) or 0 for key in ("network_fill_latency", "network_drain_latency")]
    kept = [name for name in operands if component.keep is None or name in component.keep]
    return {
        "name": component.name,
        "entries": _entries(component, word_bits, block),
        "instances": instances,
        "meshX": columns,
        "word_bits": word_bits,
        "block_size": block,
        "energy": read,
        "write_energy": None if fill == read else fill,
        "read_bandwidth": _first(_number(component, "read_bandwidth"), None if whole is None else whole / 2),
        "write_bandwidth": _first(_number(component, "write_bandwidth"), None if whole is None else whole / 2),
        "shared_bandwidth": _number(component, "shared_bandwidth"),
        "energy_per_hop": _hop_energy(component),
        "multiple_buffering": _number(component, "multiple_buffering"),
        "latency": max(latencies),
        "keep": [operands[name] for name in kept if name not in component.bypass],
    }


def _block(component: Component, word_bits: int) -> int:
    """Words of an access; where `depth` counts lines, those that a line of `width` bits has."""
    given = _first(_whole(component, "block_size"), _whole(component, "n_words"))
    if given is not None:
        return given
    width = _first(_whole(component, "width"), _whole(component, "memory_width"))
    if width is None or not component.lines:
        return 1
    cluster = _whole(component, "cluster_size") or 1
    if width % (word_bits * cluster):
        expected = f"{component.name}: a width of whole words of {word_bits} bits"
        raise component.item.error(expected, f"{width} bits for {cluster} instances together")
    return width // (word_bits * cluster)


def _entries(component: Component, word_bits: int, block: int) -> int | None:
    """Words that an instance holds; None where no size is given."""
    entries, depth, lines, kilobytes = (_whole(component, key) for key in SIZES)
    if entries is not None:
        return entries
    depth = _first(depth, lines)
    if depth is not None:
        return depth * block
    return None if kilobytes is None else kilobytes * 1024 * 8 // word_bits


def _hop_energy(component: Component) -> float:
    wire = _number(component, "wire_energy")
    hop = _number(component, "energy_per_hop")
    if hop is None and wire:
        expected = f"{component.name}: energy_per_hop"
        raise component.item.error(expected, f"wire_energy {wire}, whose length is not known here")
    return hop or 0.0


def _energy(component: Component, *keys: str) -> float:
    found = next((component.attributes[key] for key in keys if key in component.attributes), None)
    if found is None:
        expected = f"an energy for {component.name}: {keys[0]}, or its actions in an ERT"
        lever = "give Accelergy's table (timeloop-model.ERT.yaml) as another file"
        raise TilewrightError("parse", component.item.where, expected, "none", lever)
    return found.number(f"{keys[0]} in pJ")


def _number(component: Component, key: str) -> float | None:
    found = component.attributes.get(key)
    return None if found is None or found.is_null else found.number(f"{key} of {component.name}")


def _whole(component: Component, key: str) -> int | None:
    found = component.attributes.get(key)
    return None if found is None or found.is_null else found.whole(f"{key} of {component.name}")


def _first(*values: _N | None) -> _N | None:
    return next((value for value in values if value is not None), None)

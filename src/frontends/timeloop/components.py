"""The components of Timeloop's three ways to write a machine, from DRAM to the arithmetic, with their instances."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from .document import Item

Energies = dict[str, dict[str, float]]
"""pJ by component and action; of several prices of an action the highest, as Timeloop takes it."""

READS = ("random_read", "read")
WRITES = ("random_fill", "write")
UPDATES = ("random_update", "write", "update")
COMPUTES = ("mac_random", "mult_random", "mac", "multiply", "compute")


def energies_of(item: Item) -> Energies:
    """The prices in the value of the key `ERT`; leakage and other actions are there but have no meaning here."""
    tables = item.need("an ERT", "tables")
    found: Energies = {}
    if isinstance(tables.value, dict):  # version 0.2: actions by name
        for name, actions in tables.mapping("tables").items():
            prices = found.setdefault(component_name(name), {})
            for action, entries in actions.mapping("actions").items():
                listed = entries.value if isinstance(entries.value, tuple) else (entries,)
                prices[action] = max((_energy(entry) for entry in listed), default=0.0)
        return found
    for table in tables.items("tables"):
        prices = found.setdefault(component_name(table.need("a table", "name").text("a name")), {})
        for action in table.need("a table", "actions").items("actions"):
            name = action.need("an action", "name").text("a name")
            prices[name] = max(prices.get(name, 0.0), _energy(action))
    return found


def _energy(item: Item) -> float:
    return item.need("an action", "energy").number("an energy in pJ")


def component_name(path: str) -> str:
    """The last name of a path of components, without its range: `system.PE[0..3].L1[0..7]` is `L1`."""
    return re.sub(r"\[[^\]]*\]", "", path).rsplit(".", 1)[-1]


def price(prices: dict[str, float], actions: tuple[str, ...]) -> float | None:
    """The price of the first of `actions` that is there."""
    return next((prices[action] for action in actions if action in prices), None)


MAX_INSTANCES = 1 << 24

STORAGE = ("dram", "sram", "regfile", "smartbuffer", "storage", "buffer", "register", "memory")
COMPUTE = ("mac", "compute", "multiplier", "alu")
NETWORKS = ("XY_NoC", "Legacy", "ReductionTree", "SimpleMulticast")


@dataclass(frozen=True)
class Component:
    """A storage level or (the last) the arithmetic.

    `attributes` are its own and those of what it is in; `columns` and `instances` count all copies (None: not said,
    `nodes` of them because of what they are in).  `keep` and `bypass` are constraints by the names of data spaces.
    """

    name: str
    item: Item
    classes: str
    attributes: dict[str, Item]
    nodes: int = 1
    columns: int | None = None
    instances: int | None = None
    keep: tuple[str, ...] | None = None
    bypass: tuple[str, ...] = ()
    lines: bool = False  # `depth` counts lines of `width` bits
    hollow: bool = False  # stores nothing: spatial loops over the array of a container are said to be at it


def components_of(item: Item) -> list[Component]:
    """The components in the value of the key `architecture` or `arch`."""
    if item.find("an architecture", "nodes") is not None:
        found = list(_Nodes().walk(item, _Place({}, 1, 1)))
    elif item.find("an architecture", "subtree", "local") is not None:
        found = list(_tree(item, {}, 1))
    elif item.find("an architecture", "storage") is not None:
        found = _lists(item)
    else:
        raise item.error("an architecture: nodes, a subtree, or storage and arithmetic", "none of them")
    if sum(not component.hollow for component in found) < 2 or found[0].hollow:
        raise item.error("an architecture: a storage level first, the arithmetic last", f"{len(found)} components")
    return found


def hollow_levels(components: list[Component]) -> dict[str, str]:
    """By name of a component that stores nothing: the storage around it.  Outer ones come first."""
    found: dict[str, str] = {}
    around = ""
    for component in components:
        if component.hollow:
            found[component.name] = around
        else:
            around = component.name
    return found


def _lists(item: Item) -> list[Component]:
    """Storage from the innermost out, and the arithmetic beside it."""
    storage = item.need("an architecture", "storage").items("storage")
    arithmetic = item.need("an architecture", "arithmetic")
    named = arithmetic.find("arithmetic", "name")
    levels = [_listed(level, level.need("a storage level", "name").text("a name")) for level in reversed(storage)]
    return [*levels, _listed(arithmetic, named.text("a name") if named is not None else "MAC")]


def _listed(item: Item, name: str) -> Component:
    found = item.find("a component", "class", "technology")
    return Component(name, item, found.text("a class") if found is not None else "", item.mapping("a component"))


def _tree(item: Item, outer: dict[str, Item], copies: int) -> Iterator[Component]:
    """`local` components, then the one subtree; a name like `PE[0..3]` stands for four."""
    inherited = outer | item.part("a subtree", "attributes").mapping("attributes")
    for component in item.part("a subtree", "local").items("local"):
        name = component.need("a component", "name").text("a name")
        classes = _classes(component)
        if classes in NETWORKS:
            raise component.error("components that store or compute", f"the network {name}")
        yield Component(
            component_name(name),
            component,
            classes,
            inherited | component.part("a component", "attributes").mapping("attributes"),
            copies * range_of(component, name),
            hollow=classes.startswith("dummy_storage"),
        )
    subtrees = item.part("a subtree", "subtree").items("subtree")
    if len(subtrees) > 1:
        raise subtrees[1].error("one subtree: a chain of levels", "a second one")
    for subtree in subtrees:
        name = subtree.need("a subtree", "name").text("a name")
        yield from _tree(subtree, inherited, copies * range_of(subtree, name))


def range_of(item: Item, name: str) -> int:
    """How many `name[first..last]` stands for."""
    match = re.search(r"\[(\d{1,9})\.\.(\d{1,9})\]$", name)
    if match is None:
        if "[" in name:
            raise item.error("a range like [0..15] with numbers", f"`{name}`")
        return 1
    count = int(match[2]) - int(match[1]) + 1
    if count < 1:
        raise item.error("a range that is not empty", f"`{name}`")
    return count


def _classes(item: Item) -> str:
    texts = [item.find("a component", key) for key in ("class", "subclass")]
    return " ".join(text.text("a class") for text in texts if text is not None)


@dataclass(frozen=True)
class _Place:
    """What is known on the way down: attributes that are inherited, and the array that one sits in."""

    attributes: dict[str, Item]
    columns: int
    rows: int

    def inside(self, item: Item) -> "_Place":
        """Below a container, or at a component, with `attributes` and `spatial` of its own."""
        spatial = item.part("a node", "spatial")
        fan = [spatial.find("spatial", key) for key in ("meshX", "meshY")]
        columns, rows = (1 if x is None else max(1, x.whole("a mesh")) for x in fan)
        place = replace(
            self,
            attributes=self.attributes | item.part("a node", "attributes").mapping("attributes"),
            columns=self.columns * columns,
            rows=self.rows * rows,
        )
        if place.columns * place.rows > MAX_INSTANCES:
            raise item.error(f"at most {MAX_INSTANCES} instances", f"{place.columns} x {place.rows}")
        return place


class _Nodes:
    """Version 0.4: containers and components in the order of data, `!Parallel` ones beside each other."""

    def walk(self, item: Item, place: _Place, parallel: bool = False) -> Iterator[Component]:
        for node in item.need("nodes", "nodes").items("nodes"):
            match node.tag:
                case "Container":
                    inside = place.inside(node)
                    if (inside.columns, inside.rows) != (place.columns, place.rows):
                        name = node.need("a container", "name").text("a name")
                        yield Component(f"inter_{name}_spatial", node, "", {}, hollow=True)
                    place = inside
                case "Component":
                    inside = place.inside(node)
                    yield self.component(node, inside, parallel)
                    place = replace(inside, attributes=place.attributes)
                case "Parallel":
                    yield from self.walk(node, place, True)
                case "Hierarchical":
                    yield from self.walk(node, place)
                case "Nothing":
                    pass
                case _:
                    found = f"!{node.tag}" if node.tag else "no tag"
                    raise node.error("!Container, !Component, !Parallel, !Hierarchical or !Nothing", found)

    def component(self, node: Item, place: _Place, parallel: bool) -> Component:
        name = node.need("a component", "name").text("a name")
        copies = range_of(node, name)
        found = Component(
            component_name(name),
            node,
            _classes(node),
            place.attributes,
            columns=place.columns * copies,
            instances=place.columns * place.rows * copies,
            lines=True,
        )
        dataspace = node.part("a component", "constraints").find("constraints", "dataspace")
        if dataspace is None:
            return found
        keep, bypass, only = (dataspace.find("dataspace", key) for key in ("keep", "bypass", "keep_only"))
        if only is None and parallel and bypass is None:
            only = keep  # what is beside it has the others
        return replace(
            found,
            keep=only.names("keep") if only is not None else None,
            bypass=bypass.names("bypass") if bypass is not None else (),
        )


def is_compute(component: Component) -> bool:
    """Whether the class says that it computes."""
    lower = component.classes.lower()
    return any(word in lower for word in COMPUTE) and not any(word in lower for word in STORAGE)

"""Layers in IR: attribute `layers` of what is lowered to instructions, and the table of a `mnemonic.program`."""

from collections.abc import Iterable
from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr, DenseArrayBase, DictionaryAttr, StringAttr, i64
from xdsl.ir import Attribute, Operation

from ..errors import TilewrightError
from ..machine.layer_table import Layer, LayerTable
from .mnemonic import ProgramOp

LAYERS = "layers"
"""On a group or codelet: the nodes of the model that it is of; on a program: its layers."""

RUNS = "layer_runs"
"""On a program: for each run of instructions its layer and its length."""

PLANNED = "planned"
"""On a layer, and the group that it becomes: its layer group, its fused group, and the tiles of that (`dram-apply`)."""


def set_nodes(op: Operation, nodes: Iterable[str]) -> None:
    """Note on a group or codelet which nodes of the model it is of, where there are some."""
    if names := dict.fromkeys(nodes):
        op.attributes[LAYERS] = _strings(names)


def nodes_of(op: Operation) -> tuple[str, ...]:
    """The nodes of the model that a group or codelet is of, as far as it says."""
    return _texts(op.attributes.get(LAYERS))


@dataclass(frozen=True)
class Planned:
    """What a schedule of DRAM says of a layer: the numbers of its layer group and fused group, and tiles of that."""

    layer_group: int
    fused_group: int
    tiles: int


def set_planned(op: Operation, planned: Planned) -> None:
    """Note what a schedule says of a layer."""
    numbers = [planned.layer_group, planned.fused_group, planned.tiles]
    op.attributes[PLANNED] = DenseArrayBase.from_list(i64, numbers)


def planned_of(op: Operation) -> Planned | None:
    """What a schedule says of a layer; `TilewrightError` (kind `schedule`) where no `set_planned` noted it."""
    given = op.attributes.get(PLANNED)
    if given is None:
        return None
    numbers = [int(number) for number in given.get_values()] if isinstance(given, DenseArrayBase) else []
    if len(numbers) != 3 or numbers[2] < 1:
        raise TilewrightError("schedule", PLANNED, "a layer group, a fused group, and at least one tile", str(given))
    return Planned(*numbers)


def set_layers(op: ProgramOp, table: LayerTable) -> None:
    """Note the layers of a program."""
    if table.layers:
        op.attributes[LAYERS] = ArrayAttr(
            DictionaryAttr({"name": StringAttr(one.name), "nodes": _strings(one.nodes), "group": StringAttr(one.group)})
            for one in table.layers
        )
        op.attributes[RUNS] = DenseArrayBase.from_list(i64, [number for run in table.runs for number in run])


def layers_of(op: ProgramOp) -> LayerTable:
    """The layers of a program; `TilewrightError` (kind `program`) where they are not as `set_layers` notes them."""
    layers, runs = op.attributes.get(LAYERS), op.attributes.get(RUNS)
    if layers is None and runs is None:
        return LayerTable()
    if not isinstance(layers, ArrayAttr) or not isinstance(runs, DenseArrayBase):
        raise TilewrightError("program", LAYERS, f"a list of layers, and {RUNS}", "something else")
    numbers = [int(number) for number in runs.get_values()]
    return LayerTable(tuple(_layer(entry) for entry in layers), tuple(zip(numbers[::2], numbers[1::2], strict=False)))


def _layer(entry: Attribute) -> Layer:
    if isinstance(entry, DictionaryAttr):
        name, group = entry.data.get("name"), entry.data.get("group")
        if isinstance(name, StringAttr) and isinstance(group, StringAttr):
            return Layer(name.data, _texts(entry.data.get("nodes")), group.data)
    raise TilewrightError("program", LAYERS, "name, nodes and group of each layer", str(entry))


def _strings(texts: Iterable[str]) -> ArrayAttr[StringAttr]:
    return ArrayAttr(StringAttr(text) for text in texts)


def _texts(attribute: Attribute | None) -> tuple[str, ...]:
    items = attribute if isinstance(attribute, ArrayAttr) else ()
    return tuple(item.data for item in items if isinstance(item, StringAttr))

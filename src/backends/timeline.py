"""When the instructions of a program run: a row for each, as values, and tables of them for pandas."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from ..errors import TilewrightError
from ..extras import extra

if TYPE_CHECKING:
    from .program import Program

TABLES = ("layers", "timeline")
"""What `table_of` makes."""

Table = Literal["layers", "timeline"]


@dataclass(frozen=True)
class TimelineRow:
    """An instruction in time: its number in the program, mnemonic, unit, compute node or link, and layer.

    `dram_bytes` are what it reads and writes off chip.
    """

    instruction: int
    name: str
    unit: str
    node: str
    layer: str
    start_cycle: int
    end_cycle: int
    ops: int
    dram_bytes: int
    energy_pj: float


def timeline_of(program: Program) -> tuple[TimelineRow, ...]:
    """The instructions in the order in which they start, by their own cycles; nothing is computed.

    `TilewrightError` (kind `unsupported`) for machines that keep no time of each instruction.
    """
    from .simulator import simulate

    result = simulate(program, functional=False, checks=False)
    if (stream := result.stream) is None:
        expected, found = "a machine of control queues", f"{program.machine.name}, of {program.machine.control}"
        raise TilewrightError("unsupported", "timeline", expected, found, "ask for its layers")
    table, numbers = program.layer_table, program.layer_table.numbers()
    offchip = {place for place, memory in enumerate(program.machine.memories) if memory.offchip}
    rows: list[TimelineRow] = []
    for issue in result.issues:
        plan, bound = stream.plans[issue.index], stream.plans[issue.index].bound
        layer = table.layers[numbers[issue.index]].name if numbers else ""
        name, node = (bound.mnemonic.name, bound.node.name) if bound is not None else ("nothing", "")
        moved = sum(t.byte_count * (t.reads + t.writes) for t in plan.touches if t.memory in offchip)
        unit = program.machine.units[stream.units[issue.index]].name
        times = issue.start_cycle, issue.end_cycle
        rows.append(TimelineRow(issue.index, name, unit, node, layer, *times, plan.ops, moved, plan.energy_pj))
    return tuple(rows)


def table_of(program: Program, table: Table) -> Any:
    """Layers or timeline as a pandas `DataFrame`, a column for each figure; bytes of a memory are columns of their own.

    `TilewrightError` (kind `usage`) for another table, and without pandas (extra `pandas`).
    """
    pandas = extra("pandas", "pandas", "to_pandas")
    if table not in TABLES:
        raise TilewrightError("usage", "to_pandas", f"one of {', '.join(TABLES)}", f"{table!r}")
    if table == "timeline":
        return pandas.DataFrame([asdict(row) for row in program.timeline])
    return pandas.DataFrame([flat_layer(layer.as_dict()) for layer in program.layers])


def flat_layer(layer: Mapping[str, Any]) -> dict[str, Any]:
    """A layer's figures with names for those that are kept by memory and by unit."""
    own = {key: value for key, value in layer.items() if not isinstance(value, dict)}
    parts = {f"{name}.{key}": value for key in ("memory_bytes", "busy_cycles") for name, value in layer[key].items()}
    return {**own, "nodes": " ".join(layer["nodes"]), **parts}

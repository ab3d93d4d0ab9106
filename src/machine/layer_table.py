"""The layers of a program: which of a model's nodes each is of, and which instructions are its."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, cast

from ..errors import TilewrightError
from ..names import take_name


@dataclass(frozen=True)
class Read:
    """A tensor that a layer reads: a result of the layer of nodes `source`, or with "" an input of the network.

    `memory` is where the layer finds it, as far as its codelets say.
    """

    source: str
    tensor: str
    type: str
    bytes: int
    memory: str = ""


@dataclass(frozen=True)
class LayerSource:
    """A layer of these `nodes`; `ir` has its text by level (`nest`, `codelet`), `notes` what was decided about it."""

    name: str
    nodes: tuple[str, ...]
    reads: tuple[Read, ...] = ()
    notes: Mapping[str, Any] = field(default_factory=dict[str, Any])
    ir: Mapping[str, str] = field(default_factory=dict[str, str])

    def as_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        reads = [asdict(read) for read in self.reads]
        plain = {"name": self.name, "nodes": list(self.nodes), "reads": reads}
        return {**plain, "notes": dict(self.notes), "ir": dict(self.ir)}


def layer_source_of(entry: Mapping[str, Any]) -> LayerSource:
    """The source that `LayerSource.as_dict` wrote."""
    reads = tuple(
        Read(str(item["source"]), str(item["tensor"]), str(item["type"]), int(item["bytes"]), str(item["memory"]))
        for item in entry["reads"]
    )
    ir = {str(level): str(text) for level, text in entry["ir"].items()}
    return LayerSource(str(entry["name"]), tuple(map(str, entry["nodes"])), reads, dict(entry["notes"]), ir)


@dataclass(frozen=True)
class Layer:
    """Nodes of the model that run as one, the first of which gives the name; `group` is its fused group, or ""."""

    name: str
    nodes: tuple[str, ...]
    group: str = ""


@dataclass(frozen=True)
class LayerTable:
    """The layers of a program, and `runs` of instructions in program order: the number of a layer, and how many.

    A program that knows no layers has none of both.
    """

    layers: tuple[Layer, ...] = ()
    runs: tuple[tuple[int, int], ...] = ()

    @property
    def known(self) -> bool:
        """Whether the program knows its layers."""
        return bool(self.layers or self.runs)

    def numbers(self) -> list[int]:
        """The number of its layer for each instruction."""
        return [layer for layer, count in self.runs for _ in range(count)]

    def check(self, instructions: int) -> None:
        """Raises `TilewrightError` (kind `program`) where the runs are not those of a program of that length."""
        if not self.known:
            return
        for layer, count in self.runs:
            if not 0 <= layer < len(self.layers) or count < 1:
                expected = f"runs of instructions of layers 0 to {len(self.layers) - 1}"
                raise TilewrightError("program", "layers", expected, f"{count} of layer {layer}")
        covered = sum(count for _, count in self.runs)
        if covered != instructions:
            raise TilewrightError("program", "layers", f"runs of {instructions} instructions in all", f"{covered}")

    def as_dict(self) -> dict[str, Any]:
        """Plain data, for JSON."""
        return {"layers": [asdict(layer) for layer in self.layers], "layer_runs": [list(run) for run in self.runs]}


def layer_table_of(entry: Mapping[str, Any]) -> LayerTable:
    """The table that `LayerTable.as_dict` wrote; an empty one where there is none."""
    layers = tuple(
        Layer(str(item["name"]), tuple(str(node) for node in item["nodes"]), str(item["group"]))
        for item in entry.get("layers", ())
    )
    runs = cast("list[tuple[int, int]]", entry.get("layer_runs", []))
    return LayerTable(layers, tuple((int(layer), int(count)) for layer, count in runs))


@dataclass
class LayerRecorder:
    """Collects the layers of a program while its instructions are written."""

    layers: dict[tuple[tuple[str, ...], str], Layer] = field(default_factory=dict[tuple[tuple[str, ...], str], Layer])
    numbers: dict[tuple[tuple[str, ...], str], int] = field(default_factory=dict[tuple[tuple[str, ...], str], int])
    names: set[str] = field(default_factory=set[str])
    runs: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])

    def layer(self, nodes: Sequence[str], group: str = "") -> int:
        """The number of the layer of these nodes; of another layer that has the same name, one is called `name.1`."""
        key = tuple(dict.fromkeys(nodes)), group
        if key not in self.numbers:
            self.numbers[key] = len(self.layers)
            self.layers[key] = Layer(take_name(key[0][0], self.names), *key)
        return self.numbers[key]

    def took(self, layer: int, count: int) -> None:
        """The next `count` instructions are of a layer."""
        if count and self.runs and self.runs[-1][0] == layer:
            self.runs[-1] = layer, self.runs[-1][1] + count
        elif count:
            self.runs.append((layer, count))

    def table(self) -> LayerTable:
        """What has been recorded."""
        return LayerTable(tuple(self.layers.values()), tuple(self.runs))

    def table_of(self, numbers: Iterable[int]) -> LayerTable:
        """The table of instructions of these layers instead, one number for each."""
        self.runs = []
        for layer in numbers:
            self.took(layer, 1)
        return self.table()

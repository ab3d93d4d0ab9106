"""What a layer was compiled from: what it reads of which layer, and its text in the IR of each level."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any


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

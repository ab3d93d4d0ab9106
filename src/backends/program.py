"""A compiled program: the bytes of its instructions, where its tensors lie, and its weights; saved as a folder."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..algebra.blocked import BlockedLayout
from ..arrays import said
from ..errors import TilewrightError
from ..files import MODEL_SUFFIXES, link_file, make_folder, read_table, replacing_all, sealed_table
from ..frontends import acg
from ..machine import Machine
from ..machine.layer_table import LayerSource, LayerTable, layer_source_of, layer_table_of
from ..machine.tensor_placement import TensorPlacement
from ..resources import Resources
from .control_models import ControlModel, control_model
from .timeline import Table, TimelineRow, table_of, timeline_of

if TYPE_CHECKING:
    from .simulator.layers import LayerFigures


@dataclass(frozen=True)
class Region:
    """`bytes` bytes of a memory from `start` on, for a map of the fused group of instructions `first` to `last`."""

    name: str
    memory: str
    start: int
    bytes: int
    first: int
    last: int


def region_of(entry: Mapping[str, Any]) -> Region:
    """A region from the table of a saved program; `TilewrightError` (kind `program`) where something is missing."""
    missing = [key for key in ("name", "memory", "start", "bytes", "first", "last") if key not in entry]
    if missing:
        raise TilewrightError("program", "regions", f"{missing[0]} of each region", "none")
    start, size, first, last = (int(entry[key]) for key in ("start", "bytes", "first", "last"))
    return Region(str(entry["name"]), str(entry["memory"]), start, size, first, last)


def check_regions(machine: Machine, regions: Iterable[Region]) -> None:
    """Raises `TilewrightError` (kind `program`) for a region outside of its memory, or of no instructions."""
    capacities = {memory.name: memory.capacity_bytes for memory in machine.memories}
    for region in regions:
        end = region.start + region.bytes
        if region.start < 0 or region.bytes < 0 or end > capacities.get(region.memory, -1):
            expected = f"bytes within {', '.join(f'{size} of {name}' for name, size in capacities.items())}"
            raise TilewrightError("program", region.name, expected, f"{region.start} to {end} of {region.memory}")
        if not 0 <= region.first <= region.last:
            raise TilewrightError("program", region.name, "instructions in order", f"{region.first} to {region.last}")


TARGET, WEIGHTS, SOURCES, TABLE = "target.acg", "weights.npz", "sources.json", "program.json"
"""Files of a compiled folder, beside the code."""

SHARED = "shared.npz"
"""Weights that several folders have in one file, beside those of the program alone."""

ROLES = ("input", "output", "weight", "temp")


@dataclass(frozen=True)
class Candidate:
    """A way to run a network that `compile` compared: a method that groups layers, or layer by layer.

    `cycles` and `energy_pj` are predicted; where there is no such program, `error` says why.
    """

    method: str
    cycles: float | None = None
    energy_pj: float | None = None
    error: str = ""
    chosen: bool = False


@dataclass(frozen=True)
class Program:
    """Everything that running a network on `machine` needs; its control model says what the bytes of `code` are.

    `constants` are the weights by tensor name; `predicted` are figures of the cost model (`cycles`, `energy_pj`,
    `dram_bytes`, ...); `ops_max` is the largest number of IR operations that there were at any time; `regions` are
    those of fused groups; `layer_table` says which instructions are of which layer; `candidates` what the program was
    chosen from, where there was a choice; `lower_bound` has the figures `cycles`, `energy_pj` and `dram_bytes` that no
    program of the network goes below, where they are known, and `bound_by` the argument for the cycles; `sources` is
    what layers were compiled from, `origin` what was compiled: the name of the model, its shapes, and options;
    `refused` says which ways to compile were tried before this one, and what they lacked; `why`, in words, why this way
    was taken where there were several.
    """

    machine: Machine
    code: bytes
    tensors: tuple[TensorPlacement, ...]
    constants: Resources
    predicted: Mapping[str, float] = field(default_factory=dict[str, float])
    ops_max: int = 0
    regions: tuple[Region, ...] = ()
    layer_table: LayerTable = field(default_factory=LayerTable)
    candidates: tuple[Candidate, ...] = ()
    lower_bound: Mapping[str, float] = field(default_factory=dict[str, float])
    bound_by: str = ""
    sources: tuple[LayerSource, ...] = field(default=(), repr=False)
    origin: Mapping[str, Any] = field(default_factory=dict[str, Any])
    refused: tuple[str, ...] = ()
    why: str = ""

    def __repr__(self) -> str:
        count = sum(count for _, count in self.layer_table.runs)
        known = len(self.layer_table.layers)
        layers = f"{known} layer{'s' * (known != 1)}, {count} instructions, " if self.layer_table.known else ""
        cycles = f", {self.predicted['cycles']:.0f} cycles predicted" if "cycles" in self.predicted else ""
        return f"<Program for {self.machine.name}: {layers}{len(self.code)} bytes{cycles}>"

    @property
    def title(self) -> str:
        """What was compiled, as far as it has a name: that of a file without its folder."""
        model = str(self.origin.get("model", ""))
        return Path(model).name if Path(model).suffix in MODEL_SUFFIXES else model

    @property
    def control(self) -> ControlModel:
        """The machine's control model."""
        return control_model(self.machine)

    @cached_property
    def decoded(self) -> Any:
        """What `code` says; `TilewrightError` (kind `program`) where it is no program of the machine."""
        return self.control.decode(self)

    @property
    def instruction_count(self) -> int:
        """Instructions in `code`."""
        return self.control.instruction_count(self)

    def bounds(self, cycles: float) -> dict[str, Any]:
        """What answers say of the lower bound, and how far above it `cycles` are; nothing where it is not known."""
        if not (least := self.lower_bound.get("cycles")):
            return {}
        return {"lower_bound": dict(self.lower_bound), "gap": cycles / least - 1, "bound_by": self.bound_by}

    @property
    def choice(self) -> dict[str, Any]:
        """What answers say of the choice between ways to compile; nothing where there was none."""
        told = {"why": self.why} if self.why else {}
        return {**told, "candidates": [asdict(way) for way in self.candidates]} if self.candidates else told

    @property
    def layouts(self) -> list[dict[str, str]]:
        """Inputs, outputs and weights that lie in another way than row-major: name, role, and how."""
        return self.control.layouts(self)

    @cached_property
    def exports(self) -> Mapping[str, bytes]:
        """Files for other tools, by name."""
        return self.control.exports(self)

    @cached_property
    def layers(self) -> tuple[LayerFigures, ...]:
        """What each layer will take, by the instructions' own cycles, bytes and energy; nothing is computed."""
        from .simulator import simulate

        return simulate(self, functional=False, checks=False).layers

    @cached_property
    def timeline(self) -> tuple[TimelineRow, ...]:
        """When each instruction will run, in the order in which they start (`backends.timeline`)."""
        return timeline_of(self)

    def to_pandas(self, table: Table = "layers") -> Any:
        """`layers` or `timeline` as a pandas `DataFrame`; `TilewrightError` (kind `usage`) without pandas."""
        return table_of(self, table)

    def save(self, folder: str | Path, shared: Path | None = None, names: Collection[str] = ()) -> Path:
        """Writes the code, `target.acg`, the tables, `weights.npz` and `exports` into `folder`, which is made.

        The weights `names` are in the file `shared` already, which becomes one of the folder's by another name.
        """
        folder = make_folder(folder)
        common = [SHARED] if shared is not None else []
        files = (self.control.code_file, TARGET, WEIGHTS, SOURCES, *common, *self.exports)
        with replacing_all(folder, (*files, TABLE)) as places:
            places[self.control.code_file].write_bytes(self.code)
            places[TARGET].write_text(acg.print_target(self.machine), encoding="utf-8")
            own = {name: array for name, array in self.constants.items() if name not in names}
            Resources(own).save(places[WEIGHTS])
            if shared is not None:
                link_file(shared, places[SHARED])
            sources = [source.as_dict() for source in self.sources]
            places[SOURCES].write_text(json.dumps(sources, indent=1), encoding="utf-8")
            for name, content in self.exports.items():
                places[name].write_bytes(content)
                places[name].chmod(0o755 if "." not in name else 0o644)
            table = {
                "tensors": [asdict(tensor) for tensor in self.tensors],
                "predicted": dict(self.predicted),
                "lower_bound": dict(self.lower_bound),
                "bound_by": self.bound_by,
                "origin": dict(self.origin),
                "refused": list(self.refused),
                **self.choice,
                "ops_max": self.ops_max,
                "regions": [asdict(region) for region in self.regions],
                **self.layer_table.as_dict(),
            }
            places[TABLE].write_text(sealed_table(table, {name: places[name] for name in files}), encoding="utf-8")
        return folder

    def tensor(self, name: str) -> TensorPlacement:
        """The placement of a tensor; `TilewrightError` (kind `program`) if there is none."""
        for tensor in self.tensors:
            if tensor.name == name:
                return tensor
        raise TilewrightError("program", name, "a tensor of the program", "no such name")


def is_program(folder: str | Path) -> bool:
    """Whether `Program.save` wrote a folder."""
    return (Path(folder) / TARGET).is_file()


def load_program(folder: str | Path) -> Program:
    """Reads a folder that `Program.save` wrote; `TilewrightError` (kind `file` or `program`) if it is none."""
    folder = Path(folder)
    if not is_program(folder):
        points = sorted(path.parent.name for path in folder.glob(f"*/{TARGET}")) if folder.is_dir() else []
        if points:
            lever = f"name one of its folders: {', '.join(points[:5])}"
            raise TilewrightError("file", str(folder), "a folder of one program", f"one of {len(points)}", lever)
        raise TilewrightError(
            "file", str(folder), "a folder written by compile", "no target.acg in it", "compile a model to it"
        )
    table = read_table(folder, TABLE)
    machine = acg.load_target(folder / TARGET)
    files = control_model(machine).code_file, TARGET, WEIGHTS, SOURCES
    if not set(files) <= set(table["files"]):
        raise TilewrightError("file", str(folder), ", ".join(files), ", ".join(table["files"]), "compile again")
    code = (folder / files[0]).read_bytes()
    constants = Resources.load(folder / WEIGHTS)
    if SHARED in table["files"]:
        constants = Resources({**Resources.load(folder / SHARED), **constants})
    try:
        sources = tuple(layer_source_of(entry) for entry in json.loads((folder / SOURCES).read_text(encoding="utf-8")))
        tensors = tuple(_placement(entry) for entry in table["tensors"])
        predicted, bound = (
            {str(key): float(value) for key, value in table.get(name, {}).items()}
            for name in ("predicted", "lower_bound")
        )
        regions = tuple(region_of(entry) for entry in table.get("regions", ()))
        layers = layer_table_of(table)
        program = Program(machine, code, tensors, constants, predicted, int(table["ops_max"]), regions, layers)
        program = replace(program, lower_bound=bound, bound_by=str(table.get("bound_by", "")), sources=sources)
        refused, why = tuple(map(str, table.get("refused", ()))), str(table.get("why", ""))
        program = replace(program, origin=dict(table.get("origin", {})), refused=refused, why=why)
        program = replace(program, candidates=tuple(map(_candidate, table.get("candidates", ()))))
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise TilewrightError(
            "program", str(folder / "program.json"), "a table of tensors", said(error), "compile again"
        ) from error
    check_tensors(machine, tensors)
    check_regions(machine, program.regions)
    layers.check(program.instruction_count)  # decodes the code, which must be a program where no layers are known, too
    return program


def _candidate(entry: Mapping[str, Any]) -> Candidate:
    cycles, energy_pj = (None if entry[key] is None else float(entry[key]) for key in ("cycles", "energy_pj"))
    return Candidate(str(entry["method"]), cycles, energy_pj, str(entry["error"]), bool(entry["chosen"]))


def _placement(entry: Mapping[str, Any]) -> TensorPlacement:
    dtype = np.dtype(str(entry["dtype"])).name
    shape = tuple(int(n) for n in entry["shape"])
    layout = _layout(entry["layout"]) if entry.get("layout") is not None else None
    return TensorPlacement(
        str(entry["name"]), str(entry["role"]), dtype, shape, str(entry["memory"]), int(entry["address"]), layout
    )


def _layout(entry: Mapping[str, Any]) -> BlockedLayout:
    pads = tuple((int(before), int(after)) for before, after in entry["pads"])
    blocks, order, pitches = (tuple(int(n) for n in entry[name]) for name in ("blocks", "order", "pitches"))
    return BlockedLayout(pads, blocks, order, int(entry["fill"]), pitches, bool(entry.get("planes")))


def check_tensors(machine: Machine, tensors: Iterable[TensorPlacement]) -> None:
    """Raises `TilewrightError` (kind `program`) for a tensor without a name or role, or outside of its memory."""
    capacities = {memory.name: memory.capacity_bytes for memory in machine.memories}
    for tensor in tensors:
        if not tensor.name:
            raise TilewrightError("program", f"a tensor of {tensor.memory} at {tensor.address}", "a name", "none")
        if tensor.role not in ROLES:
            raise TilewrightError("program", tensor.name, f"a role among {', '.join(ROLES)}", f"`{tensor.role}`")
        if tensor.memory not in capacities:
            raise TilewrightError(
                "program", tensor.name, f"a memory among {', '.join(capacities)}", f"`{tensor.memory}`"
            )
        end = tensor.address + tensor.size_bytes
        if tensor.address < 0 or min(tensor.shape, default=1) < 0 or end > capacities[tensor.memory]:
            raise TilewrightError(
                "program",
                tensor.name,
                f"bytes in 0 to {capacities[tensor.memory]} of {tensor.memory}",
                f"{tensor.address} to {end}",
            )

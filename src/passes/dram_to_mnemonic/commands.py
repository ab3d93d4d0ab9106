"""Instructions that a machine has for what tiles need, found by what they mean, as rows of field values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from itertools import combinations_with_replacement
from math import ceil, prod

from ...algebra.formula import evaluate_formula
from ...algebra.parser import parse_statement
from ...costs.dram.instructions import Issue
from ...costs.dram.platform import MEANINGS, instructions_of
from ...costs.dram.tables import Floats, Ints
from ...costs.dram.workspace import issue_scratch
from ...errors import TilewrightError
from ...machine import Compute, Machine
from ..codelet_to_queues.isa import Binding, Isa

COPY = "D{e, d, c, b, a} = S{e, d, c, b, a}"

Place = tuple[int, Mapping[str, int]]
"""Address, and byte stride by dim."""


@dataclass(frozen=True)
class Step:
    """One instruction of a tile: `after` are steps of the tile that other units must have completed."""

    binding: Binding
    row: list[int]
    cycles: int
    after: tuple[int, ...] = ()


@dataclass
class Commands:
    """A machine's instructions on the buffer `buffer`; TilewrightError (kind `target`) where one is missing."""

    machine: Machine
    buffer: str
    offchip: str
    _spreads: dict[tuple[object, ...], tuple[int, dict[str, str]]] = field(
        default_factory=dict[tuple[object, ...], tuple[int, dict[str, str]]]
    )

    @cached_property
    def isa(self) -> Isa:
        """All bindings."""
        return Isa(self.machine)

    @cached_property
    def bindings(self) -> dict[str, Binding]:
        """The instruction for each of `MEANINGS`."""
        return {name: self._find(name) for name in MEANINGS}

    @cached_property
    def issue(self) -> Issue:
        """Cycles of instructions, for the compiled choice of chunks."""
        found = instructions_of(self.machine)
        if found is None:
            raise self._missing("dims of instructions for tiles as they are named in docs/dram.md")
        return found.issue

    @cached_property
    def scratch(self) -> tuple[Ints, Floats]:
        """What that choice keeps."""
        return issue_scratch()

    @cached_property
    def load(self) -> Binding:
        """The instruction that copies into the buffer."""
        return self._copy(self.offchip, self.buffer)

    @cached_property
    def store(self) -> Binding:
        """The instruction that copies out of it."""
        return self._copy(self.buffer, self.offchip)

    def _copy(self, source: str, target: str) -> Binding:
        for binding in self.isa.copies(source, target):
            if binding.capability.statement == parse_statement(COPY):
                return binding
        raise self._missing(f"a copy {COPY} from {source} to {target}")

    def _find(self, name: str) -> Binding:
        text, types = MEANINGS[name]
        statement = parse_statement(text)
        for bindings in self.isa.bindings.values():
            for binding in bindings:
                same = binding.capability.statement == statement and types in binding.capability.types
                slots = zip(binding.operands, types, strict=True) if same else ()
                if same and all(slot.allows(element, self.buffer) for slot, element in slots):
                    return binding
        raise self._missing(f"a mnemonic for {text} on {', '.join(types)} in {self.buffer}")

    def _missing(self, expected: str) -> TilewrightError:
        lever = "add one to the target file"
        return TilewrightError("target", f"machine {self.machine.name}", expected, "none", lever)

    def step(
        self,
        binding: Binding,
        types: tuple[str, ...],
        extents: Mapping[str, int],
        places: Mapping[str, Place],
        *,
        function: str = "",
        values: Mapping[str, int] | None = None,
        keep: bool = False,
        after: tuple[int, ...] = (),
    ) -> Step:
        """An instruction with all fields but those of the header."""
        cycles, spread = self.best_spread(binding, extents)
        row = binding.row(types, dict.fromkeys(binding.functions, function), values or {}, spread)
        subject = f"{binding.mnemonic.name} of {self.machine.name}"
        for dim, extent in extents.items():
            if extent > binding.limit(dim):
                expected = f"at most {binding.limit(dim)} iterations of {dim}"
                raise TilewrightError("target", subject, expected, str(extent), "use smaller tiles")
            if dim in binding.extents:
                row[binding.extents[dim]] = extent
        for position, slot in enumerate(binding.operands):
            row[slot.address], strides = places[slot.name]
            for dim, stride in strides.items():
                if extents.get(dim, 1) > 1:
                    binding.set_stride(row, position, dim, stride, subject)
        if keep:
            row[binding.accumulate] = 1
        return Step(binding, row, cycles, after)

    def best_spread(self, binding: Binding, extents: Mapping[str, int]) -> tuple[int, dict[str, str]]:
        """Fewest cycles of an issue, and the dim that each axis of the node carries for that."""
        key = (binding.number, *extents.items())
        known = self._spreads.get(key)
        if known is None:
            axes = [axis for axis in ("x", "y") if axis in binding.spread]
            options = combinations_with_replacement(("none", *binding.capability.splits), len(axes))
            tries = [dict(zip(axes, option, strict=True)) for option in options]
            known = min(((self.cycles(binding, extents, spread), spread) for spread in tries), key=lambda pair: pair[0])
            self._spreads[key] = known
        return known

    def cycles(self, binding: Binding, extents: Mapping[str, int], spread: Mapping[str, str]) -> int:
        """Cycles of an issue on a compute node, as the machine's formula has it."""
        dims = {dim.name: extents.get(dim.name, 1) for dim in binding.capability.dims}
        env: dict[str, int | float] = {**dims, **{f"{dim}_ways": 1 for dim in dims}, "ops": prod(dims.values())}
        node = next((node for node in self.machine.computes if node.name == binding.mnemonic.node), None)
        for axis, dim in spread.items():
            if dim != "none" and isinstance(node, Compute):
                env[f"{dim}_ways"] *= node.instances_x if axis == "x" else node.instances_y
        return max(0, ceil(evaluate_formula(binding.capability.cycles, env))) + self._latency(binding)

    def _latency(self, binding: Binding) -> int:
        node, links = binding.mnemonic.node, self.machine.links
        return max((link.latency_cycles for link in links if node in (link.src, link.dst)), default=0)

    def transfer_cycles(self, binding: Binding, size_bytes: int, extents: Mapping[str, int]) -> int:
        """Cycles of a copy over its link."""
        name = binding.mnemonic.node.replace(" ", "")
        link = next(link for link in self.machine.links if link.name == name)
        dims = {dim.name: extents.get(dim.name, 1) for dim in binding.capability.dims}
        said = ceil(evaluate_formula(binding.capability.cycles, {**dims, "ops": prod(dims.values())}))
        return link.latency_cycles + max(said, ceil(size_bytes / link.bandwidth_bytes_per_cycle))

"""What a run of a machine of loops works on, and its counts."""

from dataclasses import dataclass, field

import numpy as np

from ....algebra.formula import evaluate_formula
from ....machine import Machine
from ..energy import Counts, peak_ops_per_cycle
from .array import ArrayRun, memory_of
from .chip import Chip, points
from .groups import Nest, Transfer
from .reach import Written
from .timeline import Timeline
from .vector import VectorRun


@dataclass
class RunState:
    """What a run works on."""

    machine: Machine
    chip: Chip
    time: Timeline
    counts: Counts
    functional: bool
    written: Written = field(default_factory=Written)

    def link(self, transfer: Transfer) -> str:
        """The link that a transfer goes over."""
        ends = (memory_of(self.machine, transfer), self.time.channel)
        return "->".join(ends if transfer.store else ends[::-1])

    def cycles(self, size: int, transfer: Transfer) -> int:
        """Cycles of a transfer of so many bytes; traps where there is no link."""
        name = self.link(transfer)
        for link in self.machine.links:
            if link.name == name:
                return int(-(-size // link.bandwidth_bytes_per_cycle)) + link.latency_cycles
        raise transfer.step.trap("illegal", "a link that the transfer goes over", name)

    def issue_cycles(self, array: ArrayRun) -> int:
        """Cycles of an issue of the array."""
        return int(evaluate_formula(array.capability.cycles, {d.name: d.limit for d in array.capability.dims}))

    def count_transfer(self, size: int, transfer: Transfer) -> None:
        """Counts a transfer of so many bytes."""
        counts = self.counts
        on, off = counts.memories[memory_of(self.machine, transfer)], counts.memories[self.time.channel]
        source, target = (on, off) if transfer.store else (off, on)
        source.read_bytes += size
        target.write_bytes += size
        link = counts.links[self.link(transfer)]
        link.issues += 1
        link.bytes += size
        link.ops += size
        link.busy_cycles += self.cycles(size, transfer)
        link.full_cycles += self.cycles(size, transfer)

    def count_sums(self, array: ArrayRun, cycles: int) -> None:
        """Counts the issues of a tile of sums."""
        counts, capability = self.counts, array.capability
        node = counts.computes[array.engine.node]
        ops = array.issues * int(np.prod([dim.limit for dim in capability.dims], dtype=np.int64))
        node.issues += array.issues
        node.ops += ops
        node.busy_cycles += cycles
        computes = self.machine.compute_by_name
        node.full_cycles += ops / peak_ops_per_cycle(computes[array.engine.node], capability)
        node.energy_pj += float(evaluate_formula(capability.energy_pj, {"ops": ops}))
        for name, size in array.sums.read_bytes().items():
            counts.memories[name].read_bytes += size
        counts.memories[array.sums.target.memory].write_bytes += array.sums.read_bytes()[array.sums.target.memory]
        counts.units[array.group.unit].busy_cycles += cycles

    def count_nest(self, vector: VectorRun, nest: Nest) -> None:
        """Counts the instructions of a body in its loops."""
        counts = self.counts
        rows = points([(n, 0) for n in nest.extents])
        counts.units[vector.group.unit].busy_cycles += vector.cycles(nest)
        for compute in nest.body:
            lanes, capability = vector.nodes[compute.step.names["function"]]
            node = counts.computes[capability.node]
            node.issues += rows
            node.ops += rows * lanes
            node.busy_cycles += rows
            node.full_cycles += rows
            node.energy_pj += rows * lanes * float(evaluate_formula(capability.energy_pj, {"ops": 1}))
            for role in capability.operands:
                place = compute.places[role]
                count, size = counts.memories[place.memory], rows * vector.chip.row_bytes(place.memory)
                if role == capability.operands[0]:
                    count.write_bytes += size
                else:
                    count.read_bytes += size

"""What a bound is."""

from dataclasses import dataclass
from math import ceil

Json = dict[str, object]


@dataclass(frozen=True)
class Bounds:
    """Lower bounds over all mappings that a machine can run, under the exact cost model.

    `dram_words` are words of the outermost level, read and written: an element takes its bits over those of a word.
    `edp_j_cycle` is at least `energy_pj` times `cycles`.  `binding` says which term each of the bounds `cycles` and
    `dram_words` is.
    """

    edp_j_cycle: float
    energy_pj: float
    cycles: int
    dram_words: float
    binding: dict[str, str]

    def figures(self, word_bits: int) -> dict[str, float]:
        """The `lower_bound` of a run: cycles, pJ, and bytes of the outermost level's words of so many bits."""
        moved = ceil(self.dram_words * word_bits / 8)
        return {"cycles": self.cycles, "energy_pj": self.energy_pj, "dram_bytes": moved}

    def as_json(self) -> Json:
        """The `lower_bound` of an answer."""
        return {
            "edp": self.edp_j_cycle,
            "energy_pj": self.energy_pj,
            "cycles": self.cycles,
            "dram_words": self.dram_words,
            "binding": dict(self.binding),
        }

"""Registers that are free: files of one memory share its bytes."""

from __future__ import annotations

from ...errors import InfeasibleError
from ...machine.packet_isa import Granule, Isa


class Pool:
    """Hands out registers, the lowest numbers first; register 0 of the base's file is never free."""

    def __init__(self, isa: Isa) -> None:
        self.isa = isa
        self.taken: set[Granule] = set(isa.granules(isa.packets.base, 0))
        self.used = set(self.taken)

    def take(self, file: str) -> int:
        """A free register of the file."""
        for number in range(self.isa.files[file].count):
            granules = self.isa.granules(file, number)
            if self.taken.isdisjoint(granules):
                self.taken.update(granules)
                self.used.update(granules)
                return number
        count = self.isa.files[file].count
        raise InfeasibleError(f"registers {file}", count + 1, count, "registers", "smaller tiles")

    def give(self, file: str, number: int) -> None:
        """The register is free again."""
        self.taken.difference_update(self.isa.granules(file, number))

    def untouched(self, file: str) -> list[int]:
        """The registers of a file that were never taken."""
        numbers = range(self.isa.files[file].count)
        return [n for n in numbers if self.used.isdisjoint(self.isa.granules(file, n))]

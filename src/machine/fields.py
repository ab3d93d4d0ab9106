"""Fields of instructions, of words and of assembly text."""

from dataclasses import dataclass


class Ranged:
    """The values that some bits hold."""

    width_bits: int
    signed: bool

    @property
    def lowest(self) -> int:
        """The smallest value that fits."""
        return -(1 << (self.width_bits - 1)) if self.signed else 0

    @property
    def highest(self) -> int:
        """The largest value that fits."""
        return (1 << (self.width_bits - self.signed)) - 1


@dataclass(frozen=True)
class Field(Ranged):
    """`width_bits` of an instruction word; `enum` (name -> code) makes it an efield.

    It begins `at_bit` bits after the word's first bit, or (None) right after the field before it.  `index_of` a memory
    it is as wide as numbers of that memory's elements, and `more_bits`.
    """

    name: str
    width_bits: int
    signed: bool = False
    enum: tuple[tuple[str, int], ...] = ()
    at_bit: int | None = None
    constant: int | None = None  # the only value, by which instructions of one opcode are told apart
    hidden: bool = False  # a constant that assembly text does not show
    index_of: str = ""
    more_bits: int = 0

"""Attributes of the `dram` dialect."""

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple, cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerType, i64
from xdsl.ir import Attribute, Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

MOST = 1 << 40
"""Numbers in the dialect's text are smaller."""


@dataclass(frozen=True)
class MachineNumbers:
    """What a schedule is priced for.

    `side` squared cores of `macs` multiply-accumulates; a buffer of `capacity` bytes of which `buffer` may be used,
    with ports of `read` and `write` bytes per cycle; DRAM of `bandwidth` bytes per cycle, each transfer after `latency`
    cycles; addresses are multiples of `align`.  `exact` is 0 for SoMa's own model.
    """

    side: int
    macs: int
    capacity: int
    buffer: int
    read: int
    write: int
    bandwidth: int
    latency: int
    align: int
    exact: int


NUMBERS = tuple(field.name for field in fields(MachineNumbers))


@irdl_attr_definition
class MachineAttr(Data[MachineNumbers]):
    """`#dram.machine<side 4, macs 512, capacity 8388608, buffer 8388608, read 256, write 256, bandwidth 16, latency 0,
    align 64, exact 1>`.
    """

    name = "dram.machine"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> MachineNumbers:
        """All numbers, in this order."""
        found: list[int] = []
        with parser.in_angle_brackets():
            for index, name in enumerate(NUMBERS):
                if index:
                    parser.parse_punctuation(",")
                parser.parse_keyword(name)
                found.append(parse_size(parser))
        return MachineNumbers(*found)

    def print_parameter(self, printer: Printer) -> None:
        """See `parse_parameter`."""
        texts = [f"{name} {getattr(self.data, name)}" for name in NUMBERS]
        printer.print_string(f"<{', '.join(texts)}>")

    def verify(self) -> None:
        numbers = self.data
        zero = ("latency", "exact")
        for name in NUMBERS:
            value = getattr(numbers, name)
            if not (0 if name in zero else 1) <= value < MOST:
                raise VerifyException(f"expected {name} of {0 if name in zero else 1} or more, found {value}")
        if numbers.buffer > numbers.capacity:
            raise VerifyException(f"expected a buffer within {numbers.capacity} bytes, found {numbers.buffer}")


def parse_size(parser: AttrParser) -> int:
    """An integer of less than `MOST`, perhaps negative."""
    start = parser.pos
    value = parser.parse_integer(allow_boolean=False)
    if abs(value) >= MOST:
        parser.raise_error("expected a number below 2^40", start, parser.pos)
    return value


IntsConstr = DenseArrayBase.constr(i64)


def ints(attribute: Attribute) -> tuple[int, ...]:
    """The integers of a short list, as `numbers` makes it."""
    return tuple(int(value) for value in cast(DenseArrayBase[IntegerType], attribute).get_values())


def numbers(values: Sequence[int]) -> DenseArrayBase[IntegerType]:
    """A short list of integers as an attribute."""
    return DenseArrayBase.from_list(i64, list(values))


LOAD, WEIGHTS, STORE = range(3)
"""Kinds of rows: load of an input, load of weights, store of a result."""


class Row(NamedTuple):
    """A tensor: `kind` of tile `tile` of layer number `layer`, from layer or (-1 - i) network input `source`.

    It lives from position `start` to the end of `end - 1`.
    """

    kind: int
    layer: int
    tile: int
    source: int
    start: int
    end: int

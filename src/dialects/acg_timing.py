"""The device behind the links of a memory off chip, as an attribute."""

from xdsl.ir import Data
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer

from ..errors import TilewrightError
from ..machine.dram import NUMBERS, DramTiming, Segment, differences, named_timing, with_figures
from .acg_attributes import parse_integer, parse_name


@irdl_attr_definition
class TimingAttr(Data[DramTiming]):
    """A device by name and what it differs in: `#acg.timing<"ddr4-2400", rcd 18, map [row 16, bank 2, column 9]>`."""

    name = "acg.timing"

    @classmethod
    def parse_parameter(cls, parser: AttrParser) -> DramTiming:
        figures: dict[str, int] = {}
        address: tuple[Segment, ...] | None = None
        with parser.in_angle_brackets():
            start = parser.pos
            try:
                named = named_timing(parser.parse_str_literal())
            except TilewrightError as error:
                parser.raise_error(f"expected {error.expected}", start, parser.pos)
            while parser.parse_optional_punctuation(","):
                start = parser.pos
                key = parse_name(parser)
                if key == "map":
                    address = tuple(parser.parse_comma_separated_list(parser.Delimiter.SQUARE, lambda: _part(parser)))
                elif key in NUMBERS:
                    figures[key] = parse_integer(parser)
                else:
                    parser.raise_error(f"expected map or one of {', '.join(NUMBERS)}", start, parser.pos)
        return with_figures(named, figures, address)

    def print_parameter(self, printer: Printer) -> None:
        figures, address = differences(self.data)
        items = [f'"{self.data.name}"', *(f"{key} {value}" for key, value in figures.items())]
        items += [f"map [{', '.join(f'{part} {bits}' for part, bits in address)}]"] if address is not None else []
        with printer.in_angle_brackets():
            printer.print_string(", ".join(items))


def _part(parser: AttrParser) -> Segment:
    return parse_name(parser), parse_integer(parser)

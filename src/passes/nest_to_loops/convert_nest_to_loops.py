"""`convert-nest-to-loops`: groups become instructions of a machine of control model `loops`."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from ...dialects.acg import machine_of
from ...errors import TilewrightError
from ...resources import resources_of
from ..functions import functions_of
from .program import LoopsProgram


@dataclass(frozen=True)
class ConvertNestToLoopsPass(ModulePass):
    """Turn the groups of each function into groups of instructions that configure loops (GeneSys).

    A sum of products runs on the array that works by itself, with tiles chosen by cycles and DRAM traffic
    (`search.tiles`), and remainders in groups of their own; what follows it elementwise, on the vector engine, tile by
    tile.  Pools and elementwise groups run on the vector engine alone; pieces of a concatenation are written in place.
    Activations lie as rows of lanes, channels innermost, padded at their edges where a later layer reads past them;
    weights as blocks.

        nest.group @fc dims {...} ...   ->   mnemonic.program @main code dense<"0x..."> { mnemonic.tensor ... layout }

    `tiles=first` takes the first tiles that are valid instead, to see what the choice is worth.
    Precondition: integers only, and a target whose control model is `loops` (`load-target`); mappings are not used.
    Raises `TilewrightError` (kind `unsupported`) for what the machine has no instructions for, `InfeasibleError` where
    not even the smallest tile fits.
    """

    name = "convert-nest-to-loops"
    tiles: str = "best"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.tiles not in ("best", "first"):
            raise TilewrightError("usage", "tiles", "best or first", f"`{self.tiles}`")
        for function in functions_of(op):
            program = LoopsProgram(machine_of(op), function, resources_of(op), self.tiles == "first").convert()
            Rewriter.replace_op(function, program)

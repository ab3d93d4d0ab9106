"""Operations of the `codelet` dialect for instructions that walk over windows and narrow what they make.

A maximum over windows on a machine whose functions read sums only: the input becomes sums first, all that the windows
of a tile reach, and what is stored is the narrow copy that the machine keeps of its sums:

    codelet.loop p step 4 {
      %o = codelet.local "O[p, m]" : !codelet.surrogate<4x16xi32, @ACC>
      codelet.span y over "2*p + r" {
        %a = codelet.local "A[y, m]" : !codelet.surrogate<9x16xi32, @ACC>
        ...
      }
      %s = codelet.shadow %o : !codelet.surrogate<4x16xi32, @ACC> -> !codelet.surrogate<4x16xsi8, @OUT>
      codelet.transfer %s -> %Y : !codelet.surrogate<4x16xsi8, @OUT> -> !codelet.surrogate<8x16xsi8, @DRAM>
    }
"""

from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Region, SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, region_def, result_def, traits_def
from xdsl.traits import NoTerminator

from ..algebra.affine import Affine, to_affine
from ..algebra.parser import parse_expr
from .codelet_attributes import SurrogateType
from .properties import PlainOp, RuledOp
from .syntax import Body, Word


@irdl_op_definition
class SpanOp(PlainOp):
    """Runs its body once, while `dim` ranges over all values from the least to the largest of an index form.

    The form is over the current ranges of other dims; `dim` counts from 0 as they do.
    """

    name = "codelet.span"
    dim = prop_def(StringAttr)
    over = prop_def(StringAttr)
    body = region_def("single_block")
    traits = traits_def(NoTerminator())
    custom_directives = (Word, Body)
    assembly_format = "custom<Word>($dim) `over` $over attr-dict-with-keyword custom<Body>($body)"

    def __init__(self, dim: str, over: str, body: Region) -> None:
        super().__init__(dim=dim, over=over, regions=[body])

    @property
    def form(self) -> Affine:
        """The index form; `TilewrightError` where it is none."""
        return to_affine(parse_expr(self.over.data, "index form"))


@irdl_op_definition
class ShadowOp(RuledOp):
    """The narrow copy of a local that the machine keeps in another memory (`shadow OUT of ACC`): its lowest bits."""

    name = "codelet.shadow"
    source = operand_def(SurrogateType)
    result = result_def(SurrogateType)
    assembly_format = "$source attr-dict `:` type($source) `->` type($result)"

    def __init__(self, source: SSAValue, type: SurrogateType) -> None:
        super().__init__(operands=[source], result_types=[type])

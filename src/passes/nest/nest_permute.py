"""The pass `nest-permute`."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...costs.mapping.transform import permute
from .trees import change_groups


@dataclass(frozen=True)
class NestPermutePass(ModulePass):
    """Put the loops at a memory into another order.

    Before: groups whose mapping has loops, one inside of the other, directly below the hold in `memory` (without
    `memory`: outside of all holds).  After: the same loops with the same steps, in `order`, outermost first.
    `nest-permute{memory=GBUF order=k,m}` makes

        nest.hold @GBUF [W] {
          nest.for m step 8 {
            nest.for k step 4 {
              nest.compute @mac
            }
          }
        }

    into

        nest.hold @GBUF [W] {
          nest.for k step 4 {
            nest.for m step 8 {
              nest.compute @mac
            }
          }
        }

    `order` names each of these loops once.  `group` limits the pass to the group of that name.  Sums may be added up in
    another order than before.
    """

    name = "nest-permute"
    order: tuple[str, ...]
    memory: str = ""
    group: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        change_groups(self.name, op, self.group, lambda _, nodes: permute(nodes, self.memory, self.order))

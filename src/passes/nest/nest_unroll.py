"""The pass `nest-unroll`."""

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from ...costs.mapping.transform import unroll
from ...costs.mapping.tree import Spatial
from ...dialects import nest
from ...errors import TilewrightError
from .trees import Nodes, change_groups


@dataclass(frozen=True)
class NestUnrollPass(ModulePass):
    """Spread the iterations of a loop over instances that work at the same time.

    Before: groups whose mapping has a loop over `dim` directly below the hold in `memory` (without `memory`: outside of
    all holds).  After: `ways` of its iterations at once run on instances of `node` (a memory or compute node) along
    `axis`, below all loops of that memory.  What one round of instances does not cover is looped over; the last
    instances have less to do, or nothing.  `nest-unroll{memory=GBUF dim=k ways=4 node=PE}` makes

        nest.hold @GBUF [X, W, mac] {
          nest.for k step 8 {
            nest.for m step 1 {
              nest.compute @mac
            }
          }
        }

    with k = 50 into

        nest.hold @GBUF [X, W, mac] {
          nest.for k step 32 {
            nest.for m step 1 {
              nest.spatial k = 4 step 8 on @PE x {
                nest.compute @mac
              }
            }
          }
        }

    Where a dim is spread along both axes, spread it along x first.  `group` limits the pass to the group of that name.
    Whether the machine has so many instances is for `nest-verify` and `nest-map` to say.
    """

    name = "nest-unroll"
    dim: str
    ways: int
    node: str
    axis: str = "x"
    memory: str = ""
    group: str = ""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.ways < 1 or self.axis not in ("x", "y"):
            found = f"{self.ways} along {self.axis}"
            raise TilewrightError("usage", self.name, "at least one instance along x or y", found)
        spatial = Spatial(self.dim, self.ways, self.node, self.axis, ())

        def change(group: nest.GroupOp, nodes: Nodes) -> Nodes:
            return unroll(nodes, self.memory, spatial, group.extents)

        change_groups(self.name, op, self.group, change)

"""The exact mapper: the best mapping of a tensor operation on a machine of three memories, proven.

Between two neighbouring memories, traffic depends on the tile of the outer one only through the bounds of the few
innermost loops.  So the least energy beyond the middle memory is tabulated for every tile on the lattice of divisors;
its minima over larger tiles, with the innermost loops' dimensions held fixed, price all outer choices of an inner tile
by look-up.  Spreads over the array and inner tiles are taken in the order of such bounds; whatever remains below the
best mapping is priced in full.
"""

from ..values import Mapped, Objective, Space
from .solve import solve

__all__ = ["Mapped", "Objective", "Space", "solve"]

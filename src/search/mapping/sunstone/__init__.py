"""Sunstone: orders from inferred reuse, tiles and spreads that complement them, memory by memory.

M. Olyaiy et al., "Sunstone: A Scalable and Versatile Scheduler for Mapping Tensor Algebra on Spatial Accelerators",
ISPASS 2023.  Memories are decided from the innermost one outwards, at each spreads, then tiles, then orders.  What
differs from the paper and its code: choices are priced by the cost model that the request names, the rest of the
machine idealised, and orders are chosen once more when all factors are known.  Factors are perfect.
"""

from .orders import Order, orders_of, reuse_of
from .solve import solve

__all__ = ["Order", "orders_of", "reuse_of", "solve"]

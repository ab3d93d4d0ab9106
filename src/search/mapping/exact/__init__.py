"""The exact mapper for any hierarchy of memories: branch and bound over what is kept, spatial and temporal loops.

A mapping is built from the innermost memory outwards, loop by loop.  A tensor's tile in a memory costs nothing while
the loops outside it do not concern the tensor; the first loop that does settles its traffic.  So orders matter only
through who is settled when, and a partial mapping has a bound: what is settled, the least that all others move, and the
cheapest traffic to the outermost memory for any tile that contains this one.
"""

from .tree.solve import solve

__all__ = ["solve"]

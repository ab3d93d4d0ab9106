"""CoSA: a mapping as a mixed-integer program over prime factors, without any pricing in the loop.

Q. Huang et al., "CoSA: Scheduling by Constrained Optimization for Spatial Accelerators", ISCA 2021.  Each prime factor
of each bound goes to a memory level, as temporal or spatial loop; loops of the last level on chip also get a rank.
Capacities, spatial resources and the three objectives (utilisation, compute, traffic) are linear in the logarithms of
the factors.  What differs from the paper and its code: tiles of sliding windows are exact rather than estimated,
columns and rows of an array are separate resources, equal prime factors are counted rather than named, dimensions are
ranked rather than factors, and memories that tensors share are divided between them by the program.  The objectives are
those of the released code: factors deep inside move less data, and traffic counts kernels of sliding windows,
multicasts and weights a little differently.  The paper has none of these constants.
"""

from .formulation import Weights
from .solve import place, solve

__all__ = ["Weights", "place", "solve"]

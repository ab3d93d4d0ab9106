"""Control model `loops`: configured hardware loops with base and stride iterators, as in GeneSys."""

from .run import simulate_loops as simulate_loops

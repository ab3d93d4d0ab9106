"""What no mapping can beat: lower bounds of words, time and energy, for any tiles, loop order, unrolling and bypass."""

from .bound import bounds_of, timeloop_bounds
from .values import Bounds

__all__ = ["Bounds", "bounds_of", "timeloop_bounds"]

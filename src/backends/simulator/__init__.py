"""Runs a binary by the meaning that its target file gives to instructions: function, cycles, energy."""

from .result import SimulationResult as SimulationResult
from .simulate import simulate as simulate
from .traps import Trap as Trap

"""What no program of a network on a machine can beat: lower bounds of cycles, energy and DRAM bytes.

They hold for whatever is fused, ordered, tiled, spread over instances and kept on chip, of programs that carry out each
kernel by instructions of capabilities with its meaning, each instruction for one kernel, on weights that lie off chip.
"""

from .bound import ProgramBound, program_bound
from .network import Network, NetworkBuilder
from .products import products_bound
from .traffic import Traffic
from .transfers import Transfers

__all__ = ["Network", "NetworkBuilder", "ProgramBound", "Traffic", "Transfers", "products_bound", "program_bound"]

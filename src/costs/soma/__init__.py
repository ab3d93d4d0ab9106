"""The cost model of SoMa, quirks included: machines, fusions, tiles, and the times of tiles and transfers.

The tool: J. Cai et al., "SoMa: Identifying, Exploring, and Understanding the DRAM Communication Scheduling Space for
DNN Accelerators", HPCA 2025, its public code at commit 6e80836 of 2025.  Known quirks kept here: every tile is taken
for the top left one of its map (interior halos are missing), cores read a layer's input as if its stride were 1, vector
layers cause no traffic in the buffer, groups too wide for a core's MACs are never limited by the buffer's read port,
and a producer's tile spans all channels of the concatenation that its reader in the same fused group makes.
"""

from .hardware import Hardware, hardware
from .tiling import FusedGroup, Fusion

__all__ = ["FusedGroup", "Fusion", "Hardware", "hardware"]

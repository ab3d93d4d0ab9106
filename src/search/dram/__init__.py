"""Search for schedules of tiles and DRAM transfers.

After J. Cai et al., "SoMa: Identifying, Exploring, and Understanding the DRAM Communication Scheduling Space for DNN
Accelerators", HPCA 2025; transfers are not searched but decided for every fusion that is looked at.
"""

from .effort import Effort, Found, Objective
from .framework import framework
from .schedule import schedule

__all__ = ["Effort", "Found", "Objective", "framework", "schedule"]

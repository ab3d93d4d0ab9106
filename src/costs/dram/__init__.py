"""Schedules of tiles and DRAM transfers, priced in microseconds: SoMa's model, or an exact one.

After J. Cai et al., "SoMa: Identifying, Exploring, and Understanding the DRAM Communication Scheduling Space for DNN
Accelerators", HPCA 2025.
"""

from .prefetch import score
from .tables import Model, Net, Workspace, net_tables, workspace
from .timetable import Timetable, Transfer, fusion_of, state_of, timetable

__all__ = [
    "Model",
    "Net",
    "Timetable",
    "Transfer",
    "Workspace",
    "fusion_of",
    "net_tables",
    "score",
    "state_of",
    "timetable",
    "workspace",
]

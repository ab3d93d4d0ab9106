"""Schedules of tiles and DRAM transfers, priced in microseconds: SoMa's model, or an exact one.

After J. Cai et al., "SoMa: Identifying, Exploring, and Understanding the DRAM Communication Scheduling Space for DNN
Accelerators", HPCA 2025.
"""

from .score import score
from .tables import Model, Net, net_tables
from .timetable import Timetable, Transfer, fusion_of, state_of, timetable
from .workspace import Workspace, workspace

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

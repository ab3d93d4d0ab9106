"""Search for schedules of tiles and DRAM transfers.

After J. Cai et al., "SoMa: Identifying, Exploring, and Understanding the DRAM Communication Scheduling Space for DNN
Accelerators", HPCA 2025; transfers are not searched but decided for every fusion that is looked at.
"""

from collections.abc import Callable, Mapping
from functools import partial

from .effort import POWERS, Effort, Found, Objective
from .framework import framework
from .schedule import schedule

METHODS: Mapping[str, Callable[..., Found]] = {
    "ours": schedule,
    "soma": framework,
    "cocco": partial(framework, cocco=True),
}
"""Searches by name: every fusion scored with its transfers decided; SoMa's two stages; its baseline Cocco."""

__all__ = ["METHODS", "POWERS", "Effort", "Found", "Objective", "framework", "schedule"]

"""What LiteRT's interpreter gives for the test models; `bench/record_tflite.py` records it anew."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from .networks import NETWORKS
from .operators import CASES

FILE = Path(__file__).parents[1] / "data" / "tflite" / "outputs.npz"

MODELS: dict[str, Callable[[], bytes]] = {**NETWORKS, **CASES}


def seeded_input(name: str, position: int, shape: tuple[int, ...], dtype: Any) -> Any:
    """An input of the model `name`: normal numbers, or integers of all values of 8 bits, or from 0 to 9."""
    random = np.random.default_rng(crc32(f"{name}:{position}".encode()))
    dtype = np.dtype(dtype)
    if dtype.kind == "f":
        return random.normal(size=shape).astype(dtype)
    low, high = (np.iinfo(dtype).min, np.iinfo(dtype).max + 1) if dtype.itemsize == 1 else (0, 10)
    return random.integers(low, high, shape).astype(dtype)

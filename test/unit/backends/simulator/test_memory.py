"""Values are put into a machine's memory without another copy of them."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest

from tilewright.algebra.byte_regions import Region
from tilewright.backends.simulator.memory import CHUNK_BYTES, Storage
from tilewright.frontends.acg import load_target

SIZE = 5 * CHUNK_BYTES + 192


@pytest.fixture
def storage() -> Storage:
    memory = next(memory for memory in load_target("edge16").memories if memory.offchip)
    return Storage(memory, SIZE + 1000, True)


@pytest.mark.parametrize("address", [0, 64, 100])
def test_a_mapped_file_is_placed_whole(address: int, storage: Storage, tmp_path: Path):
    values = np.random.default_rng(0).integers(0, 256, SIZE, np.uint8)
    np.save(tmp_path / "x.npy", values)
    storage.place(address, np.load(tmp_path / "x.npy", mmap_mode="r"), SIZE)
    assert (storage.read(address, np.dtype(np.uint8), (SIZE,)) == values).all()
    assert storage.first_unwritten(address, Region(0, SIZE, ())) is None
    assert storage.first_unwritten(address, Region(0, SIZE + 1, ())) == address + SIZE
    assert address == 0 or storage.first_unwritten(0, Region(0, address + 1, ())) == 0


def test_placing_takes_little_beside_the_values(storage: Storage):
    values = np.zeros(SIZE, np.uint8)
    tracemalloc.start()
    storage.place(64, values, SIZE)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 100_000

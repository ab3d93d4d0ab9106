"""Machines from arguments: sizes and energies of the two presets, and errors."""

import pytest

from tilewright.costs.soma import hardware
from tilewright.costs.soma.hardware import UNITS
from tilewright.errors import TilewrightError


def test_edge_preset():
    machine = hardware(8, 1, 4, 256, 512)
    array = machine.array
    assert (machine.buffer_bytes, machine.dram_bandwidth) == (8 << 20, 16)
    assert (array.vector, array.lanes, array.vector_ops, array.read_port) == (16, 32, 512, 256)
    assert (array.activations, array.weights, array.sums) == (1024, 2048, 256)
    energies = {
        "al1_read": (0.06848125 + 0.4) * 4.8,
        "al1_write": 0.06684375 * 4.8,
        "wl1_read": 0.106675 * 4.8,
        "wl1_write": 0.10539375 * 4.8,
        "ol1_read": 0.049 * 1.21 * 4.8,
        "ol1_write": 0.064 * 1.21 * 4.8,
        "ol2_read": 0.07648125 * 1.4641 * 4.8,
        "ol2_write": 0.0989875 * 1.4641 * 4.8,
        "buffer_read": 0.217125 * 1.4641 * 4.8,
        "buffer_write": 0.234025 * 1.4641 * 4.8,
    }
    for name, value in energies.items():
        assert getattr(array, name) == pytest.approx(value, rel=1e-12), name


def test_cloud_preset():
    machine = hardware(32, 1, 4, 512, 4096)
    assert (machine.buffer_bytes, machine.dram_bandwidth) == (32 << 20, 128)
    assert (machine.array.vector, machine.array.lanes, machine.array.vector_ops) == (64, 64, 4096)
    assert machine.array.buffer_read == pytest.approx(0.217125 * 1.1**16 * 4.8, rel=1e-12)


@pytest.mark.parametrize(("ratio", "bandwidth"), [(0.125, 2), (0.2, 3), (8, 128), (0.01, 3)])
def test_bandwidth_is_whole_bytes_per_cycle(ratio: float, bandwidth: int):
    """A ratio that gives less than one byte falls back to three quarters of a quarter of the TOPS."""
    assert hardware(8, ratio, 4, 256, 512).dram_bandwidth == bandwidth


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((8, 1, 4, 256, 500), "MACs of a core: expected one of 32, 64"),
        ((0, 1, 4, 256, 512), "buffer MiB: expected 1 to"),
        ((8, 1, 0, 256, 512), "array side"),
        ((8, 1, 4, 0, 512), "read port"),
        ((8, float("nan"), 4, 256, 512), "bandwidth ratio"),
        ((8, 0, 1, 256, 512), "DRAM: expected a bandwidth of 1"),
    ],
)
def test_bad_arguments(arguments: tuple[int, float, int, int, int], message: str):
    with pytest.raises(TilewrightError, match=message):
        hardware(*arguments)


@pytest.mark.parametrize("macs", UNITS)
def test_every_size_of_core_has_energies(macs: int):
    array = hardware(8, 1, 4, 256, macs).array
    assert array.vector * array.lanes == macs
    assert min(array[8:]) > 0

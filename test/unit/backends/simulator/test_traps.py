from typing import Any

import numpy as np
import pytest

from tilewright.backends.simulator import Trap

INPUT = {"x": np.zeros(100, np.uint8)}


def trap(bench: Any, text: str, **options: object) -> Trap:
    with pytest.raises(Trap) as info:
        bench.run(text, bench.bytes(100), INPUT, **options)
    assert info.value.kind == "trap"
    assert info.value.reason in str(info.value)
    return info.value


def test_uninitialised_bytes(bench: Any):
    error = trap(bench, "LOAD TAG=1, N=100, NB=1\nSTORE WT0=1, WC0=1, D=512, N=101, NB=1\n")
    assert (error.reason, error.instruction) == ("uninitialised", 1)
    assert "SPAD[0x64]" in error.found
    assert "STORE" in error.subject


def test_uninitialised_in_dram(bench: Any):
    assert "DRAM[0x64]" in trap(bench, "LOAD S=90, N=11, NB=1\n").found


def test_uninitialised_accumulator(bench: Any):
    text = "LOAD TAG=1, N=64, NB=1\nMAC WT0=1, WC0=1, O=512, M=2, N=1, K=1, OM=4, ACC={}\n"
    assert trap(bench, text.format(1)).reason == "uninitialised"
    bench.run(text.format(0), bench.bytes(100), INPUT)


def test_initialisation_is_known_to_the_byte(bench: Any):
    """Every second byte is written, and read."""
    text = """
LOAD TAG=1, D=0, S=0, N=1, NB=50, DB=2, SB=1
STORE WT0=1, WC0=1, D=512, S={}, N=1, NB=50, DB=1, SB=2
"""
    bench.run(text.format(0), bench.bytes(100), INPUT)
    assert trap(bench, text.format(1)).reason == "uninitialised"


def test_range(bench: Any):
    error = trap(bench, "LOAD D=4090, N=7, NB=1\n")
    assert (error.reason, error.instruction) == ("range", 0)
    assert "4096 bytes of SPAD" in error.expected
    assert trap(bench, "LOAD D=4, N=4, NB=2, DB=-8\n").reason == "range"
    assert trap(bench, "LOAD S=65530, N=7, NB=1\n").reason == "range"
    assert "a span of" in trap(bench, "LOAD N=7, NB=200, DB=100\n").found


def test_illegal_fields(bench: Any):
    assert "types" in trap(bench, "VEC TO=i8, TA=f32, NA=1, NB=1\n").expected
    assert "at most 64" in trap(bench, "MAC M=65, N=1, K=1\n").expected
    assert trap(bench, "MAC M=65, N=1, K=1\n").reason == "illegal"


@pytest.mark.parametrize(
    ("second", "hazard"),
    [
        ("STORE D=512, S=0, N=64, NB=1", True),  # reads what is being loaded
        ("STORE WT0=1, WC0=1, D=512, S=0, N=64, NB=1", False),
        ("FILL O=0, T=i8, N=1, OA=1", True),  # writes what is being loaded
        ("FILL O=100, T=i8, N=1, OA=1", False),
        ("MAC O=0, A=128, B=128, M=1, N=1, K=1", True),
        ("MAC WT0=1, WC0=1, O=0, A=128, B=128, M=1, N=1, K=1", False),
    ],
)
def test_hazards(bench: Any, second: str, hazard: bool):
    text = f"LOAD D=128, N=64, NB=1, TAG=2\nLOAD D=0, N=64, NB=1, TAG=1\n{second}\n"
    text = text.replace("MAC O", "MAC WT1=2, WC1=1, O").replace("MAC WT0", "MAC WT1=2, WC1=1, WT0")
    text = text.replace("STORE D", "STORE WT1=2, WC1=1, D").replace("FILL", "FILL WT1=2, WC1=1,")
    if not hazard:
        bench.run(text, bench.bytes(100), INPUT)
        return
    error = trap(bench, text)
    assert (error.reason, error.instruction) in {("hazard", 1), ("hazard", 2), ("uninitialised", 2)}


def test_write_after_read(bench: Any):
    """The second load overwrites what the store reads."""
    text = """
LOAD TAG=1, D=0, N=64, NB=1
STORE TAG=2, WT0=1, WC0=1, D=512, S=0, N=64, NB=1
LOAD {}D=63, N=1, NB=1
"""
    error = trap(bench, text.format(""))
    assert error.reason == "hazard"
    assert "SPAD[0x3f]" in error.expected
    bench.run(text.format("WT0=2, WC0=1, "), bench.bytes(100), INPUT)


def test_order_is_transitive(bench: Any):
    """LD -> MX -> VP: the vector unit needs no wait of its own for the load."""
    text = """
LOAD TAG=1, D=0, N=64, NB=1
MAC TAG=2, WT0=1, WC0=1, O=512, A=0, B=0, M=1, N=1, K=1
FILL WT0=2, WC0=1, T=i8, O=0, N=64, OA=1
"""
    bench.run(text, bench.bytes(100), INPUT)


def test_interleaved_accesses_do_not_conflict(bench: Any):
    text = "LOAD D=0, N=1, NB=32, DB=2, SB=1\nFILL T=i8, O=1, N=32, OA=2\n"
    bench.run(text, bench.bytes(100), INPUT)
    assert trap(bench, text.replace("O=1", "O=0")).reason == "hazard"


def test_shared_counters_promise_little(bench: Any):
    """One signal of tag 1 may come from either unit, so it orders neither; both together order both."""
    text = """
LOAD TAG=1, D=0, N=64, NB=1
FILL TAG=1, T=i8, O=512, N=1, OA=1
MAC WT0=1, WC0={}, O=1024, A=0, B=512, M=1, N=1, K=1
"""
    assert trap(bench, text.format(1)).reason in ("hazard", "uninitialised")
    bench.run(text.format(2), bench.bytes(100), INPUT)


def test_deadlock(bench: Any):
    error = trap(bench, "LOAD TAG=1, N=8, NB=1\nSTORE WT0=1, WC0=2, D=512, N=8, NB=1\n")
    assert (error.reason, error.instruction) == ("deadlock", 1)
    assert error.expected == "counter 1 to reach 2"
    assert error.as_dict()["reason"] == "deadlock"


def test_deadlock_of_two_units(bench: Any):
    text = "STORE TAG=2, WT0=1, WC0=1, D=512, N=8, NB=1\nLOAD TAG=1, WT0=2, WC0=1, N=8, NB=1\n"
    assert (trap(bench, text).reason, trap(bench, text).instruction) == ("deadlock", 0)


def test_deadlock_by_a_full_queue(bench: Any):
    """The load behind two waiting ones is never dispatched, and so neither is the store that they wait for."""
    text = "LOAD WT0=1, WC0=1, N=8, NB=1\n" * 3 + "FILL TAG=1, O=512, N=1, OA=4\n"
    error = trap(bench, text)
    assert (error.reason, error.instruction) == ("deadlock", 0)
    bench.run("LOAD WT0=1, WC0=1, N=8, NB=1\n" * 2 + "FILL TAG=1, O=512, N=1, OA=4\n", bench.bytes(100), INPUT)


def test_checks_can_be_left_out(bench: Any):
    bench.run("STORE D=512, N=101, NB=1\n", checks=False)

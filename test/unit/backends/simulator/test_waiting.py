"""What instructions waited for, on programs whose times can be told by hand."""

from tilewright.backends.assembler import assemble
from tilewright.backends.simulator.schedule import Issue, run_queues
from tilewright.backends.simulator.stream import Stream, make_stream
from tilewright.backends.simulator.waiting import NOTHING, MainWait, Wait, cargo_of, layer_waits, main_wait, waits_of
from tilewright.frontends.acg import load_target
from tilewright.machine.tensor_placement import TensorPlacement

LOADS = "LOAD TAG=1, DST=0x0, SRC=0x0, RUN=1600, NB=1, NC=1, ND=1, NE=1\n"
"""100 cycles at 16 bytes a cycle."""


def timed(text: str) -> tuple[Stream, list[Issue], list[Wait]]:
    machine = load_target("edge16")
    stream = make_stream(machine, assemble(machine, text))
    issues = list(run_queues(stream))
    return stream, issues, waits_of(stream, issues)


def test_a_store_waits_for_the_load_before_it():
    store = "STORE WT0=1, WC0=1, DST=0x0, SRC=0x0, RUN=1600, NB=1, NC=1, ND=1, NE=1\n"
    _, issues, waits = timed(LOADS + store)
    assert [issue.start_cycle for issue in issues] == [0, 100]
    assert waits == [Wait(0, NOTHING), Wait(100, 0)]


def test_a_channel_is_waited_for_without_a_tag():
    store = "STORE DST=0x0, SRC=0x2000, RUN=1600, NB=1, NC=1, ND=1, NE=1\n"
    assert timed(LOADS + store)[2] == [Wait(0, NOTHING), Wait(100, 0)]


def test_waits_are_followed_to_what_was_at_work():
    """A store waits for square roots that wait for the second of two loads: 200 cycles of loads, then the roots."""
    text = LOADS + LOADS + "VUN TAG=2, WT0=1, WC0=2, FN=sqrt, O=0x0, A=0x0, NA=64, NB=1, NC=1, ND=1, OA=4, AA=4\n"
    text += "STORE WT0=2, WC0=1, DST=0x0, SRC=0x0, RUN=1600, NB=1, NC=1, ND=1, NE=1\n"
    stream, issues, waits = timed(text)
    roots = next(issue for issue in issues if issue.index == 2)
    assert (roots.start_cycle, waits[2], waits[3]) == (200, Wait(200, 1), Wait(roots.end_cycle, 2))
    (_, _, stores) = layer_waits(stream, waits, [0, 0, 1, 2], 3, ["weights", "weights", "", ""])
    names = {(wait["for_unit"], wait["for_layer"]): wait["cycles"] for wait in stores}
    assert names == {("LD", 0): 200, ("VP", 1): roots.end_cycle - 200}
    assert {wait["for_what"] for wait in stores if wait["for_unit"] == "LD"} == {"weights"}


def test_cargo_is_the_tensor_that_lies_there():
    store = "STORE DST=0x2000, SRC=0x0, RUN=1600, NB=1, NC=1, ND=1, NE=1\n"
    stream, _, _ = timed(LOADS + store)
    placed = [
        TensorPlacement(name, role, "int8", (0x1000,), "DRAM", address)
        for name, role, address in (("y", "output", 0x2000), ("w", "weight", 0))
    ]
    assert cargo_of(stream, placed) == ["weights", "outputs"]
    assert cargo_of(stream, placed[:1]) == ["", "outputs"]


def test_the_main_wait_is_the_longest_of_the_busiest_unit():
    """MXU is busiest; it waits 30 + 40 cycles for LD, most of them for weights, 60 for VP, and VP waits 500."""
    units = {"LD": ["DRAM->GBUF"], "MX": ["MXU"], "VP": ["VPU"]}
    rows = [("MX", "VP", "", 60), ("MX", "LD", "weights", 40), ("MX", "LD", "maps", 30), ("VP", "LD", "maps", 500)]
    waits = [{"unit": a, "for_unit": b, "for_what": c, "for_layer": 0, "cycles": d} for a, b, c, d in rows]
    layer = {"busy_cycles": {"MXU": 9, "VPU": 4, "DRAM->GBUF": 99, "dram": 99}, "waits": waits}
    assert main_wait(layer, units) == MainWait("MX", "LD", "weights", 70)
    assert main_wait({**layer, "waits": waits[3:]}, units) is None

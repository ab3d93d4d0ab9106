"""What instructions waited for, on programs whose times can be told by hand."""

from tilewright.backends.assembler import assemble
from tilewright.backends.report.page.waiting import NOTHING, Wait, layer_waits, waits_of
from tilewright.backends.simulator.schedule import Issue, run_queues
from tilewright.backends.simulator.stream import Stream, make_stream
from tilewright.frontends.acg import load_target

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
    (_, _, stores) = layer_waits(stream, waits, [0, 0, 1, 2], 3)
    names = {(wait["for_unit"], wait["for_layer"]): wait["cycles"] for wait in stores}
    assert names == {("LD", 0): 200, ("VP", 1): roots.end_cycle - 200}

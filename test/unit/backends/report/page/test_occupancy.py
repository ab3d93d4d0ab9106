"""Lives of values in a memory on chip."""

import numpy as np

from tilewright.backends.assembler import assemble
from tilewright.backends.report.page.timeline import Life, occupancies
from tilewright.backends.simulator.schedule import run_queues
from tilewright.backends.simulator.stream import make_stream
from tilewright.frontends.acg import load_target

from .conftest import Report


def test_lives_of_a_load_and_a_store():
    machine = load_target("edge16")
    text = "LOAD TAG=1, DST=0x0, SRC=0x0, RUN=1600, NB=1, NC=1, ND=1, NE=1\n"
    text += "STORE TAG=1, WT0=1, WC0=1, DST=0x0, SRC=0x0, RUN=1600, NB=1, NC=1, ND=1, NE=1\n"
    text += "LOAD WT0=1, WC0=2, DST=0x320, SRC=0x0, RUN=1600, NB=1, NC=1, ND=1, NE=1\n"
    stream = make_stream(machine, assemble(machine, text))
    (found,) = occupancies(stream, list(run_queues(stream)), [0, 0, 1])
    assert (found.memory, found.block) == ("GBUF", 1)
    assert found.lives == (Life(0, 1600, 0, 200, 0, True), Life(800, 2400, 200, 300, 1, True))


def test_lives_of_a_network_do_not_overlap(report: Report):
    """At most one value lies in a byte at a time."""
    stream = report.result.stream
    assert stream is not None
    (found,) = occupancies(stream, report.result.issues, report.program.layer_table.numbers())
    assert max(life.end for life in found.lives) <= report.result.peak_bytes["GBUF"] + found.block
    for address in np.linspace(0, report.result.peak_bytes["GBUF"], 50).astype(int):
        held = sorted((life.first_cycle, life.last_cycle) for life in found.lives if life.start <= address < life.end)
        starts = [first for first, _ in held]
        assert starts == sorted(set(starts))

"""The time of candidate tiles, by hand, and of the programs that are chosen by it."""

import pytest

import tilewright
from tilewright.backends.simulator import simulate
from tilewright.search.group_tiles.candidates import Transfer, pipelined_cycles
from tilewright.search.group_tiles.grid import Grid


def cycles(counts: dict[str, int], transfers: list[Transfer], *units: float) -> float:
    """Of loops with so many iterations each; `units` are cycles of each queue in one innermost iteration."""
    grid = Grid.of({dim: (1,) for dim in counts}, counts)
    total = 1
    for count in counts.values():
        total *= count
    return float(pipelined_cycles(grid, tuple(counts), transfers, [unit * total for unit in units]).item())


@pytest.mark.parametrize(
    ("load", "work", "store", "expected"),
    [
        (10, 20, 0, 10 + 4 * 20),
        (20, 10, 0, 4 * 20 + 10),
        (10, 20, 5, 10 + 4 * 20 + 5),
        (15, 20, 10, 15 + 20 + 3 * 25 + 10),  # both over one channel
    ],
)
def test_a_loop_takes_the_longer_of_work_and_transfers(load: int, work: int, store: int, expected: int):
    transfers = [Transfer(True, ("m",), load), Transfer(False, ("m",), store)]
    assert cycles({"m": 4}, transfers, work) == expected


def test_what_is_held_throughout_comes_first():
    assert cycles({"m": 4}, [Transfer(True, ("m",), 10), Transfer(True, ("k",), 100)], 20) == 100 + 10 + 4 * 20


def test_queues_overlap_but_for_one_iteration():
    assert cycles({"m": 4}, [], 20, 30) == 20 + 4 * 30


def test_loads_of_an_outer_loop_stall_for_what_two_copies_do_not_hide():
    """The last inner load is done 30 cycles before the work: 10 of the 40 to the next first tiles are not hidden."""
    transfers = [Transfer(True, ("m", "k"), 10), Transfer(True, ("m",), 30)]
    assert cycles({"m": 3, "k": 4}, transfers, 20) == 40 + 3 * 80 + 2 * 10


@pytest.mark.parametrize(
    "kernel",
    [
        "O[m,n] += A[m,k] * B[k,n]; m=524 n=735 k=1086",
        "O[m,p,q] += I[c,2*p+r,2*q+s] * W[m,c,r,s]; m=100 c=67 p=55 q=55 r=3 s=3",
    ],
)
def test_programs_overlap_loads_and_work(kernel: str):
    """Nothing large is loaded before all work: the whole takes little longer than the channel or the array needs."""
    program = tilewright.compile(kernel, "edge16")
    run = simulate(program, functional=False, checks=False)
    busy = {name: unit.busy_cycles for name, unit in run.counts.units.items()}
    assert run.cycles <= 1.05 * max(busy["MX"], busy["LD"] + busy["ST"])
    assert program.predicted["cycles"] == run.cycles
    assert program.predicted["model_cycles"] == pytest.approx(run.cycles, rel=0.05)

"""Mapped programs on a mesh: words of the cost model, hand-counted cycles, nothing that waits for good."""

import random
from dataclasses import replace

import pytest

from tilewright.costs.exact import evaluate
from tilewright.costs.hierarchy import Architecture, Level, LevelMapping, Loop, LoopMapping, Problem, Tensor
from tilewright.costs.noc import make_program, mesh_of, run_program
from tilewright.errors import TilewrightError

M, N, K = range(3)
MATRIX = {"A": ((1, 0, 0), (0, 0, 1)), "B": ((0, 0, 1), (0, 1, 0)), "O": ((1, 0, 0), (0, 1, 0))}
CONV = {"I": ((1, 0, 1),), "W": ((0, 1, 0), (0, 0, 1)), "O": ((1, 0, 0), (0, 1, 0))}


def problem(bounds: tuple[int, ...], rows: dict[str, tuple[tuple[int, ...], ...]] = MATRIX) -> Problem:
    tensors = tuple(Tensor(name, axes, name == "O") for name, axes in rows.items())
    return Problem("p", ("M", "N", "K"), bounds, tensors)


def machine(columns: int = 2, rows: int = 2, flit: int = 32, **dram: float) -> Architecture:
    pe = Level("PE", 4096, columns * rows, columns, 1, 1.0, word_bits=16)
    buffer = Level("GB", None, 1, 1, 1, 1.0, word_bits=16, mesh_flit_bits=flit, tag_energy_pj=0.5, hop_energy_pj=0.25)
    off = Level("DRAM", None, 1, 1, 1, 1.0, word_bits=16, **dram)  # pyright: ignore[reportArgumentType]
    return Architecture("small", (pe, buffer, off), "MAC", columns * rows, columns, 1.0, ("O", "A", "B"))


def level(*loops: tuple[int, int], x: tuple[tuple[int, int], ...] = (), y: tuple[tuple[int, int], ...] = ()):
    temporal, columns, rows = (tuple(Loop(*loop) for loop in each) for each in (loops, x, y))
    return LevelMapping(temporal, columns, rows)


def random_mapping(rng: random.Random, bounds: tuple[int, ...], columns: int, rows: int, ragged: bool) -> LoopMapping:
    """Factors of each bound, inside out, spread over columns and rows where there is room."""
    parts: list[list[list[tuple[int, int]]]] = [[[], [], []] for _ in range(3)]
    room = [columns, rows]
    for dim, bound in enumerate(bounds):
        rest = bound
        for place in (0, 1, 1, 2):
            sizes = [n for n in range(1, rest + 1) if rest % n == 0 or ragged]
            axis = rng.choice([0, 1, 2]) if place == 1 else 0
            if axis and (sizes := [n for n in sizes if n <= room[axis - 1]]):
                taken = rng.choice(sizes)
                room[axis - 1] //= taken
            elif place == 2:
                taken = rest
            else:
                axis, taken = 0, rng.choice([n for n in range(1, rest + 1) if rest % n == 0 or ragged])
            parts[place][axis].append((dim, taken))
            rest = -(-rest // taken)
    for part in parts:
        rng.shuffle(part[0])
    return LoopMapping(tuple(level(*each[0], x=tuple(each[1]), y=tuple(each[2])) for each in parts))


@pytest.mark.parametrize("seed", range(6))
def test_words_are_those_of_the_cost_model(seed: int):
    """And every program ends: with any order of loops, tiles that come back, small queues, slow memory."""
    rng = random.Random(seed)
    for _ in range(12):
        bounds = tuple(rng.choice([1, 2, 3, 4, 6, 8]) for _ in range(3))
        arch = machine(*rng.choice([(1, 1), (2, 2), (4, 2)]), shared_bandwidth=rng.choice([0.5, 4.0, 100.0]))
        columns, rows = arch.fan_out(1)
        mapping = random_mapping(rng, bounds, columns, rows, ragged=False)
        prices = evaluate(arch, problem(bounds), mapping)
        program = make_program(arch, problem(bounds), mapping)
        sent = {name: outwards if name == "O" else inwards for name, (inwards, outwards) in program.words.items()}
        assert sent == prices.network_words["GB"], (bounds, mapping)
        run = run_program(arch, program)
        assert run.cycles >= max(run.compute_cycles, run.sent_flits, run.received_flits, run.dram_cycles)
        assert run.compute_cycles == prices.compute_cycles


@pytest.mark.parametrize("seed", range(4))
def test_ragged_programs_end(seed: int):
    rng = random.Random(f"ragged {seed}")
    for rows in (MATRIX, CONV):
        bounds = tuple(rng.choice([5, 7, 9]) for _ in range(3))
        mapping = random_mapping(rng, bounds, 2, 2, ragged=True)
        program = make_program(machine(), problem(bounds, rows), mapping)
        run = run_program(machine(), program)
        assert int(program.cycles.sum()) == bounds[0] * bounds[1] * bounds[2]
        assert run.cycles >= run.compute_cycles


def test_one_step_by_hand():
    """One element: A and B of 4 words are 1 + 2 flits each; 8 cycles; O of 4 words leaves in 3 flits.

    GB sends 6 flits in cycles 0 to 5; the last comes out of the element's router at the end of cycle 6.  It computes
    in cycles 7 to 14, and flits of the sum come out of the buffer's router in cycles 16, 17 and 18.
    """
    run = run_program(machine(1, 1), make_program(machine(1, 1), problem((2, 2, 2)), all_inside((2, 2, 2))))
    assert (run.sent_flits, run.received_flits, run.compute_cycles) == (6, 3, 8)
    assert run.cycles == 6 + 1 + 8 + 1 + 3
    assert run.hops == 9
    assert run.hop_energy_pj == 9 * 2 * 0.25
    assert run.tag_energy_pj == 8 * 1 * 0.5


def all_inside(bounds: tuple[int, int, int]) -> LoopMapping:
    return LoopMapping((level(*enumerate(bounds)), level(), level()))


def test_memory_off_chip_comes_first_and_last():
    """8 words at half a word a cycle before the first flit, 4 after the last."""
    slow = machine(1, 1, shared_bandwidth=0.5)
    found = make_program(slow, problem((2, 2, 2)), all_inside((2, 2, 2)))
    assert run_program(slow, found).cycles == 16 + 19 + 8


def test_elements_with_the_same_tile_get_copies():
    """N over columns, K over rows: A goes to both columns at once, sums of a column are one packet."""
    mapping = LoopMapping((level((M, 4)), level(x=((N, 2),), y=((K, 2),)), level()))
    program = make_program(machine(), problem((4, 2, 2)), mapping)
    assert program.words == {"A": (8, 0), "B": (4, 0), "O": (0, 8)}
    assert len(program.step) == 2 + 4 + 2


def test_sums_that_come_back_wait_for_themselves():
    """K outside M: each tile of O leaves, and comes back for the second half of K."""
    mapping = LoopMapping((level((N, 2)), level((M, 4), (K, 2)), level()))
    program = make_program(machine(1, 1), problem((4, 2, 2)), mapping)
    assert program.words["O"] == (8, 16)
    assert (program.needs >= 0).sum() == 4
    assert all(program.up[program.needs[program.needs >= 0]])


def test_the_next_tile_comes_while_one_is_used():
    """Ten tiles of 100 cycles: all transfers but the first and last are hidden."""
    mapping = LoopMapping((level((N, 10), (K, 10)), level((M, 10)), level()))
    run = run_program(machine(1, 1), make_program(machine(1, 1), problem((10, 10, 10)), mapping))
    assert run.compute_cycles == 1000
    assert run.cycles <= 1000 + 1 + 50 + 1 + 5 + 4 + 6


def test_what_elements_do_not_keep_is_sent_each_step():
    """A passes the element: its word comes again for each n."""
    inner = LevelMapping((Loop(N, 4),), bypass=frozenset("A"))
    mapping = LoopMapping((inner, level((M, 2), (K, 2)), level()))
    found = make_program(machine(1, 1), problem((2, 4, 2)), mapping)
    assert found.words["A"][0] == evaluate(machine(1, 1), problem((2, 4, 2)), mapping).network_words["GB"]["A"] == 16
    assert run_program(machine(1, 1), found).cycles > 16


def test_machines_without_a_mesh_are_refused():
    arch = machine()
    plain = replace(arch, levels=tuple(replace(one, mesh_flit_bits=0) for one in arch.levels))
    with pytest.raises(TilewrightError, match="a `flit` at one memory on chip, of one instance"):
        make_program(plain, problem((2, 2, 2)), all_inside((2, 2, 2)))
    assert mesh_of(arch, 1).nodes == 6

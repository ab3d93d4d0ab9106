"""What orders of loops mean for tensors, against all orders one by one."""

from __future__ import annotations

from itertools import permutations

from tilewright.costs.hierarchy import Architecture, Level, Problem, Tensor
from tilewright.search.mapping.exact.bounds.outcomes import cases_of, outcomes_of
from tilewright.search.mapping.exact.space.model import PLAIN, UNRELATED, WINDOW, Model, model_of
from tilewright.search.mapping.values import Space

TTMC = Problem(
    "ttmc",
    tuple("ijklm"),
    (2, 2, 2, 2, 2),
    (
        Tensor("A", ((1, 0, 0, 0, 0), (0, 1, 0, 0, 0), (0, 0, 1, 0, 0))),
        Tensor("B", ((0, 1, 0, 0, 0), (0, 0, 0, 1, 0))),
        Tensor("C", ((0, 0, 1, 0, 0), (0, 0, 0, 0, 1))),
        Tensor("Z", ((1, 0, 0, 0, 0), (0, 0, 0, 1, 0), (0, 0, 0, 0, 1)), is_output=True),
    ),
)


CONVOLUTION = Problem(
    "convolution",
    tuple("kcpr"),
    (2, 2, 2, 2),
    (
        Tensor("I", ((0, 1, 0, 0), (0, 0, 1, 1))),
        Tensor("W", ((1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 0, 1))),
        Tensor("Z", ((1, 0, 0, 0), (0, 0, 1, 0)), is_output=True),
    ),
)


def model(problem: Problem = TTMC) -> Model:
    levels = Level("near", 8, 1, 1, 1, 1.0), Level("far", None, 1, 1, 1, 2.0)
    return model_of(Architecture("two memories", levels, "MAC", 1, 1, 1.0), problem, Space(factors="perfect"))[0]


def runs_of(kinds: list[list[int]], order: tuple[int, ...]) -> list[int]:
    """By tensor the dimensions of its loops, inner to outer, before one moves it."""
    found: list[int] = []
    for row in kinds:
        run = 0
        for d in order:
            if row[d] != UNRELATED:
                break
            run |= 1 << d
        found.append(run)
    return found


def test_outcomes_of_some_dimensions_are_those_of_their_orders():
    problem = model()
    kinds: list[list[int]] = problem.kind.tolist()
    for looping in range(1 << 5):
        dims = [d for d in range(5) if looping >> d & 1]
        orders = [runs_of(kinds, order) for order in permutations(dims)]
        for kept in range(1 << 4):
            tensors = [t for t in range(4) if kept >> t & 1]
            best = {tuple(runs[t] for t in tensors) for runs in orders}
            found = [tuple(outcome[t][0] for t in tensors) for outcome in outcomes_of(problem, kept, looping)]
            assert set(found) <= best
            assert all(any(all(a & b == b for a, b in zip(one, mine, strict=True)) for one in found) for mine in best)


def finding(row: list[int], order: tuple[int, ...]) -> int:
    """Dimensions of loops whose steps may find something of a tensor: those inside of its first plain loop."""
    found = 0
    for d in order:
        if row[d] == PLAIN:
            break
        found |= 1 << d
    return found


def includes(case: tuple[tuple[int, int, int], ...], kinds: list[list[int]], order: tuple[int, ...], kept: int) -> bool:
    """Whether a case promises the kept tensors no less than an order of loops does."""
    runs = runs_of(kinds, order)
    for t, (run, first, near) in enumerate(case):
        if not kept >> t & 1:
            continue
        first_moved = next(d for d in order if kinds[t][d] != UNRELATED)
        slides = kinds[t][first_moved] == WINDOW
        if run & runs[t] != runs[t] or (slides and first != first_moved and run == runs[t]):
            return False
        if slides and first == first_moved and finding(kinds[t], order) & ~near:
            return False
    return True


def test_every_order_of_a_convolution_is_some_case():
    problem = model(CONVOLUTION)
    kinds: list[list[int]] = problem.kind.tolist()
    for kept in range(1, 1 << 3):
        cases = cases_of(problem, outcomes_of(problem, kept))
        for order in permutations(range(4)):
            assert any(includes(case, kinds, order, kept) for case in cases), (kept, order)


def test_a_result_that_rests_in_a_plain_loop_leaves_the_window_nothing():
    problem = model(CONVOLUTION)
    cases = cases_of(problem, outcomes_of(problem, 0b101))
    c, r = 1 << 1, 1 << 3
    resting = [(near, run) for (_, first, near), _, (run, _, _) in cases if first == 3 and run & c]
    assert resting == [(c | r, c | r)]


def test_a_tensor_that_neighbours_help_may_rest_in_no_loop():
    """Whatever other tensors rest in, if a loop of its sum is the innermost of all."""
    problem = model(CONVOLUTION)
    kinds: list[list[int]] = problem.kind.tolist()
    for kept in 1, 3, 5, 7:
        found = {helped: outcomes_of(problem, kept, helped=helped) for helped in (0, 1)}
        for order in permutations(range(4)):
            if order[0] not in (2, 3):
                continue
            runs = [run if kept >> t & 1 else 0 for t, run in enumerate(runs_of(kinds, order))]
            for helped, cases in found.items():
                known = any(
                    case[0][:2] == (0, order[0])
                    and all(way[0] & run == run for way, run in zip(case, runs, strict=True))
                    for case in cases
                )
                assert known or not helped
                assert not known or helped or kept > 1

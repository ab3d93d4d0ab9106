"""Z3 against enumeration of all iterations, on codelets that are right and codelets that are wrong by a little."""

import random
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tilewright.algebra.affine import index_forms, window
from tilewright.algebra.expr import Access
from tilewright.algebra.parser import parse_expr, parse_statement
from tilewright.frontends.acg import load_target
from tilewright.passes.codelet_to_queues.locals import place_locals
from tilewright.passes.codelet_to_queues.obligations import Piece, Problem, build_problem
from tilewright.passes.codelet_to_queues.prove import refute
from tilewright.passes.codelet_to_queues.tree import Codelet, Define, Issue, Loop, Node, Surrogate, Transfer

MACHINE = load_target("tiny")
COPIES = 2


def local(access: str, extents: dict[str, int], copies: int = 1) -> Surrogate:
    expr = parse_expr(access)
    assert isinstance(expr, Access)
    axes = window([index_forms(expr)], extents)
    return Surrogate(expr.tensor.lower(), "SPAD", tuple(axis.size for axis in axes), "i8", (0,) * copies, axes)


def random_codelet(rng: random.Random) -> Codelet:
    """Rows `stride * p + r` of a padded image, in pieces of rows and perhaps of columns, pieces cut again."""
    extents = {"p": rng.randint(1, 9), "q": rng.randint(1, 5), "r": rng.randint(1, 3)}
    stride, pad = rng.randint(1, 2), rng.randint(0, 1)
    height = max(1, stride * (extents["p"] - 1) + extents["r"] - 2 * pad)
    outer, inner = rng.randint(1, 9), rng.randint(1, 9)
    tile = extents | {"p": min(outer, extents["p"])}
    small = tile | {"p": min(inner, tile["p"])}
    image = f"X[{stride}*p + r - {pad}, q]"
    surrogates = (
        Surrogate("x", "DRAM", (height, extents["q"]), "i8", (0,), constant=True),
        Surrogate("y", "DRAM", (extents["p"], extents["q"]), "i8", (256,)),
        local(image, tile, COPIES),
        local("Y[p, q]", small),
    )
    statement = parse_statement(f"O[p, q] += A[{stride}*p + r - {pad}, q]")
    issue = Issue("VPU", "unary", statement, (3, 2), (("a", "p"), ("b", "q")))
    body: tuple[Node, ...] = (Define(3), Loop("r", 1, (issue,)), Transfer(3, 1))
    loops = Loop("p", outer, (Define(2), Transfer(0, 2, 0), Loop("p", inner, body)))
    codelet = Codelet("c", tuple(extents.items()), surrogates, (loops,))
    placed = place_locals(codelet, "SPAD", 1024, 4)
    assert isinstance(placed, dict)
    items = [replace(s, addresses=placed.get(i, s.addresses)) for i, s in enumerate(surrogates)]
    return replace(codelet, surrogates=tuple(items))


def spoiled(rng: random.Random, codelet: Codelet) -> Codelet:
    """The codelet with one number changed: a size, an address, or the padding."""
    items = list(codelet.surrogates)
    index = rng.randrange(len(items))
    item = items[index]
    if rng.random() < 0.5:
        axis = rng.randrange(len(item.shape))
        shape = tuple(max(1, n - 1) if i == axis else n for i, n in enumerate(item.shape))
        items[index] = replace(item, shape=shape)
    else:
        moved = rng.choice((-4, -2, 4, 1000))
        addresses = (*item.addresses[:-1], max(0, item.addresses[-1] + moved))
        items[index] = replace(item, addresses=addresses)
    return replace(codelet, surrogates=tuple(items))


def points(pieces: tuple[Piece, ...]) -> Iterator[dict[str, int]]:
    """All points of the loops, by running them; for tiny codelets."""

    def walk(index: int, point: dict[str, int]) -> Iterator[dict[str, int]]:
        if index == len(pieces):
            yield dict(point)
            return
        piece = pieces[index]
        iteration = 0
        while True:
            point[piece.iteration] = iteration
            left = piece.left.evaluate(point)
            if left < 1:
                return
            point[piece.extent] = min(piece.step, left)
            yield from walk(index + 1, point)
            iteration += 1

    return walk(0, {})


def holds_everywhere(problem: Problem) -> bool:
    return all(item.holds(point) for point in points(problem.pieces) for item in problem.obligations)


@pytest.mark.parametrize("seed", range(40))
def test_z3_agrees_with_enumeration(seed: int):
    rng = random.Random(seed)
    codelet = random_codelet(rng)
    right, wrong = build_problem(MACHINE, codelet), build_problem(MACHINE, spoiled(rng, codelet))
    assert refute(right) is None
    assert holds_everywhere(right)
    refutation = refute(wrong)
    assert (refutation is None) == holds_everywhere(wrong)
    if refutation is not None:
        assert not refutation.obligation.holds(refutation.point)
        failing = [p for p in points(wrong.pieces) if not refutation.obligation.holds(p)]
        assert refutation.demand == max(refutation.obligation.demand.evaluate(p) for p in failing)


def test_points_run_over_ragged_pieces():
    codelet = Codelet("c", (("p", 7),), (), (Loop("p", 4, (Loop("p", 3, ()),)),))
    found = [tuple(point.values()) for point in points(build_problem(MACHINE, codelet).pieces)]
    assert found == [(0, 4, 0, 3), (0, 4, 1, 1), (1, 3, 0, 3)]


def test_refutations_name_what_is_short_and_where():
    codelet = Codelet(
        "c",
        (("p", 10),),
        (Surrogate("x", "DRAM", (9,), "i8", (0,)), local("X[p]", {"p": 4})),
        (Loop("p", 4, (Define(1), Transfer(0, 1))),),
    )
    problem = build_problem(MACHINE, codelet)
    refutation = refute(problem)
    assert refutation is not None
    error = refutation.error(problem)
    assert error.kind == "refuted"
    assert str(error) == (
        "codelet @c, transfer x@DRAM -> x@SPAD: index 0 of x: expected in 0..8 (DRAM), found 10 elements; "
        "keep 10 instead of 9 elements (at p = 8..9)"
    )

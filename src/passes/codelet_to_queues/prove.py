"""Proofs of obligations by Z3: one query says that all of a codelet hold, or gives a point where one does not."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import z3

from ...algebra.affine import Affine
from ...errors import InfeasibleError, TilewrightError
from .obligations import Obligation, Piece, Problem

TIMEOUT_MS = 20_000


@dataclass(frozen=True)
class Refutation:
    """An obligation that does not hold, a point where it fails, and the largest demand at any such point."""

    obligation: Obligation
    point: Mapping[str, int]
    demand: int

    def error(self, problem: Problem) -> TilewrightError:
        """The refutation as an error: what is short, by how much, where, and the smallest change that would fit."""
        item = self.obligation
        subject = f"codelet @{problem.codelet}, {item.subject}"
        where = iteration_words(problem.pieces, self.point) if item.is_moving else ""
        lever = _lever(item, self.demand) + (f" (at {where})" if where else "")
        if item.kind == "capacity":
            return InfeasibleError(item.memory, self.demand, item.bound, item.unit, lever, subject)
        found = f"{self.demand} {item.unit}" if item.kind != "disjoint" else f"{self.demand} B shared in {item.memory}"
        return TilewrightError("refuted", subject, f"{item.need} ({item.memory})", found, lever)


def _lever(item: Obligation, demand: int) -> str:
    match item.kind:
        case "capacity":
            return f"{demand - item.bound} B less, or {demand} B of {item.memory}, would fit"
        case "alignment":
            return f"the next address that fits is {-(-demand // item.bound) * item.bound}"
        case "limit":
            return f"loop outside in steps of {item.bound}"
        case "disjoint":
            return f"move one of them by {demand} B"
        case _ if item.bound:
            return f"keep {demand} instead of {item.bound} {item.unit}"
        case _:
            return f"begin {demand} {item.unit} earlier"


def iteration_words(pieces: tuple[Piece, ...], point: Mapping[str, int]) -> str:
    """The loops' iterations at a point, e.g. `p = 56 .. 60`."""
    starts: dict[str, int] = {}
    words: dict[str, str] = {}
    for piece in pieces:
        starts[piece.dim] = starts.get(piece.dim, 0) + piece.step * point[piece.iteration]
        words[piece.dim] = f"{piece.dim} = {starts[piece.dim]}..{starts[piece.dim] + point[piece.extent] - 1}"
    return ", ".join(words.values())


def refute(problem: Problem) -> Refutation | None:
    """None if all obligations hold at all points; raises `TilewrightError` (kind `unproven`) where Z3 gives up."""
    distinct = list({item.formula: item for item in problem.obligations}.values())
    solver = z3.SolverFor("QF_LIA")
    solver.set("timeout", TIMEOUT_MS)
    _assume(solver, problem.pieces)
    solver.add(z3.Or([_negation(item) for item in distinct]))
    answer = solver.check()
    if answer == z3.unsat:
        return None
    if answer != z3.sat:
        raise TilewrightError(
            "unproven", f"codelet @{problem.codelet}", "a proof of its addresses", f"none: {solver.reason_unknown()}"
        )
    point = _point(solver.model(), problem.pieces)
    failed = next(item for item in problem.obligations if not item.holds(point))
    return _worst(problem, failed, point)


def _worst(problem: Problem, failed: Obligation, point: Mapping[str, int]) -> Refutation:
    """The point of largest demand where `failed` fails; the first point found if Z3 does not say in time."""
    demand = failed.demand.evaluate(point)
    optimizer = z3.Optimize()
    optimizer.set("timeout", TIMEOUT_MS)
    _assume(optimizer, problem.pieces)
    optimizer.add(_negation(failed))
    optimizer.maximize(_term(failed.demand))
    if optimizer.check() == z3.sat:
        point = _point(optimizer.model(), problem.pieces)
        demand = failed.demand.evaluate(point)
    return Refutation(failed, point, demand)


def _assume(solver: Any, pieces: tuple[Piece, ...]) -> None:
    """What the loops guarantee: each is at an iteration that exists."""
    for piece in pieces:
        left = _term(piece.left)
        extent = z3.Int(piece.extent)
        solver.add(z3.Int(piece.iteration) >= 0, left >= 1)
        solver.add(extent == z3.If(left >= piece.step, z3.IntVal(piece.step), left))


def _negation(item: Obligation) -> Any:
    if not item.is_moving:
        return z3.BoolVal(not item.holds({}))
    facts = [_term(form) < 0 for form in item.alternatives]
    short = z3.And(facts) if len(facts) > 1 else facts[0]
    return short if item.modulus == 1 else z3.Or(short, _term(item.value) % item.modulus != 0)


def _term(form: Affine) -> Any:
    terms = [coefficient * z3.Int(name) for name, coefficient in form.terms]
    return z3.Sum([z3.IntVal(form.const), *terms])


def _point(model: Any, pieces: tuple[Piece, ...]) -> dict[str, int]:
    names = [name for piece in pieces for name in (piece.iteration, piece.extent)]
    return {name: model.eval(z3.Int(name), model_completion=True).as_long() for name in names}

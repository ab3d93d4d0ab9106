"""Mapping groups on a hierarchy of memories: what `nest-map` with a mapper does."""

from collections.abc import Sequence
from math import inf
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from ...costs.hierarchy import Architecture, LoopMapping, Problem, architecture_of
from ...costs.mapping.levels import canonical
from ...costs.model import MODELS, evaluate_with
from ...costs.timeloop import Prices
from ...dialects import nest
from ...dialects.acg import machine_of
from ...dialects.properties import figures_attr
from ...errors import InfeasibleError, TilewrightError
from ...machine import Machine
from ...search.mapping.mappers import map_problem
from ...search.mapping.values import OBJECTIVES, CostModel, Mapped, Request, Space
from ..functions import functions_of
from .split import split_group
from .trees import in_group, only_kernel, problem_of, put_mapping, read_mapping


def request_of(
    objective: str, model: str, factors: str, bypass: bool, seed: int, time_limit_s: float | None, gap: float
) -> Request:
    """What a mapper is asked; raises `TilewrightError` (kind `usage`) for what it cannot be asked."""
    allowed: dict[str, tuple[str, tuple[str, ...]]] = {
        "objective": (objective, OBJECTIVES),
        "model": (model, MODELS),
        "factors": (factors, ("perfect",) if model == "timeloop" else ("imperfect", "perfect")),
    }
    for option, (word, choices) in allowed.items():
        if word not in choices and (option, word) != ("factors", ""):
            raise TilewrightError("usage", option, f"one of {', '.join(choices)}", word)
    if time_limit_s is not None and not time_limit_s > 0:
        raise TilewrightError("usage", "time_limit", "more than 0 seconds", str(time_limit_s))
    if not 0 <= gap < inf:
        raise TilewrightError("usage", "gap", "a part of the bound, such as 0.01 for 1 %", str(gap))
    given: Any = factors or ("perfect" if model == "timeloop" else "imperfect")
    words: Any = objective, model
    return Request(words[0], words[1], Space(bypass, True, given), seed, time_limit_s, gap=gap)


def map_groups(op: ModuleOp, groups: Sequence[nest.GroupOp], mapper: str, request: Request) -> None:
    """Maps all groups of a module that have no mapping, prices all, and notes the prices."""
    machine = machine_of(op)
    arch = architecture_of(machine)
    known: dict[Problem, Mapped] = {}
    parts = [part for group in groups for part in ([group] if group.is_mapped else _parts(group))]
    priced: dict[nest.GroupOp, Prices] = {}
    for group in parts:
        try:
            priced[group] = _map(group, machine, arch, mapper, request, known)
        except TilewrightError as error:
            raise in_group(error, group) from error
    for function in functions_of(op):
        own = [prices for group, prices in priced.items() if group.parent_op() is function]
        totals = {"cycles": sum(one.cycles for one in own), "energy_pj": sum(one.energy_pj for one in own)}
        function.attributes["predicted"] = figures_attr(totals)


def _parts(group: nest.GroupOp) -> list[nest.GroupOp]:
    return [group] if len(group.kernels) == 1 else split_group(group)


def _map(
    group: nest.GroupOp,
    machine: Machine,
    arch: Architecture,
    mapper: str,
    request: Request,
    known: dict[Problem, Mapped],
) -> Prices:
    problem = problem_of(only_kernel(group), "kernel")
    bound: float | None = None
    if not group.is_mapped:
        if problem not in known:
            known[problem] = map_problem(arch, problem, mapper, request)
        put_mapping(group, arch, problem, known[problem].mapping)
        bound = known[problem].lower_bound
    prices = price(arch, problem, read_mapping(group, machine, arch, problem), request.model)
    figures = {"cycles": prices.cycles, "energy_pj": prices.energy_pj, "edp": prices.edp_j_cycle}
    group.attributes["predicted"] = figures_attr(figures | ({} if bound is None else {"bound": bound}))
    return prices


def price(arch: Architecture, problem: Problem, mapping: LoopMapping, model: CostModel) -> Prices:
    """The price of a mapping that fits; `InfeasibleError` for one that does not."""
    prices = evaluate_with(model, arch, problem, canonical(arch, problem, mapping))
    for wrong in prices.violations:
        resource = f"{wrong.resource} of {wrong.level}"
        raise InfeasibleError(resource, wrong.demand, wrong.bound, wrong.unit, "hold smaller tiles or spread less")
    return prices

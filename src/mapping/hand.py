"""Prices of mappings that stand in IR, written by hand or by any search."""

from pathlib import Path
from typing import Any

from ..backends.report import loop_nest, traffic_rows
from ..costs.hierarchy import Architecture, LoopMapping, Problem, architecture_of, mapping_as_json
from ..costs.model import evaluate_with
from ..dialects import nest
from ..dialects.acg import has_target, machine_of
from ..driver import parse_mlir
from ..errors import TilewrightError
from ..passes.nest.trees import in_group, only_kernel, problem_of, read_mapping
from .machines import find_architecture, named_target


def price_ir(path: Path, target: str | Path | None, model: str) -> dict[str, Any]:
    """The price of each mapped group of a `.mlir` file: `{"model", "results"}`, one result per group.

    `target` is the machine; without it the one that the groups' attribute `target` names, or the `acg.graph` of the
    file.  Elements have the bits of their types.  Raises
    `TilewrightError` for a tree that is no mapping of that machine, and where no group is mapped.
    """
    module = parse_mlir(path)
    groups = [op for op in module.walk() if isinstance(op, nest.GroupOp) and op.is_mapped]
    if not groups:
        raise TilewrightError("kernel", str(path), "a nest.group with a mapping", "none", "map it: `tilewright map`")
    target = named_target(module) if target is None else target
    if target is None and not has_target(module):
        found = "no acg.graph and no attribute `target`"
        raise TilewrightError("target", str(path), "a machine", found, "say --target T")
    arch = architecture_of(machine_of(module)) if target is None else find_architecture(target)
    return {"model": model, "results": [_price(group, arch, model) for group in groups]}


def _price(group: nest.GroupOp, arch: Architecture, model: str) -> dict[str, Any]:
    name = group.sym_name.data
    try:
        problem = problem_of(only_kernel(group), name)
        mapping = read_mapping(group, None, arch, problem)
        return priced(arch, problem, mapping, model, mapping=mapping_as_json(arch, problem, mapping))
    except TilewrightError as error:
        raise in_group(error, group) from error


def priced(arch: Architecture, problem: Problem, chosen: LoopMapping, model: str, **told: Any) -> dict[str, Any]:
    """A mapping with its words and its price, and what else is `told`, as `tilewright price --json` tells it."""
    prices = evaluate_with(model, arch, problem, chosen)
    return {
        "arch": arch.name,
        "problem": problem.name,
        "loops": loop_nest(arch, problem, chosen),
        "traffic": [vars(row) for row in traffic_rows(prices)],
        **told,
    } | prices.as_json()

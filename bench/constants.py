"""What the constants of the default flow's heuristics are worth: cycles of default programs with other values of each.

Each line is one constant at one other value: the geometric mean of its cycles over those with the value in the code,
the best and the worst case, and the same mean of the CPU seconds of `compile`.  Nothing here can be wrong or right, so
the exit code says nothing: a constant is where it should be if none of its lines has a mean well below 1.

    python bench/constants.py                          every constant: some fifty times the programs below
    python bench/constants.py --only WORTH ROW_PIECES --cases squeezenet:edge16 bert_base_block:cloud128
"""

from __future__ import annotations

import argparse
import ast
import gc
import importlib
import inspect
import math
import pkgutil
import sys
import tempfile
import time
from collections.abc import Generator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from default_flow import model_of

import tilewright
from tilewright.driver import compile


class Constant(NamedTuple):
    """A name in a module, and the values that are tried in its place."""

    module: str
    name: str
    others: tuple[Any, ...]


class Cost(NamedTuple):
    """What a program costs, and what it cost to make it."""

    cycles: float
    cpu_s: float


Models = dict[tuple[str, str], str]
Costs = dict[tuple[str, str], Cost]

CONSTANTS = (
    Constant("driver.pipelines", "FINER_SHARE", (1 / 8, 3 / 8)),
    Constant("driver.schedule_ways", "LEAST_SAVING", (1 / 400, 1 / 100)),
    Constant("driver.applicable", "HIDDEN_SHARES", ((), (1 / 16, 1 / 32), (1 / 32, 1 / 64))),
    Constant("driver.schedule_ways", "SPAN_SLACK", (1, 6)),
    Constant("driver.schedule_ways", "SLACKS", ((0,), (2, 1, 0))),
    Constant("driver.applicable", "LARGE_SHARE", (1 / 4, 1)),
    Constant("driver.applicable", "HEAD_SHARE", (1 / 8, 1 / 2)),
    Constant("passes.graph.graph_unfold", "SHARE", (1 / 4, 1)),
    Constant("passes.graph.graph_unfold", "WORTH", (2, 8)),
    Constant("passes.graph_to_nest.operands", "SHARE", (1 / 8, 1 / 2)),
    Constant("passes.nest.arrivals", "NEARLY", (0.01, 0.05)),
    Constant("passes.nest.arrivals", "MOST_PIECES", (8, 32)),
    Constant("passes.nest.nest_band", "WORTHS", ((4,), (1, 2), (1, 8))),
    Constant("passes.nest.nest_band", "MOST", (16, 256)),
    Constant("passes.nest.nest_split_weights", "SHARE", (1 / 4, 1)),
    Constant("passes.nest.nest_split_weights", "PART_SHARE", (1 / 16, 1 / 4)),
    Constant("passes.nest.nest_swap_factors", "WORTH", (1 / 16, 1 / 4)),
    Constant("passes.nest.nest_swap_factors", "ROOM", (1 / 8, 1 / 2)),
    Constant("passes.nest_to_codelet.fused_copies", "ROW_PIECES", (8, 32)),
    Constant("passes.nest_to_codelet.fused_copies", "MOVED_PIECES", (32, 128)),
    Constant("passes.nest_to_codelet.fused_tiles", "CHANNELS_SCRATCH", ((2, 1), (1,), (4, 2, 1))),
    Constant("passes.nest_to_codelet.fused_tiles", "NEARLY", (1.0, 1.25)),
    Constant("passes.nest_to_codelet.fused_tiles", "ROWS_SCRATCH_SHARE", (32, 128)),
    Constant("passes.nest_to_codelet.fused_tiles", "SCRATCH_SHARE", (16, 64)),
    Constant("passes.codelet.placement", "STORE_SLACK", (0, 2, 8)),
    Constant("passes.codelet.placement", "FITTED", ((1.0, 0.9), (1.0, 0.97, 0.95, 0.92, 0.9, 0.85, 0.8, 0.75, 0.7))),
    Constant("passes.codelet_to_queues.emit", "PART_CYCLES", (4, 64)),
    Constant("passes.codelet_to_queues.order", "MOST_ROUNDS", (3, 12)),
)

CASES = (
    ("mobilenet", "edge16"),
    ("bert_base_block", "cloud128"),
    ("shufflenet", "cloud128"),
    ("squeezenet", "cocco_npu"),
    ("shufflenet", "cocco_npu"),
)
"""Programs that are not at their bound already."""


def main() -> None:
    """Print every constant that is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", help="names of constants", choices=sorted({c.name for c in CONSTANTS}))
    parser.add_argument("--cases", nargs="+", metavar="NETWORK:TARGET", help="networks, each with its target")
    given = parser.parse_args()
    cases = CASES
    if given.cases:
        cases = tuple((network, target) for network, _, target in (text.rpartition(":") for text in given.cases))
    for info in pkgutil.walk_packages(tilewright.__path__, "tilewright."):
        if any(info.name.startswith(f"tilewright.{part}.") for part in ("passes", "driver", "costs", "algebra")):
            importlib.import_module(info.name)
    with tempfile.TemporaryDirectory() as folder:
        compare(given.only, {case: model_of(case[0], "int8", 1, Path(folder)) or "" for case in cases})


def compare(only: list[str] | None, models: Models) -> None:
    """Print these constants, or all, for models by their network and target."""
    shipped = costs(models)
    for (network, target), (cycles, cpu_s) in shipped.items():
        print(f"{network:20} {target:10} {cycles:12,.0f} cycles {cpu_s:6.1f} s", flush=True)
    for constant in CONSTANTS:
        if only is None or constant.name in only:
            for value in constant.others:
                with changed(constant, value):
                    found = costs(models)
                line(constant, value, shipped, found)


def line(constant: Constant, value: Any, shipped: Costs, found: Costs) -> None:
    """Print a constant at another value beside the value in the code."""
    ratios = [found[case].cycles / shipped[case].cycles for case in shipped]
    times = [found[case].cpu_s / shipped[case].cpu_s for case in shipped]
    name = f"{constant.module.rsplit('.', 1)[1]}.{constant.name}"
    print(
        f"{name:36} {values(owner(constant)[constant.name]):>16} -> {values(value):16} cycles {mean(ratios):.4f} "
        f"({min(ratios):.3f} to {max(ratios):.3f})  CPU {mean(times):.2f}",
        flush=True,
    )


def values(value: Any) -> str:
    """A number or a few of them."""
    many = value if isinstance(value, tuple) else (value,)
    return ",".join(f"{one:.3g}" if isinstance(one, float) else str(one) for one in many) or "none"


def mean(ratios: list[float]) -> float:
    """The geometric mean."""
    return math.exp(sum(map(math.log, ratios)) / len(ratios))


def costs(models: Models) -> Costs:
    """Costs of the default programs, in a process of their own: what this one keeps knows nothing of them."""
    with ProcessPoolExecutor(1, get_context("fork")) as pool:
        return pool.submit(_costs, models).result()


def _costs(models: Models) -> Costs:
    found: Costs = {}
    for (network, target), model in models.items():
        gc.collect()
        begun = time.process_time()
        cycles = compile(model, target).predicted["cycles"]
        found[network, target] = Cost(cycles, time.process_time() - begun)
    return found


def owner(constant: Constant) -> dict[str, Any]:
    """The names of the module that a constant is of."""
    return vars(sys.modules[f"tilewright.{constant.module}"])


@contextmanager
def changed(constant: Constant, value: Any) -> Generator[None]:
    """Another value for a constant, in its module and in those that import it by name."""
    before = owner(constant)[constant.name]
    places = [owner(constant), *(vars(module) for module in tuple(sys.modules.values()) if imports(module, constant))]
    for place in places:
        place[constant.name] = value
    yield
    for place in places:
        place[constant.name] = before


def imports(module: ModuleType, constant: Constant) -> bool:
    """Whether a module of ours takes this constant from its module."""
    if not getattr(module, "__name__", "").startswith("tilewright.") or constant.name not in vars(module):
        return False
    last = constant.module.rsplit(".", 1)[1]
    found = (node for node in ast.walk(ast.parse(inspect.getsource(module))) if isinstance(node, ast.ImportFrom))
    names = {name.name for node in found if (node.module or "").rsplit(".", 1)[-1] == last for name in node.names}
    return constant.name in names


if __name__ == "__main__":
    main()

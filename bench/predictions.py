"""How close what compile predicts is to what the simulator counts: random kernels and the light ONNX networks.

Prints for each target the worst ratios of predicted to simulated cycles, energy and DRAM bytes, and how far the model
that prices mappings in the search (`model_cycles`) is off.  `python bench/predictions.py [--kernels N] [--networks]`.
"""

from __future__ import annotations

import argparse
import random
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tilewright.backends.simulator import simulate
from tilewright.driver import CompileOptions
from tilewright.driver.models import compile
from tilewright.errors import TilewrightError

sys.path.insert(0, str(Path(__file__).parents[1] / "test"))

from onnx_files.networks import LIGHT_NETWORKS, seeded_light_model

TARGETS = ("edge16", "cloud128", "tiny")
KEYS = ("cycles", "energy_pj", "dram_bytes")


@dataclass(frozen=True)
class Row:
    """Predicted over simulated for each of KEYS, the same of the model, and seconds to compile."""

    name: str
    ratios: tuple[float, ...]
    model: float
    cycles: int
    compile_s: float


def kernels(target: str, count: int, seed: int) -> Iterator[str]:
    """Products and convolutions with strides; on tiny small ones."""
    made = random.Random(seed)
    large = target != "tiny"
    for _ in range(count):
        if made.random() < 0.5:
            m, n, k = (made.choice((1, made.randint(1, 64), made.randint(64, 1200 if large else 90))) for _ in "mnk")
            yield f"O[m,n] += A[m,k] * B[k,n]; m={m} n={n} k={k}"
            continue
        stride, taps = made.choice((1, 1, 2, 2, 4)), made.choice((1, 3, 5, 7))
        p, c, m = (made.randint(1, most if large else 12) for most in (60, 200, 300))
        step = "" if stride == 1 else f"{stride}*"
        window = f"I[c,{step}p+r,{step}q+s] * W[m,c,r,s]"
        yield f"O[m,p,q] += {window}; m={m} c={c} p={p} q={p} r={taps} s={taps}"


def measure(name: str, model: object, target: str, partition: str = "") -> Row | None:
    """One program; None where the target has no room for it."""
    start = time.process_time()
    try:
        program = compile(model, target, options=CompileOptions(partition=partition, prove=False))  # type: ignore
    except TilewrightError as error:
        print(f"{name} on {target}: {error}")
        return None
    seconds = time.process_time() - start
    run = simulate(program, {}, functional=False, checks=False)
    counted = {"cycles": run.cycles, "energy_pj": run.energy_pj, "dram_bytes": run.dram_bytes}
    ratios = tuple(program.predicted[key] / counted[key] for key in KEYS)
    return Row(name, ratios, program.predicted["model_cycles"] / run.cycles, run.cycles, seconds)


def show(title: str, rows: list[Row]) -> None:
    """The worst of the rows, and those whose model is furthest off."""
    print(f"\n{title}: {len(rows)} programs")
    for number, key in enumerate(KEYS):
        worst = max(rows, key=lambda row: abs(row.ratios[number] - 1))
        print(f"  {key}: at worst {worst.ratios[number]:.6f} ({worst.name})")
    near = sum(abs(row.model - 1) <= 0.05 for row in rows)
    print(f"  the search's model is within 5 % of {near}; at worst:")
    for row in sorted(rows, key=lambda row: -abs(row.model - 1))[:5]:
        print(f"    {row.model:.3f} of {row.cycles} cycles: {row.name}")


def main() -> None:
    """Kernels of every target, or networks."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kernels", type=int, default=100, metavar="N")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--targets", nargs="*", default=TARGETS)
    parser.add_argument("--networks", nargs="*", metavar="NAME", help="light networks on edge16 (all if none is named)")
    given = parser.parse_args()
    if given.networks is not None:
        for partition in ("", "best"):
            rows: list[Row] = []
            for name in given.networks or LIGHT_NETWORKS:
                row = measure(f"{name} {partition}", seeded_light_model(name), "edge16", partition)
                if row is not None:
                    print(row, flush=True)
                    rows.append(row)
            show(f"light networks {partition}", rows)
        return
    for target in given.targets:
        found = [measure(kernel, kernel, target) for kernel in kernels(target, given.kernels, given.seed)]
        show(target, [row for row in found if row is not None])


if __name__ == "__main__":
    main()

"""CPU seconds, proof and gap of the exact mapper, layer by layer, on the machines of the papers.

python bench/mapping_exact.py --factors perfect --machines conventional,eyeriss_like --networks resnet18
"""

from __future__ import annotations

import argparse
from statistics import median
from time import process_time

from tilewright.costs.hierarchy import Architecture, Problem
from tilewright.errors import TilewrightError
from tilewright.mapping.machines import find_architecture
from tilewright.search.mapping.bounded import solve
from tilewright.search.mapping.values import Request, Space
from tilewright.zoo.mapping_layers import layers

MACHINES = "conventional,eyeriss_like,simba_like,cosa_simba,diannao_like,tpu_like"
NETWORKS = "resnet18,resnet50,alexnet,mttkrp,sddmm,ttmc,mmc,tcl"


def main() -> None:
    options = arguments()
    space = Space(bypass=not options.keep_all, split_axes=True, factors=options.factors)
    request = Request(objective=options.objective, space=space, time_limit_s=options.time_limit)
    warm_up()
    seconds: list[float] = []
    proofs = 0
    for machine in options.machines.split(","):
        arch = find_architecture(machine)
        for network in options.networks.split(","):
            for name, problem, _ in layers(network, options.batch):
                spent, proven = one(arch, problem, request, f"{machine:14} {network + ':' + name:32}")
                seconds.append(spent)
                proofs += proven
    print(f"{len(seconds)} layers, {proofs} proven, median {median(seconds):.2f} s CPU, most {max(seconds):.2f} s")


def one(arch: Architecture, problem: Problem, request: Request, title: str) -> tuple[float, bool]:
    """Solve and print one layer."""
    start = process_time()
    try:
        mapped = solve(arch, problem, request)
    except TilewrightError as error:
        print(f"{title} {error}")
        return process_time() - start, False
    spent = process_time() - start
    value = {"edp": mapped.edp, "energy": mapped.energy, "latency": float(mapped.cycles)}[request.objective]
    gap = value / mapped.lower_bound - 1
    proof = "proven" if mapped.proven else f"gap {100 * gap:.2f} %"
    print(f"{title} {spent:7.2f} s  {proof:14} {request.objective} {value:.6g}", flush=True)
    return spent, mapped.proven


def warm_up() -> None:
    """Load compiled code."""
    arch = find_architecture("conventional")
    _, problem, _ = next(iter(layers("mmc")))
    solve(arch, problem, Request(time_limit_s=0.0))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--machines", default=MACHINES, help="names, by commas")
    parser.add_argument("--networks", default=NETWORKS, help="networks and kernels, by commas")
    parser.add_argument("--factors", choices=("perfect", "imperfect"), default="perfect")
    parser.add_argument("--objective", choices=("edp", "energy", "latency"), default="edp")
    parser.add_argument("--keep-all", action="store_true", help="no bypass")
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--time-limit", type=float, default=5.0, help="CPU seconds per layer")
    return parser.parse_args()


if __name__ == "__main__":
    main()

"""How far our schedules stand above the bound of all schedules (exact model, edge16): each gap, and the mean."""

from __future__ import annotations

import argparse
from itertools import product

from measure import Report, cpu_seconds

from tilewright.costs.dram.bound import lower_bound
from tilewright.costs.dram.platform import model_of
from tilewright.frontends.acg import load_target
from tilewright.search.dram import schedule
from tilewright.zoo.schedule_networks import schedule_network

NETWORKS = ("resnet50", "resnet101", "inception_resnet_v1", "randwire_small", "gpt2_small_prefill", "gpt2_small_decode")
BATCHES = 1, 4
MEAN_GAP = 0.05


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    model, report = model_of(load_target("edge16")), Report()
    gaps: list[float] = []
    for batch, name in product(BATCHES, NETWORKS):
        network = schedule_network(name)
        bound = lower_bound(network, model, batch)
        seconds, found = cpu_seconds(lambda network=network, batch=batch: schedule(network, model, batch))
        gaps.append(found.timetable.latency_cycles / bound.latency_cycles - 1)
        print(f"{name} x{batch}: {gaps[-1]:.2%} in {seconds:.1f} s; {bound.binding}", flush=True)
    report.add("mean gap", sum(gaps) / len(gaps), MEAN_GAP)
    report.finish()


if __name__ == "__main__":
    main()

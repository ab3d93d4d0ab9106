"""Schedules of DRAM executed: cycles in the simulator against those of the model that found them, and DRAM traffic.

    python bench/dram_lowering.py [--rounds 1500] [--targets edge16,cloud128] [NETWORK[:BATCH] ...]

`simulated/model` compares with the exact model's latency (asked: within 1 %, the rest explained), `simulated/predicted`
with the same schedule when tiles take what the machine's instructions do.  Weights are made; every result that reaches
DRAM is compared with NumPy's layers.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

from tilewright.driver import RunOptions
from tilewright.driver.scheduled_runs import ScheduledOptions, run_scheduled
from tilewright.frontends.input_shapes import InputShapes
from tilewright.search.dram import Effort

NETWORKS = "resnet50:1", "gpt2_small_prefill:1", "gpt2_small_decode:1", "randwire_small:1", "resnet50:4"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("networks", nargs="*", default=NETWORKS)
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--targets", default="edge16,cloud128")
    arguments = parser.parse_args()
    head = (
        "machine",
        "network",
        "simulated",
        "sim/predicted",
        "sim/model",
        "tiles/model",
        "DRAM equal",
        "bytes equal",
        "s",
    )
    print("{:9} {:22} {:>12} {:>13} {:>9} {:>11} {:>10} {:>11} {:>6}".format(*head))
    for target in arguments.targets.split(","):
        for entry in arguments.networks:
            name, _, batch = entry.partition(":")
            options = ScheduledOptions(shapes=InputShapes(int(batch or 1)), effort=Effort(rounds=arguments.rounds))
            begin = time.process_time()
            with tempfile.TemporaryDirectory() as folder:
                run_options = RunOptions(trace=False)
                done = run_scheduled(name, target, folder=Path(folder), options=options, run_options=run_options)
            found, said = done.simulation, done.predicted
            equal = done.comparison is not None and done.comparison.equal
            print(
                f"{target:9} {entry:22} {found.cycles:12,} {found.cycles / said['cycles']:9.5f} "
                f"{found.cycles / said['model_cycles']:9.4f} {said['tile_cycles'] / said['model_tile_cycles']:11.4f} "
                f"{found.dram_bytes == said['dram_bytes']!s:>10} {equal!s:>11} {time.process_time() - begin:6.1f}",
                flush=True,
            )


if __name__ == "__main__":
    main()

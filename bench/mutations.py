"""Files that were damaged at random are accepted or refused in words, each below 4 GB and 30 s, and none goes wrong.

One row per kind (`--kind`, by default all): how many files of `--count` were accepted (`ok`), refused with one error,
had other outputs than expected (`differs`, where the command compares), and the faults: an unexpected exception, CPU
time or memory above the limits, the end by a signal, an accepted file with another meaning than onnxruntime gives it
or than before a pass (`wrong`), an error without a subject (`unclear`).  The exit code is 1 where there is a fault.
`--first N --count 1 --keep DIR` makes one case again and keeps its files.

Run so far: numbers 0 to 4999 of seed 0 of every kind (0 to 999 of `tflite`), 5,000 more of `onnx-bytes` and
`onnx-structure`, and of seed 31 numbers 0 to 2999 of every kind (500 of `onnx-structure`).  The last found two faults
in 45,500 files, both mended, with tests: a value that its own kernel reads, and a tensor whose name is empty in a
folder's table.
"""

from __future__ import annotations

import argparse
import logging
import multiprocessing
import sys
import tempfile
import time
import warnings
from collections import Counter
from contextlib import chdir
from pathlib import Path
from random import Random

from mutation_kinds import KINDS
from mutation_run import FAULTS, Case, Outcome, run_batch, run_case

BATCH = 25
WARMING = 3
SHOWN = 60
VERDICTS = ("ok", "refused", "differs", *FAULTS)


def outcomes_of(kind: str, seed: int, indices: list[int], keep: Path | None) -> list[Outcome]:
    """What came of the cases of these numbers; the same seed, kind and number make the same files."""

    def make(index: int, folder: Path) -> Case:
        return KINDS[kind](Random(f"{kind} {seed} {index}"), folder)

    return run_batch(make, indices, keep)


def warm(kind: str) -> None:
    """Make what the files of a kind begin as, and import what reads them, before processes are forked."""
    with tempfile.TemporaryDirectory() as folder, chdir(folder):
        for number in range(WARMING):
            case = KINDS[kind](Random(number), Path(folder))
            run_case(lambda *_, case=case: case, number, Path(folder))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", action="append", choices=KINDS, help="may be repeated (default: all)")
    parser.add_argument("--count", type=int, default=200, help="files of each kind (default: 200)")
    parser.add_argument("--first", type=int, default=0, help="number of the first (default: 0)")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--keep", type=Path, metavar="DIR", help="keep the files of all cases")
    parser.add_argument("--all", action="store_true", help="tell of every case, not only of faults")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    logging.disable(logging.WARNING)
    kinds: list[str] = arguments.kind or list(KINDS)
    indices = list(range(arguments.first, arguments.first + arguments.count))
    print(f"{'kind':15}" + "".join(f"{verdict:>10}" for verdict in VERDICTS) + f"{'s':>8}", flush=True)
    faulty = False
    for kind in kinds:
        start = time.perf_counter()
        warm(kind)
        batches = [indices[at : at + BATCH] for at in range(0, len(indices), BATCH)]
        jobs = [(kind, arguments.seed, batch, arguments.keep) for batch in batches]
        if arguments.jobs == 1:
            outcomes = [outcome for job in jobs for outcome in outcomes_of(*job)]
        else:
            with multiprocessing.get_context("fork").Pool(arguments.jobs) as pool:
                outcomes = [outcome for found in pool.starmap(outcomes_of, jobs, chunksize=1) for outcome in found]
        counts = Counter(outcome.verdict for outcome in outcomes)
        row = "".join(f"{counts[verdict]:10}" for verdict in VERDICTS)
        print(f"{kind:15}{row}{time.perf_counter() - start:8.0f}", flush=True)
        told = [outcome for outcome in outcomes if outcome.verdict in FAULTS or arguments.all]
        for outcome in told[:SHOWN]:
            print(f"{kind} {outcome.index}: {outcome.verdict}: {outcome.text}", flush=True)
        faulty |= bool(told)
    sys.exit(1 if faulty else 0)


if __name__ == "__main__":
    main()

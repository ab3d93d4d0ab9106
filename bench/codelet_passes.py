"""What each pass on codelets saves: cycles in simulation with it and without it, results equal to NumPy's.

Serial is one copy of every tile and everything in turn, doubled has two copies (`codelet-pipeline`).  Its loads one
iteration ahead save cycles where instructions stay as written; `convert-codelet-to-mnemonic` puts them in an order that
needs no such help, so that elsewhere they change nothing.  `codelet-parallelize` shares computes between unequal nodes,
`codelet-unroll` fills links where tiles are small.  The exit code tells whether a pass made something slower.

    python bench/codelet_passes.py
"""

from __future__ import annotations

import argparse

import numpy as np
from measure import Report

from tilewright import simulate
from tilewright.arrays import make_inputs
from tilewright.backends.link import link
from tilewright.driver import load_model, make_context, parse_passes, reference

FRONT = "graph-normalize,graph-fuse,convert-graph-to-nest,{tile},nest-map,convert-nest-to-codelet"
BACK = "codelet-allocate,codelet-verify,convert-codelet-to-mnemonic"
AS_WRITTEN = f"{BACK}{{schedule=false}}"
SERIAL, DOUBLED, AHEAD = "codelet-pipeline{buffers=1}", "codelet-pipeline{ahead=false}", "codelet-pipeline"

PIPELINED = (
    ("covenant:resnet50_conv2", "edge16"),
    ("covenant:bert_gemm1", "edge16"),
    ("covenant:bert_atn1", "edge16"),
    ("covenant:bert_atn2", "edge16"),
    ("covenant:mobilenetv3_conv1", "edge16"),
    ("covenant_cut:resnet50_conv2", "edge16"),
    ("covenant_cut:bert_gemm1", "tiny"),
    ("covenant_cut:bert_gemm1", "diannao"),
    ("O[i] = relu(A[i]); i=20000", "uneven"),
)
QUEUED = ("O[i] = relu(A[i]); i=500", "uneven", "nest-tile{dims=i sizes=50 memory=MEM buffers=2}")
"""Loads and stores share a queue: a load that is issued early does not wait behind the store before it."""

SHARED = ("covenant_cut:bert_gemm1", "O[m,n] += A[m,k] * B[k,n]; m=60 n=60 k=60", "O[i] = relu(A[i]); i=20000")
SMALL = (
    ("O[i] = relu(A[i]); i=900", "tiny", "nest-tile{dims=i sizes=2 memory=SPAD}"),
    ("O[i] = relu(A[i]); i=900", "uneven", "nest-tile{dims=i sizes=5 memory=MEM}"),
    ("O[i] = relu(A[i]); i=900", "edge16", "nest-tile{dims=i sizes=2 memory=GBUF}"),
    ("O[m,n] += A[m,k] * B[k,n]; m=22 n=30 k=40", "uneven", "nest-tile{dims=m,n sizes=3,7 memory=MEM}"),
)


def cycles(kernel: str, target: str, passes: str, tile: str = "nest-tile", back: str = BACK) -> int:
    """Cycles of a kernel on a target with these passes between conversion and allocation."""
    module, before = load_model(kernel), load_model(kernel)
    stages = (f'load-target{{target="{target}"}}', FRONT.format(tile=tile), passes, back)
    parse_passes(",".join(filter(None, stages))).apply(make_context(), module)
    program = link(module, 0)
    inputs = make_inputs({t.name: (t.shape, np.dtype(t.dtype)) for t in program.tensors if t.role == "input"})
    result, expected = simulate(program, inputs), reference(before, inputs)
    if not all(np.allclose(result.outputs[name], values, rtol=1e-3, atol=1e-3) for name, values in expected.items()):
        raise SystemExit(f"{kernel} on {target}: the result differs from NumPy's")
    return result.cycles


def main() -> None:
    """Print every pair."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    report = Report()
    for kernel, target in PIPELINED:
        serial, doubled = (cycles(kernel, target, passes) for passes in (SERIAL, AHEAD))
        report.add(f"double buffering  {kernel[:26]} {target}", doubled, serial, "cycles")
    doubled, ahead = (cycles(*QUEUED[:2], passes, QUEUED[2], AS_WRITTEN) for passes in (DOUBLED, AHEAD))
    report.add(f"loads ahead       {QUEUED[0]} {QUEUED[1]}", ahead, doubled, "cycles")
    for kernel in SHARED:
        alone, together = (cycles(kernel, "uneven", passes) for passes in (AHEAD, f"codelet-parallelize,{AHEAD}"))
        report.add(f"two unequal nodes {kernel[:26]} uneven", together, alone, "cycles")
    for kernel, target, tile in SMALL:
        narrow, wide = (cycles(kernel, target, passes, tile) for passes in ("", "codelet-unroll"))
        report.add(f"full links        {kernel[:26]} {target}", wide, narrow, "cycles")
    report.finish()


if __name__ == "__main__":
    main()

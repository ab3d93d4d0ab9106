"""A decoder of GPT-2's or LLaMA's kind generates tokens in the simulator: the prompt, then one token after another.

    python bench/generate.py [--blocks 12] [--types f32,f16,int8,int4] [--prompt 64] [--tokens 32] [--no-run]
    python bench/generate.py --family llama [--shared 4] [--hidden 2048]

makes the model in ONNX with seeded weights (width 768, heads of 64, 50,257 words; `decoder_models.py`).  Two programs
are compiled, of the prompt and of one token.  Tokens and scores are compared with onnxruntime's at each step.
A row has tokens per second, bytes per token, the same at the bound of all programs, and what binds; the exit code is 1
where a token differs.  With `--no-run` the programs are compiled only, and the figures are those predicted.
"""

from __future__ import annotations

import argparse
import sys
import time
from typing import Any

import numpy as np
import onnxruntime
from decoder_models import GPT2, LLAMA, WIDTH, WORDS, Sizes, model_of
from numpy.typing import NDArray
from onnx import ModelProto

from tilewright.backends.program import Program
from tilewright.backends.simulator import simulate
from tilewright.driver import compile
from tilewright.frontends.acg import load_target

Array = NDArray[Any]


class Runner:
    """A model as a program and in onnxruntime."""

    def __init__(self, model: ModelProto, target: str) -> None:
        start = time.process_time()
        self.program: Program = compile(model, target)
        self.seconds = time.process_time() - start
        options = onnxruntime.SessionOptions()
        # its own way with 8-bit weights rounds activations, too
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
        options.log_severity_level, options.intra_op_num_threads = 3, 1
        self.session = onnxruntime.InferenceSession(model.SerializeToString(), options)
        self.names = [output.name for output in model.graph.output]


def generate(sizes: Sizes, prompt: Array, tokens: int, runners: tuple[Runner, Runner]) -> tuple[bool, float]:
    """Whether all tokens are those of onnxruntime, which has caches of its own; and the worst error of a score."""
    empty = {f"h{i}.{part}.cache": np.zeros(sizes.cache, np.float32) for i in range(sizes.blocks) for part in "kv"}
    caches = ({k: v.copy() for k, v in empty.items()}, empty)
    ids, place, worst, same = prompt, 0, 0.0, True
    for step in range(tokens):
        runner = runners[min(step, 1)]
        given = {"ids": ids, "start": np.array([place])}
        results = (
            simulate(runner.program, given | caches[0], timing=False).outputs,
            dict(zip(runner.names, runner.session.run(None, given | caches[1]), strict=True)),
        )
        for cache, result in zip(caches, results, strict=True):
            for name in cache:
                cache[name][:, place : place + len(ids)] = np.asarray(result[name.removesuffix(".cache")])
        found, expected = (np.asarray(result["logits"])[0] for result in results)
        worst = max(worst, float(np.abs(found - expected).max() / np.abs(expected).max()))
        same = same and int(found.argmax()) == int(expected.argmax())
        place += len(ids)
        ids = np.array([expected.argmax()])
    return same, worst


def row(sizes: Sizes, prompt: int, tokens: int, target: str, simulated: bool) -> bool:
    """Prints the figures of one type of weights, and gives whether all tokens are right."""
    frequency = load_target(target).frequency_hz
    runners = Runner(model_of(sizes, prompt), target), Runner(model_of(sizes, 1), target)
    same, verdict = True, "not run"
    if simulated:
        words = np.random.default_rng(0).integers(0, sizes.words, prompt)
        same, worst = generate(sizes, words, tokens, runners)
        verdict = f"{'same' if same else 'OTHER'} {tokens} tokens, scores within {worst:.1g}"
    for name, runner, count in (("prompt", runners[0], prompt), ("token", runners[1], 1)):
        program = runner.program
        figures = [
            f"{sizes.blocks} | {sizes.kind} | {name} | {runner.seconds:.0f} | {program.predicted['cycles']:,.0f}"
        ]
        for table in (program.predicted, program.lower_bound):
            figures.append(f"{count * frequency / table['cycles']:,.1f} | {table['dram_bytes'] / count:,.0f}")
        print(f"| {' | '.join(figures)} | {program.bound_by} | {verdict} |", flush=True)
    return same


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--blocks", type=int, default=2)
    parser.add_argument("--types", default="f32,f16,int8", help="of weights: f32, f16, int8, int4")
    parser.add_argument("--family", default=GPT2, choices=(GPT2, LLAMA))
    parser.add_argument("--heads", type=int, default=0, help="heads of queries (width / 64)")
    parser.add_argument("--shared", type=int, default=4, help="heads of keys and values, of llama")
    parser.add_argument("--hidden", type=int, default=0, help="width of the feed-forward part (4 times the other)")
    parser.add_argument("--prompt", type=int, default=64)
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--width", type=int, default=WIDTH)
    parser.add_argument("--words", type=int, default=WORDS)
    parser.add_argument("--target", default="edge16")
    parser.add_argument("--no-run", action="store_true", help="compile only")
    arguments = parser.parse_args()
    print(
        "| blocks | weights | of | CPU s | cycles | tokens/s | bytes/token | tokens/s at bound | bytes | bound by | |"
    )
    good = True
    for kind in arguments.types.split(","):
        places = arguments.prompt + arguments.tokens
        width, heads = arguments.width, arguments.heads or arguments.width // 64
        parts = arguments.family, arguments.shared, arguments.hidden or 4 * width
        sizes = Sizes(arguments.blocks, places, kind, width, heads, arguments.words, *parts)
        good = row(sizes, arguments.prompt, arguments.tokens, arguments.target, not arguments.no_run) and good
    return int(not good)


if __name__ == "__main__":
    sys.exit(main())

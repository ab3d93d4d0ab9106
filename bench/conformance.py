"""All tests of the installed onnx wheel, compiled and simulated: what passes, what is refused and why.

`python bench/conformance.py` prints a line for each operator: tests that pass, are refused, and are wrong (which none
may be); reasons with `--reasons`.  Names on the command line choose tests by a part of their name.  `--interpret` stops
at the graph, which NumPy interprets: a minute for all.  `--docs` writes the operators that stay out, and why, into
docs/onnx.md; `--record FILE` writes the outcome of each test; `--update` writes for the test suite what does not pass,
and a sample.
"""

from __future__ import annotations

import argparse
import json
import signal
import sys
import time
import warnings
from collections import Counter, defaultdict
from collections.abc import Container, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from functools import cache, partial
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, numpy_helper
from onnx.backend.test.case.test_case import TestCase as Case
from onnx.backend.test.loader import load_model_tests
from onnx.backend.test.runner import Runner

from tilewright import CompileOptions
from tilewright.backends import onnx_backend
from tilewright.errors import TilewrightError
from tilewright.frontends.onnx import import_onnx, operator_names
from tilewright.interpreters.graph import run_graph

Array = NDArray[Any]

PASS, REFUSED, WRONG = "pass", "refused", "wrong"

SUITES = ("node", "simple", "pytorch-converted", "pytorch-operator")

ROOT = Path(__file__).parents[1]
EXPECTED = ROOT / "test/conformance/not_passing.json"
SAMPLE = ROOT / "test/conformance/sample.json"
DOCUMENT = ROOT / "docs/onnx.md"
HEADING = "## Operators that stay out"

ROUNDING: dict[str, str] = {
    **dict.fromkeys(
        ("test_attention_4d_causal_fp16", "test_attention_4d_causal_fp16_expanded"),
        "two of 192 numbers are a step of f16 away: expected ones were rounded after each step of the softmax",
    ),
    **dict.fromkeys(
        ("test_dft_inverse", "test_dft_inverse_opset19"),
        "expected imaginary parts are noise of 1e-7 where the result is real",
    ),
}
"""Tests whose expected numbers carry the rounding of another way to compute them, beyond the tolerance."""

WHY: dict[str, str] = {
    **dict.fromkeys(
        ("Bernoulli", "Multinomial", "RandomNormal", "RandomNormalLike", "RandomUniform", "RandomUniformLike"),
        "random numbers: no machine makes them",
    ),
    **dict.fromkeys(("NonZero", "Unique"), "the number of results depends on data (computed where that is constant)"),
    "NonMaxSuppression": "the number of results depends on data",
    **dict.fromkeys(
        ("RegexFullMatch", "StringConcat", "StringNormalizer", "StringSplit", "TfIdfVectorizer"),
        "text: tensors hold numbers",
    ),
    **dict.fromkeys(
        ("Optional", "OptionalGetElement", "OptionalHasElement"), "values that may be missing: tensors are there"
    ),
    "ImageDecoder": "files of images: give the decoded map as an input",
    **dict.fromkeys(
        ("DeformConv", "MaxRoiPool", "RoiAlign"), "elements are read at places that are known at run time only"
    ),
    "MaxUnpool": "elements are written to places that are known at run time only",
    "Det": "elimination with a choice of pivots",
    "MelWeightMatrix": "computed where its inputs are constant",
}
"""Why an operator stays out."""

LARGE = ("Attention", "LinearAttention", "GridSample", "FlexAttention")
"""Operators of which the smallest test takes seconds; the networks of the test suite have products and softmax, too."""

LIMIT_S = 120
"""A test that takes longer counts as wrong."""


@dataclass(frozen=True)
class Outcome:
    """What became of a test: `pass`, `refused` or `wrong`, with the reason."""

    name: str
    operator: str
    kind: str
    reason: str = ""
    seconds: float = 0.0


@cache
def cases() -> Mapping[str, Case]:
    """The tests of all suites by name."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = [case for suite in SUITES for case in sorted(load_model_tests(kind=suite), key=lambda c: c.name)]
        return {case.name: case for case in found}


def model_of(case: Case) -> ModelProto:
    """The model of a test."""
    return case.model or onnx.load(Path(str(case.model_dir)) / "model.onnx")


def data_sets(case: Case) -> Iterator[tuple[list[Any], list[Any]]]:
    """Inputs and expected outputs of a test, set by set."""
    if case.data_sets is not None:
        for inputs, outputs in case.data_sets:
            yield [_value(v) for v in inputs], [_value(v) for v in outputs]
        return
    for folder in sorted(Path(str(case.model_dir)).glob("test_data_set_*")):
        yield _files(folder, "input"), _files(folder, "output")


def _value(value: Any) -> Any:
    return numpy_helper.to_array(value) if isinstance(value, TensorProto) else value


def _files(folder: Path, kind: str) -> list[Any]:
    paths = [folder / f"{kind}_{i}.pb" for i in range(len(list(folder.glob(f"{kind}_*.pb"))))]
    return [numpy_helper.to_array(onnx.load_tensor(path)) for path in paths]


def operator_of(case: Case) -> str:
    """The operator that a test is about: of its model's one node, else by its name."""
    model = model_of(case)
    nodes = model.graph.node
    if len(nodes) == 1:
        return nodes[0].op_type
    wanted = case.name.removeprefix("test_").replace("_", "")
    fits = [n for n in schema_names() if wanted.startswith(n.lower())]
    special = {
        "sce": "SoftmaxCrossEntropyLoss",
        "nllloss": "NegativeLogLikelihoodLoss",
        "mvn": "MeanVarianceNormalization",
    }
    found = next((name for start, name in special.items() if wanted.startswith(start)), None)
    return found or (max(fits, key=len) if fits else nodes[-1].op_type)


@cache
def schema_names() -> frozenset[str]:
    """The operators of all versions and domains."""
    return frozenset(schema.name for schema in onnx.defs.get_all_schemas())


def sample(not_passing: Container[str]) -> list[str]:
    """The smallest test of each operator that passes, but for `LARGE` ones, and the smallest that does not."""
    chosen: dict[tuple[str, bool], tuple[int, str]] = {}
    for name, case in cases().items():
        operator, passes = operator_of(case), name not in not_passing
        if not passes or operator not in LARGE:
            found = elements(model_of(case)), name
            chosen[operator, passes] = min(found, chosen.get((operator, passes), found))
    return sorted(name for _, name in chosen.values())


def elements(model: ModelProto) -> int:
    """How many numbers go into a model and come out, as far as it says."""
    tensors = (value.type.tensor_type for value in (*model.graph.input, *model.graph.output))
    return sum(prod(dim.dim_value for dim in tensor.shape.dim) for tensor in tensors)


def doubles_of(inputs: Sequence[Any]) -> str:
    """`f32` where float64 may be computed so: where no input is beyond float32's range."""
    doubles = [array for array in inputs if isinstance(array, np.ndarray) and array.dtype == np.float64]
    most = float(np.finfo(np.float32).max)
    return "" if any(np.any(np.abs(array[np.isfinite(array)]) > most) for array in doubles) else "f32"


def interpreted(model: ModelProto, inputs: Sequence[Any]) -> list[Array]:
    """The outputs of a model by the meaning of its graph."""
    named = onnx_backend.named_inputs(model, inputs)
    constants = onnx_backend.constants_among(model, named)
    module = import_onnx(model, constants=constants, doubles=doubles_of(inputs))
    results = run_graph(module, {name: array for name, array in named.items() if name not in constants})
    truths = {o.name for o in model.graph.output if o.type.tensor_type.elem_type == TensorProto.BOOL}
    return [results[o.name].astype(bool) if o.name in truths else results[o.name] for o in model.graph.output]


def run_case(name: str, interpret: bool = False, options: CompileOptions | None = None) -> Outcome:
    """Compile a test's model, simulate (or interpret) it for each of its data sets, and compare."""
    case = cases()[name]
    operator, start = operator_of(case), time.perf_counter()
    kind, reason = PASS, ""
    signal.signal(signal.SIGALRM, _stop)
    signal.alarm(LIMIT_S)
    try:
        for inputs, expected in data_sets(case):
            model = model_of(case)
            if interpret:
                outputs = interpreted(model, inputs)
            else:
                outputs = onnx_backend.run_model(model, inputs, doubles=doubles_of(inputs), options=options)
            Runner.assert_similar_outputs(expected, list(outputs), rtol=case.rtol, atol=case.atol)
    except TilewrightError as error:
        kind, reason = REFUSED, f"{error.kind}: {error.subject}: expected {error.expected}, found {error.found}"
    except Exception as error:  # a test that fails in any other way is counted, and named
        kind, reason = (REFUSED, ROUNDING[name]) if name in ROUNDING else (WRONG, f"{type(error).__name__}: {error}")
    signal.alarm(0)
    return Outcome(name, operator, kind, " ".join(reason.split())[:300], time.perf_counter() - start)


def _stop(number: int, frame: object) -> None:
    raise TimeoutError(f"more than {LIMIT_S} s")


def run_cases(names: Sequence[str], jobs: int, interpret: bool = False) -> list[Outcome]:
    """The outcomes of tests, in order, with progress where a person watches."""
    outcomes: list[Outcome] = []
    with ProcessPoolExecutor(jobs) as pool:
        for done, outcome in enumerate(pool.map(partial(run_case, interpret=interpret), names, chunksize=4), 1):
            outcomes.append(outcome)
            if sys.stderr.isatty():
                print(f"\r{done}/{len(names)}", end="", file=sys.stderr, flush=True)
    return outcomes


def table(outcomes: Sequence[Outcome], reasons: bool) -> Iterator[str]:
    """Lines: totals, then an operator a line, with the reasons of what does not pass."""
    total = Counter(o.kind for o in outcomes)
    yield f"{total[PASS]} pass, {total[REFUSED]} refused, {total[WRONG]} wrong, of {len(outcomes)}"
    by_operator: dict[str, list[Outcome]] = defaultdict(list)
    for outcome in outcomes:
        by_operator[outcome.operator].append(outcome)
    for operator, found in sorted(by_operator.items()):
        count = Counter(o.kind for o in found)
        yield f"{operator:28} {count[PASS]:4} pass {count[REFUSED]:4} refused {count[WRONG]:4} wrong"
        for outcome in found if reasons else ():
            if outcome.kind != PASS:
                yield f"    {outcome.kind} {outcome.name}: {outcome.reason}"


def write_document() -> None:
    """The operators of ONNX's schemas that stay out, as a section of docs/onnx.md."""
    schemas = {schema.name for schema in onnx.defs.get_all_schemas() if schema.domain == ""}
    by_reason: dict[str, list[str]] = defaultdict(list)
    for name in sorted(schemas.difference(operator_names())):
        by_reason[WHY.get(name, "not looked at yet")].append(f"`{name}`")
    lines = [HEADING, "", "| operators | why |", "|---|---|"]
    lines += [f"| {' '.join(names)} | {reason} |" for reason, names in by_reason.items()]
    before, _, after = DOCUMENT.read_text().partition(f"{HEADING}\n")
    rest = after[after.index("\n## ") :] if "\n## " in after else ""
    DOCUMENT.write_text(before + "\n".join(lines) + "\n" + rest)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("parts", nargs="*", help="parts of names of tests; all tests without one")
    parser.add_argument("--jobs", type=int, default=1, help="processes (1)")
    parser.add_argument("--interpret", action="store_true", help="only import, and interpret the graph")
    parser.add_argument("--reasons", action="store_true", help="print why tests do not pass")
    parser.add_argument("--record", type=Path, help="write the outcomes to this file, as JSON")
    parser.add_argument("--update", action="store_true", help="write what does not pass, and a sample, for tests")
    parser.add_argument("--docs", action="store_true", help="only write the operators that stay out into docs/onnx.md")
    arguments = parser.parse_args()
    if arguments.docs:
        write_document()
        return 0
    names = [n for n in cases() if not arguments.parts or any(part in n for part in arguments.parts)]
    outcomes = run_cases(names, arguments.jobs, arguments.interpret)
    for line in table(outcomes, arguments.reasons):
        print(line)
    if arguments.record:
        arguments.record.write_text(json.dumps([asdict(o) for o in outcomes], indent=1) + "\n")
    if arguments.update:
        update(outcomes)
    return int(any(o.kind == WRONG for o in outcomes))


def update(outcomes: Sequence[Outcome]) -> None:
    """Write the tests that do not pass, with their reasons, and the sample that the test suite runs."""
    reasons = {o.name: o.reason[:160] for o in sorted(outcomes, key=lambda o: o.name) if o.kind == REFUSED}
    EXPECTED.write_text(json.dumps(reasons, indent=1) + "\n")
    SAMPLE.write_text(json.dumps(sample(reasons), indent=1) + "\n")


if __name__ == "__main__":
    sys.exit(main())

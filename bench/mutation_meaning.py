"""Whether an accepted file means what it should: against onnxruntime, and before and after passes."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, helper

from tilewright.arrays import compare, make_inputs, read_arrays
from tilewright.dialects.codelet import ProgramOp
from tilewright.dialects.types import dtype_of, element_of, shape_of
from tilewright.driver import make_context, parse_mlir, parse_passes
from tilewright.errors import TilewrightError
from tilewright.interpreters.codelet import run_program
from tilewright.interpreters.graph import argument_names, find_function, run_graph
from tilewright.interpreters.nest import NestFunctions
from tilewright.resources import resources_of

Array = NDArray[Any]
TOLERANCE = 1e-2
TEXT_MAX = 300


def onnxruntime_differs(path: Path, outputs: Path) -> str:
    """How outputs differ from those of onnxruntime on the same made inputs; "" where they agree or it refuses."""
    return _in_a_process(lambda: _onnxruntime_differs(path, read_arrays(outputs)))


def _in_a_process(work: Callable[[], str]) -> str:
    """The answer of `work`, or "" where its process is ended: the reference's fault is none of ours."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.write(write, work().encode()[:TEXT_MAX])
        finally:
            os._exit(0)
    os.close(write)
    with open(read, "rb") as stream:
        text = stream.read().decode(errors="replace")
    os.waitpid(child, 0)
    return text


def _onnxruntime_differs(path: Path, found: Mapping[str, Array]) -> str:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 4
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    try:
        session = onnxruntime.InferenceSession(path.read_bytes(), options, providers=["CPUExecutionProvider"])
        arrays = [np.asarray(array) for array in session.run(None, _inputs(path))]
    except Exception:  # the reference refuses
        return ""
    expected = zip([output.name for output in session.get_outputs()], arrays, strict=True)
    return difference(found, {name: array for name, array in expected if np.isfinite(array).all()})


def _inputs(path: Path) -> dict[str, Array]:
    """What `tilewright run` makes for the inputs of a model: truths are bytes to it, of which all but 0 are true."""
    graph = ModelProto.FromString(path.read_bytes()).graph
    given = {weight.name for weight in graph.initializer}
    signature: dict[str, tuple[tuple[int, ...], np.dtype[Any]]] = {}
    for value in graph.input:
        if value.name not in given:
            kind = value.type.tensor_type
            shape = tuple(max(1, dim.dim_value) for dim in kind.shape.dim)  # open, and taken as a batch of 1
            signature[value.name] = shape, np.dtype(helper.tensor_dtype_to_np_dtype(kind.elem_type))
    truths = {name for name, (_, dtype) in signature.items() if dtype == np.bool_}
    made = make_inputs(
        {name: (kind[0], np.dtype(np.uint8) if name in truths else kind[1]) for name, kind in signature.items()}
    )
    return {name: array != 0 if name in truths else array for name, array in made.items()}


def difference(found: Mapping[str, Array], expected: Mapping[str, Array]) -> str:
    """What differs by more than `TOLERANCE` of the largest value, or ""."""
    for name, array in expected.items():
        if array.size and np.abs(array.astype(np.float64)).max() > 1e30:
            continue
        try:
            result = compare(found, {name: array}, TOLERANCE)
        except TilewrightError as error:
            return str(error)
        if not result.agrees and np.isfinite(np.asarray(found[name], np.float64)).all():
            return f"{name}: {result.worst}"
    return ""


def lowered_differs(path: Path, passes: Sequence[str], machine: str) -> str:
    """How the interpreted results of a `.mlir` file differ after `passes`; "" where not, or without an interpreter."""
    module = parse_mlir(path)
    context = make_context()
    parse_passes(machine).apply(context, module)
    before = _interpreted(module)
    if before is None:
        return ""
    parse_passes(",".join(passes)).apply(context, module)
    after = _interpreted(module)
    return "" if after is None else difference(after, before)


def _interpreted(module: Any) -> dict[str, Array] | None:
    """The results on made inputs, by number; None for levels without an interpreter, and where it refuses."""
    program = next((op for op in module.body.block.ops if isinstance(op, ProgramOp)), None)
    try:
        if program is not None:
            values = program.body.block.args
            signature = {str(i): (shape_of(v), dtype_of(element_of(v))) for i, v in enumerate(values)}
            results = run_program(program, tuple(make_inputs(signature).values()), resources_of(module))
        else:
            entry = find_function(module)
            names = argument_names(entry)
            values = zip(names, entry.body.block.args, strict=True)
            signature = {name: (shape_of(v), dtype_of(element_of(v))) for name, v in values}
            results = run_graph(module, make_inputs(signature), functions=(NestFunctions(),)).values()
    except Exception:
        return None
    return {str(number): np.asarray(array) for number, array in enumerate(results)}

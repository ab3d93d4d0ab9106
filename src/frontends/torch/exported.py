"""From a program of `torch.export` to a module in the graph dialect, through torch's exporter to ONNX."""

import logging
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from onnx import ModelProto, ValueInfoProto, helper
from xdsl.dialects.builtin import ModuleOp

from ...errors import TilewrightError
from ...extras import extra
from ..input_shapes import InputShapes
from ..onnx import import_onnx

SUBJECT = "the exported program"


@runtime_checkable
class ExportedProgram(Protocol):
    """What `torch.export.export` gives; torch need not be installed to name it."""

    graph_module: Any
    graph_signature: Any
    range_constraints: Any


def import_exported(program: ExportedProgram, shapes: InputShapes | None = None) -> ModuleOp:
    """The function `@main` in the graph dialect that computes what a `torch.export.ExportedProgram` computes.

    Its weights are read where torch has them.  A dynamic dim is called after the first input and axis that has it,
    `x.0`, and `shapes` gives its extent.  Raises `TilewrightError`: `usage` where the package `onnxscript` is missing,
    `unsupported` for what torch does not export to ONNX, and what `import_onnx` raises.
    """
    exporter = extra("torch.onnx", "torch", SUBJECT)
    extra("onnxscript", "torch", SUBJECT)
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            made = exporter.export(program, dynamo=True, verbose=False)
            constants = _taken_out(made.model)
            model = made.model_proto
    except (exporter.OnnxExporterError, RuntimeError, TypeError, ValueError) as error:
        first = str(error).strip().splitlines() or [type(error).__name__]
        lever = "leave this part out of the model, or see torch.onnx.export(program, dynamo=True, report=True)"
        raise TilewrightError("unsupported", SUBJECT, "what torch exports to ONNX", first[0][:300], lever) from error
    finally:
        logger.setLevel(level)
    _rename_dims(model)
    model.graph.input.extend(helper.make_empty_tensor_value_info(name) for name in constants)
    return import_onnx(model, constants=constants, shapes=shapes)


def _taken_out(model: Any) -> Mapping[str, Any]:
    """The weights of a model of `onnx_ir` as arrays by their names, which it has no more."""
    weights = {name: value.const_value.numpy() for name, value in model.graph.initializers.items()}
    model.graph.initializers.clear()
    return weights


def _rename_dims(model: ModelProto) -> None:
    """Call a dynamic dim of one symbol (`s77`) after the first input and axis that has it."""
    names: dict[str, str] = {}
    for value in model.graph.input:
        for axis, dim in enumerate(value.type.tensor_type.shape.dim):
            if dim.dim_param.isidentifier():
                names.setdefault(dim.dim_param, f"{value.name}.{axis}")
    values: list[ValueInfoProto] = [*model.graph.input, *model.graph.output, *model.graph.value_info]
    for value in values:
        for dim in value.type.tensor_type.shape.dim:
            if dim.dim_param in names:
                dim.dim_param = names[dim.dim_param]


def refuse_archive(path: Path) -> None:
    """Raise `TilewrightError` (kind `unsupported`) for a `.pt2` file: its loader would run what it says."""
    expected = "a model whose reading runs nothing of it"
    found = "an archive of torch.export.save, of which torch.export.load unpickles objects and evaluates text"
    lever = "if you trust it, load it in a program of your own and give the result to tilewright.compile"
    lever += ", or export it by torch.onnx.export(program, f='model.onnx', dynamo=True)"
    raise TilewrightError("unsupported", str(path), expected, found, lever)

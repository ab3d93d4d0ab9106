"""Writes `test/data/mlir/linalg_operations.*`: node tests of ONNX as torch-mlir prints them, with inputs and results.

    python print_linalg.py

needs onnx and torch-mlir (20261001 wrote what is there).
"""

import json
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import onnx
from numpy.typing import NDArray
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests

FOLDER = Path(__file__).parents[3] / "data" / "mlir"

TO_LINALG = "torch-onnx-to-torch-backend-pipeline,torch-backend-to-linalg-on-tensors-backend-pipeline"

MAX_BYTES = 30_000
"""Larger arrays are left out."""

NAMES = (
    *("add_bcast", "sub_int8", "div_int32_trunc", "div_int16", "mod_mixed_sign_int8", "max_int64", "min_two_inputs"),
    *("equal_bcast", "less_equal", "where_example", "not_2d", "neg", "floor_example", "round", "sinh_example", "erf"),
    *("elu_default", "selu", "softplus_example", "hardswish", "leakyrelu", "prelu_broadcast", "hardsigmoid_default"),
    *("softmax_axis_2", "logsoftmax_axis_1", "layer_normalization_4d_axis2", "batchnorm_epsilon", "lrn_default"),
    *("reduce_prod_default_axes_keepdims_random", "reduce_max_bool_inputs", "reduce_max_default_axes_keepdims_random"),
    *("averagepool_1d_default", "averagepool_2d_pads", "averagepool_2d_same_upper", "maxpool_2d_pads"),
    *("maxpool_2d_dilations", "basic_conv_with_padding", "conv_with_strides_padding", "conv_with_autopad_same"),
    *("convtranspose", "convtranspose_pads", "convtranspose_1d", "gemm_all_attributes", "matmul_4d", "matmul_bcast"),
    *("einsum_sum", "einsum_transpose", "concat_3d_axis_negative_2"),
    *("gather_1", "gather_2d_indices", "split_1d_uneven_split_opset18", "depthtospace_example"),
    *(
        "reshape_reordered_all_dims",
        "transpose_all_permutations_1",
        "squeeze_negative_axes",
        "flatten_axis2",
        "clip_example",
    ),
    *("maxpool_3d_default", "argmin_default_axis_example", "matmulinteger"),
)


def linalg(model: onnx.ModelProto, folder: Path) -> str | None:
    """The text of a model; None where torch-mlir has no way."""
    tools, start, middle = Path(sys.executable).parent, folder / "model.onnx", folder / "torch.mlir"
    onnx.save(model, start)
    commands = (
        [tools / "torch-mlir-import-onnx", start, "-o", middle],
        [tools / "torch-mlir-opt", middle, f"--pass-pipeline=builtin.module({TO_LINALG})"],
    )
    printed = ""
    for command in commands:
        ran = subprocess.run(command, capture_output=True, text=True, check=False)
        if ran.returncode:
            return None
        printed = ran.stdout
    return printed


def arrays_of(case: Any) -> dict[str, list[NDArray[Any]]]:
    """Inputs and results of a test."""
    if case.data_sets is not None:
        return dict(zip(("in", "out"), case.data_sets[0], strict=True))
    found: dict[str, list[NDArray[Any]]] = {}
    for kind, name in (("in", "input"), ("out", "output")):
        files = sorted(Path(case.model_dir).glob(f"test_data_set_0/{name}_*.pb"))
        found[kind] = [numpy_helper.to_array(onnx.load_tensor(file)) for file in files]
    return found


def main() -> None:
    """Write the files."""
    cases = {case.name: case for case in load_model_tests(kind="node")}
    texts: dict[str, str] = {}
    arrays: dict[str, Any] = {}
    with TemporaryDirectory() as folder:
        for name in NAMES:
            case: Any = cases.get(f"test_{name}")
            if case is None:
                print(f"{name}: no such test")
                continue
            model = case.model if case.model is not None else onnx.load(Path(case.model_dir) / "model.onnx")
            text = linalg(model, Path(folder))
            if text is None:
                print(f"{name}: not lowered by torch-mlir")
                continue
            texts[name] = text
            found = arrays_of(case)
            if sum(np.asarray(value).nbytes for values in found.values() for value in values) > MAX_BYTES:
                continue
            for kind, values in found.items():
                arrays |= {f"{name}/{kind}{k}": np.asarray(value) for k, value in enumerate(values)}
    (FOLDER / "linalg_operations.json").write_text(json.dumps(texts, indent=0) + "\n")
    np.savez_compressed(FOLDER / "linalg_operations.npz", **arrays)


if __name__ == "__main__":
    main()

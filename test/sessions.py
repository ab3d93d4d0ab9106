"""Networks computed by onnxruntime, the same on all processors."""

import onnxruntime
from onnx import ModelProto


def exact_session(model: ModelProto) -> onnxruntime.InferenceSession:
    """An onnxruntime session that computes between quantised tensors in float.

    Its kernels for 8-bit products saturate in 16 bits on x86 processors without VNNI, so that results differ from one
    processor to the next; without optimisation they are not used.
    """
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_DISABLE_ALL
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])

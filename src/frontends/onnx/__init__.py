"""ONNX models as modules in the graph dialect."""

from .importer import constant_inputs, import_onnx, import_open
from .operators import operator_names

__all__ = ["constant_inputs", "import_onnx", "import_open", "operator_names"]

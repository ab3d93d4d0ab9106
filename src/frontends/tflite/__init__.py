"""Front end for TFLite models, which become ONNX and are imported as such."""

from .importer import import_tflite, operator_names

__all__ = ["import_tflite", "operator_names"]

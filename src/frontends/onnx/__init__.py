"""ONNX models to the graph dialect."""

"""What comes in: ONNX, `.acg` text, einsum text."""

"""Networks to try things on: those that the onnx wheel ships, with seeded weights, and small ones made on demand."""

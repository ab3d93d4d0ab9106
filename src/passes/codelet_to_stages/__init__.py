"""From codelets to instructions of control model `stages`."""

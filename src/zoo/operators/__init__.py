"""One small module per operation, written against no target: `operator:softmax` compiles wherever it can be said."""

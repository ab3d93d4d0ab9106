"""Programs of control model `stages` as tables of numbers, and when their instructions run."""

"""From layers of integers to codelets."""

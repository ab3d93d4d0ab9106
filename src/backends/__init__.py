"""What goes out: binaries, simulated runs, adapters."""

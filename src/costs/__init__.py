"""Prices as pure functions: traffic, energy, latency, bounds.  No IR in sight."""

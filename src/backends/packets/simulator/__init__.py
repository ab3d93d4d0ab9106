"""Programs of packets executed by what the target's file says of each instruction; packets are counted."""

from .run import simulate_packets

__all__ = ["simulate_packets"]

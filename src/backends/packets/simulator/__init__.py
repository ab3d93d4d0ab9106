"""Programs of packets executed by what the target's file says of each instruction; packets are counted."""

from .run import PacketRun, simulate_packets

__all__ = ["PacketRun", "simulate_packets"]

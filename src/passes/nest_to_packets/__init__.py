"""Nests as programs of packets, scheduled by what the target's file says."""

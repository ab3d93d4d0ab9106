"""Runs programs of control model `stages`."""

"""Searches on frozen dataclasses and arrays.  No IR in sight."""

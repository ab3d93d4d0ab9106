"""Certificates of mappings: making them (`make`), and the program that checks them, which knows the cost model alone.

The theory is docs/exact-mapper.md, whose statements the functions name.
"""

from .check import Certificate, check_certificate

__all__ = ["Certificate", "check_certificate"]

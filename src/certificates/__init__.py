"""Certificates of mappings, and the program that checks them: it knows the cost model, and no search.

The theory is docs/exact-mapper.md, whose statements the functions name.
"""

from .check import Certificate, Follower, check_certificate

__all__ = ["Certificate", "Follower", "check_certificate"]

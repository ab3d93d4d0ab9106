"""Names that nothing else has, for passes."""

from ..names import take_name, unique_name

__all__ = ["take_name", "unique_name"]

"""Traps: what stops a simulated program."""

from ...errors import TilewrightError


class Trap(TilewrightError):
    """A program did what the machine forbids; a `TilewrightError` of kind `trap`.

    `reason` is one of `illegal` (fields that the capability does not allow), `range` (an address outside a memory),
    `uninitialised` (a read of bytes that nothing wrote), `hazard` (conflicting accesses that no wait orders) and
    `deadlock` (a wait that is never satisfied).  `instruction` is the index in program order.
    """

    def __init__(self, reason: str, instruction: int, text: str, expected: str, found: str, lever: str = "") -> None:
        self.reason = reason
        self.instruction = instruction
        subject = f"{reason} trap at instruction {instruction}" + (f" ({text})" if text else "")
        super().__init__("trap", subject, expected, found, lever)

    def as_dict(self) -> dict[str, object]:
        return super().as_dict() | {"reason": self.reason, "instruction": self.instruction}

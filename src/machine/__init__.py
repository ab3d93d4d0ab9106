"""An accelerator as plain data, what it must satisfy, and the chain of memories that mapping sees."""

from .model import (
    Action,
    Capability,
    CapabilityDim,
    Compute,
    Engine,
    Field,
    Link,
    Machine,
    Memory,
    Mnemonic,
    OperandBinding,
    Ports,
    Unit,
    Word,
)

__all__ = [
    "Action",
    "Capability",
    "CapabilityDim",
    "Compute",
    "Engine",
    "Field",
    "Link",
    "Machine",
    "Memory",
    "Mnemonic",
    "OperandBinding",
    "Ports",
    "Unit",
    "Word",
]

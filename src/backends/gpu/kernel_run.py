"""What a kernel of threads gives on a device."""

from dataclasses import dataclass

from ...arrays import Array


@dataclass(frozen=True)
class KernelRun:
    """The output of a kernel, and the device that it ran on."""

    device: str
    output: Array

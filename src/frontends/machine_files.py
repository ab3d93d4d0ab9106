"""What kind of machine a file or the name of a shipped target describes."""

from pathlib import Path

from ..machine import Machine

YAML = (".yaml", ".yml")


def is_architecture(target: str | Path | Machine) -> bool:
    """Whether a target is a file that tells memories and units alone, without a machine's own language."""
    return not isinstance(target, Machine) and Path(target).suffix in (*YAML, ".json")


def is_threads(target: str | Path | Machine) -> bool:
    """Whether a target's programs are kernels of blocks of threads."""
    from .acg import load_target

    return not is_architecture(target) and load_target(target).control == "threads"


def is_map_only(target: str | Path | Machine) -> bool:
    """Whether a target has memories and units, but no instructions."""
    from .acg import load_target

    if is_architecture(target):
        return True
    machine = load_target(target)
    return not machine.mnemonics and machine.packets is None

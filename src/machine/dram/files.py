"""Devices by name, from the data files of this folder."""

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path

from ...errors import TilewrightError
from .timing import NUMBERS, DramTiming, Segment, timing_complaints

FOLDER = Path(__file__).parent
SUFFIX = ".dram"


def timing_names() -> tuple[str, ...]:
    """The devices that there are data files of."""
    return tuple(sorted(path.stem for path in FOLDER.glob(f"*{SUFFIX}")))


def dram_timing(text: str) -> DramTiming:
    """The device of a name, perhaps with other figures: `ddr4-2400`, `hbm2:channels=2,window=8`.

    Raises `TilewrightError` (kind `dram`) for what is no device, or has figures that contradict each other.
    """
    name, _, changes = text.partition(":")
    figures: dict[str, int] = {}
    for item in filter(None, changes.split(",")):
        key, _, value = (part.strip() for part in item.partition("="))
        if key not in NUMBERS or not re.fullmatch(r"\d{1,12}", value):
            raise TilewrightError("dram", text[:80], f"FIGURE=NUMBER of {', '.join(NUMBERS)}", f"`{item[:40]}`")
        figures[key] = int(value)
    timing = with_figures(named_timing(name), figures)
    for expected, found, lever in timing_complaints(timing):
        raise TilewrightError("dram", text[:80], expected, found, lever)
    return timing


def with_figures(
    timing: DramTiming, figures: Mapping[str, int], address: tuple[Segment, ...] | None = None
) -> DramTiming:
    """The device with other figures, not checked; segments of one part take what its new bits are."""
    changed = replace(timing, **figures)
    if address is not None:
        return replace(changed, address=address)
    seen: set[str] = set()
    segments: list[Segment] = []
    for part, bits in timing.address:  # the first segment of a part grows or shrinks
        more = changed.bits(part) - timing.bits(part) if part not in seen else 0
        segments.append((part, bits + more))
        seen.add(part)
    return replace(changed, address=tuple(segments))


def differences(timing: DramTiming) -> tuple[dict[str, int], tuple[Segment, ...] | None]:
    """Figures in which a device differs from the one of its name, and its map where it is not what follows."""
    named = named_timing(timing.name)
    figures = {key: getattr(timing, key) for key in NUMBERS if getattr(timing, key) != getattr(named, key)}
    return figures, None if with_figures(named, figures) == timing else timing.address


def named_timing(name: str) -> DramTiming:
    """The device of a data file; `TilewrightError` (kind `dram`) where there is none."""
    if name not in timing_names():
        raise TilewrightError(
            "dram", name[:80] or "--dram", f"one of {', '.join(timing_names())}", "another", "name one"
        )
    return _read(name)


@cache
def _read(name: str) -> DramTiming:
    """The figures of a data file: lines `name value`, and `map` with parts from the most significant bit."""
    figures: dict[str, int] = {}
    address: tuple[Segment, ...] = ()
    for line in (FOLDER / f"{name}{SUFFIX}").read_text(encoding="utf-8").splitlines():
        key, *values = line.partition("#")[0].split() or [""]
        if key == "map":
            pairs = (part.partition(":") for part in values)
            address = tuple((part, int(bits) if bits else -1) for part, _, bits in pairs)
        elif key:
            figures[key] = int(values[0])
    bare = DramTiming(name, **figures, address=())
    return replace(bare, address=whole(bare, address))


def whole(timing: DramTiming, address: tuple[Segment, ...]) -> tuple[Segment, ...]:
    """Segments, where -1 stands for all bits of a part."""
    known = ("row", "bank", "group", "column", "channel")
    return tuple((part, timing.bits(part) if bits == -1 and part in known else bits) for part, bits in address)

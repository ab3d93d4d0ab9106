"""DRAM devices as the memory off chip: the figures of a JEDEC standard, and where the bits of an address go.

Times are in ticks of the device's clock; data moves on both edges.  Names are those of the standards without their `t`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, replace
from functools import cache
from pathlib import Path

from ...errors import TilewrightError

MAX_FIGURE = 1 << 24
FIELDS = ("row", "bank", "group", "column", "channel")
"""Parts of an address, for `DramTiming.address`."""

Segment = tuple[str, int]
"""A part of the address, and how many of its bits are together."""


@dataclass(frozen=True)
class DramTiming:
    """A memory of `channels` channels of `bus_bits`, each with `groups` groups of `banks` banks.

    A bank has `rows` rows of `columns` columns as wide as the bus; a burst moves `burst` of them.  `cl`, `cwl`: from
    a command to read or write to its data; `rcd`, `rp`, `ras`, `rc`: activate to command, precharge to activate,
    activate to precharge, activate to activate of a bank; `rrd`, `faw`: activates of different banks, and of five;
    `ccd`, `wtr`: between commands, and from written data to a command to read (`_s`: other group, `_l`: the same);
    `rtw`: from a command to read to one to write; `rtp`, `wr`: from reading and from written data to precharge; `rfc`,
    `refi`: how long a refresh takes, and how often there is one.  The controller serves bursts in order, and opens rows
    for `window` of them ahead.  `address` has segments from the most significant bit above those within a burst.
    """

    name: str
    clock_hz: int
    channels: int
    bus_bits: int
    burst: int
    groups: int
    banks: int
    rows: int
    columns: int
    cl: int
    cwl: int
    rcd: int
    rp: int
    ras: int
    rc: int
    ccd_s: int
    ccd_l: int
    rrd_s: int
    rrd_l: int
    faw: int
    wtr_s: int
    wtr_l: int
    rtw: int
    rtp: int
    wr: int
    rfc: int
    refi: int
    window: int
    address: tuple[Segment, ...]

    @property
    def burst_bytes(self) -> int:
        """Bytes of a burst."""
        return self.bus_bits * self.burst // 8

    @property
    def burst_ticks(self) -> int:
        """Ticks that a burst is on the bus."""
        return self.burst // 2

    @property
    def capacity_bytes(self) -> int:
        """Bytes of all channels."""
        return self.channels * self.groups * self.banks * self.rows * self.columns * self.bus_bits // 8

    def bits(self, part: str) -> int:
        """Bits of a part of the address; those of the column above a burst."""
        counts = {"channel": self.channels, "group": self.groups, "bank": self.banks, "row": self.rows}
        counts["column"] = self.columns // max(self.burst, 1)
        return counts[part].bit_length() - 1


NUMBERS = tuple(item.name for item in fields(DramTiming) if item.name not in ("name", "address"))
"""The figures, in the order of `DramTiming`."""

Fault = tuple[str, str, str]
"""What was expected, what was found, and what to change."""


def timing_complaints(timing: DramTiming) -> Iterator[Fault]:
    """Every rule that the figures break."""
    for name in NUMBERS:
        value = getattr(timing, name)
        most = 1 << 40 if name == "clock_hz" else MAX_FIGURE
        if not 1 <= value <= most:
            yield f"{name} from 1 to {most}", f"{value}", "give the device's own"
            return
    for name in ("channels", "groups", "banks", "rows", "columns", "burst"):
        value = getattr(timing, name)
        if value & (value - 1):
            yield f"a power of two of {name}", f"{value}", "addresses are split by bits"
            return
    if timing.bus_bits % 8 or timing.burst < 2 or timing.columns < timing.burst:
        found = f"{timing.bus_bits} bits, bursts of {timing.burst}, rows of {timing.columns}"
        yield "a bus of whole bytes, bursts of at least 2, and rows of at least a burst", found, "give the device's own"
        return
    yield from _address(timing)
    yield from _bus(timing)
    yield from _order(timing)


def _address(timing: DramTiming) -> Iterator[Fault]:
    """Each bit of an address is used once, so that every burst has a place of its own."""
    lever = "list parts from the most significant, each with all of its bits"
    for part in dict.fromkeys(name for name, _ in timing.address):
        if part not in FIELDS:
            yield f"a map of {', '.join(FIELDS)}", f"`{part}`", lever
            return
    if any(count < 0 for _, count in timing.address):
        yield "segments of the map of at least 0 bits", "fewer", lever
    for part in FIELDS:
        given, needed = sum(count for name, count in timing.address if name == part), timing.bits(part)
        if given < needed:
            found = f"{given} bits, so that two bursts would share one place"
            yield f"a map with the {needed} bits of {part}", found, lever
        elif given > needed:
            found = f"{given} bits, so that addresses would lead to no {part}"
            yield f"a map with the {needed} bits of {part}", found, lever


def _bus(timing: DramTiming) -> Iterator[Fault]:
    """No two bursts are on the bus at one time."""
    lasts = timing.burst_ticks
    if timing.ccd_s < lasts:
        found = f"{timing.ccd_s}: two bursts would share the bus at one time"
        yield f"ccd_s of at least {lasts}, the ticks of a burst", found, "give the larger one"
    least = timing.cl + lasts - timing.cwl
    if timing.rtw < least:
        found = f"{timing.rtw}: a burst read and one written would share the bus at one time"
        yield f"rtw of at least cl + burst / 2 - cwl, {least}", found, "give the larger one"


def _order(timing: DramTiming) -> Iterator[Fault]:
    """Figures that say when one thing happens agree."""
    for name in ("ccd", "rrd", "wtr"):
        short, long = getattr(timing, f"{name}_s"), getattr(timing, f"{name}_l")
        if long < short:
            yield f"{name}_l of at least {name}_s, {short}", f"{long}", "banks of one group share more"
    if timing.ras < timing.rcd:
        yield f"ras of at least rcd, {timing.rcd}", f"{timing.ras}", "a row is open before it is read"
    if timing.rc < timing.ras + timing.rp:
        found = f"{timing.rc}, while a row is open {timing.ras} and closes in {timing.rp}"
        yield f"rc of at least ras + rp, {timing.ras + timing.rp}", found, "leave out none of them"
    least = timing.rp + timing.rfc + timing.rc
    if timing.refi <= least:
        yield f"refi above rp + rfc + rc, {least}", f"{timing.refi}: nothing but refresh", "give the longer one"


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

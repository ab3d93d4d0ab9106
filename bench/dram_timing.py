"""What the flat bandwidth of a target hides: networks timed by devices off chip, and streams by device.

    python bench/dram_timing.py --networks resnet50,gpt2_small_prefill --target edge16 --csv layers.csv

Each network is compiled once, its instructions are timed by each device; nothing is computed.
"""

from __future__ import annotations

import argparse
import csv
import time
from pathlib import Path

import numpy as np

import tilewright
from tilewright.backends.simulator import simulate
from tilewright.costs.dram_timing import Dram
from tilewright.driver import CompileOptions
from tilewright.frontends.input_shapes import InputShapes
from tilewright.machine.dram import DramTiming, dram_timing, timing_names

DEVICES = ("ddr4-2400", "ddr4-2400:clock_hz=1000000000", "lpddr4-3200", "lpddr4-3200:channels=2", "hbm2")
"""The second has the peak of 16 GB/s that `edge16` takes for the bandwidth of its link, the fourth 12.8 GB/s."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--networks", default="resnet50,gpt2_small_prefill")
    parser.add_argument("--target", default="edge16")
    parser.add_argument("--tokens", type=int, default=512)
    parser.add_argument("--devices", default=";".join(DEVICES), help="separated by semicolons")
    parser.add_argument("--bursts", type=int, default=20000, help="of each stream")
    parser.add_argument("--csv", type=Path, help="write cycles of all layers")
    arguments = parser.parse_args()
    streams(arguments.bursts)
    rows: list[dict[str, object]] = []
    for network in filter(None, arguments.networks.split(",")):
        rows += retimed(network, arguments.target, arguments.tokens, arguments.devices.split(";"))
    if arguments.csv is not None and rows:
        with arguments.csv.open("w", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)


def streams(bursts: int) -> None:
    """Shares of the peak: simulated, and in closed form."""
    print("share of the peak, simulated (closed form)")
    print(f"{'device':14} {'sequential':>18} {'a row each':>18} {'random':>18} {'16 in turn':>18}")
    for name in timing_names():
        whole, one = dram_timing(name), dram_timing(f"{name}:channels=1")
        found = [
            (_sequential(whole, bursts), sequential_share(whole)),
            (_strided(one, bursts), strided_share(one)),
            (_random(one, bursts), random_share(one)),
            (_mixed(one, bursts, 16), mixed_share(one, 16)),
        ]
        print(f"{name:14}", *(f"{100 * got:7.2f} % ({100 * form:6.2f})" for got, form in found))
    start, device = time.process_time(), Dram(dram_timing("ddr4-2400"))
    device.serve(np.array([0]), 64 * 10 * bursts, False, 0)
    print(f"{10 * bursts / (time.process_time() - start) / 1e6:.1f} M bursts a second\n")


def _share(timing: DramTiming, bursts: int, ticks: int) -> float:
    return bursts * timing.burst_ticks / timing.channels / ticks


def _sequential(timing: DramTiming, bursts: int) -> float:
    return _share(timing, bursts, Dram(timing).serve(np.array([0]), bursts * timing.burst_bytes, False, 0))


def _strided(timing: DramTiming, bursts: int) -> float:
    stride = timing.columns * timing.groups * timing.banks * timing.bus_bits // 8
    return _share(timing, bursts, Dram(timing).serve(np.arange(bursts) * stride, timing.burst_bytes, False, 0))


def _random(timing: DramTiming, bursts: int) -> float:
    device, tick = Dram(timing), 0
    for place in np.random.default_rng(0).integers(0, timing.capacity_bytes // timing.burst_bytes, bursts):
        tick = device.serve(np.array([place * timing.burst_bytes]), timing.burst_bytes, False, tick)
    return _share(timing, bursts, tick)


def _mixed(timing: DramTiming, bursts: int, batch: int) -> float:
    device, tick, size = Dram(timing), 0, batch * timing.burst_bytes
    other = timing.columns * timing.groups * timing.bus_bits // 8
    turns = bursts // (2 * batch)
    for turn in range(turns):
        device.serve(np.array([turn * size]), size, False, 0)
        tick = device.serve(np.array([other + turn * size]), size, True, 0)
    return _share(timing, 2 * batch * turns, tick)


def refresh_share(timing: DramTiming) -> float:
    """The part of time that is left between refreshes, for a stream whose last burst before one is read.

    A refresh waits until the row that was read last may close, closes it (`rp`), takes `rfc`, and the first burst after
    it waits for its row (`rcd`).  `rtp` of it pass while the bus would rest for the next command anyway.
    """
    lost = max(timing.rtp - timing.ccd_s, 0) + timing.rp + timing.rfc + timing.rcd
    return 1 - lost / timing.refi


def _alternates(timing: DramTiming) -> bool:
    """Whether consecutive bursts of a channel go to groups in turn, and back only after `ccd_l`."""
    parts = [part for part, bits in timing.address if part != "channel" and bits]
    bits = next((bits for part, bits in reversed(timing.address) if part == "group"), 0)
    return parts[-1:] == ["group"] and (timing.ccd_s << bits) >= timing.ccd_l


def pace(timing: DramTiming) -> int:
    """Ticks between bursts of consecutive addresses in open rows."""
    return timing.ccd_s if _alternates(timing) else timing.ccd_l


def sequential_share(timing: DramTiming) -> float:
    """Share of the peak that consecutive reads reach: rows are opened ahead, only refresh interrupts."""
    return timing.burst_ticks / pace(timing) * refresh_share(timing)


def strided_share(timing: DramTiming) -> float:
    """Share of the peak that reads of one burst from each row of one bank reach: a row cycle for each."""
    return timing.burst_ticks / max(timing.rc, timing.ras + timing.rp) * refresh_share(timing)


def random_share(timing: DramTiming) -> float:
    """Share of the peak that single reads of random bursts reach where each waits for the one before.

    The row is closed, opened and read; the first read of a bank after a refresh, which closes all, closes none.
    """
    banks = timing.groups * timing.banks
    whole = timing.rp + timing.rcd + timing.cl + timing.burst_ticks
    between = timing.refi - timing.rp - timing.rfc
    reads = between / whole
    for _ in range(8):  # how many reads there are between refreshes depends on what they take
        closed = banks * (1 - (1 - 1 / banks) ** reads)
        reads = between / (whole - timing.rp * closed / reads)
    return reads * timing.burst_ticks / timing.refi


def mixed_share(timing: DramTiming, batch: int) -> float:
    """Share of the peak that `batch` reads and `batch` writes in turn reach, each of consecutive addresses.

    Rows are opened ahead; the two streams are in different banks.
    """
    apart = pace(timing)
    wait = timing.wtr_l
    if _alternates(timing):  # the first read goes to the group that was written longest ago
        wait = max(timing.wtr_s, timing.wtr_l - (timing.groups - 1) * timing.ccd_s)
    back = timing.cwl + timing.burst_ticks + wait
    cycle = 2 * (batch - 1) * apart + max(timing.rtw, apart) + back
    return 2 * batch * timing.burst_ticks / cycle * refresh_share(timing)


def retimed(network: str, target: str, tokens: int, devices: list[str]) -> list[dict[str, object]]:
    """Cycles of each layer by each device, and a table of the whole."""
    shapes = InputShapes(dims={"tokens": tokens} if network.startswith("gpt2") else {})
    program = tilewright.compile(network, target, shapes=shapes, options=CompileOptions(prove=False))
    flat = simulate(program, functional=False, checks=False, dram="flat")
    print(f"{network} on {target}: {flat.cycles} cycles at the flat bandwidth, predicted {program.predicted['cycles']}")
    print(
        f"{'device':32} {'cycles':>12} {'more':>8} {'open rows':>10} {'layers slower than 1 %':>23} {'5 %':>5}  worst"
    )
    rows: list[dict[str, object]] = [
        {"network": network, "layer": layer.name, "dram_bytes": layer.dram_bytes, "flat": layer.cycles}
        for layer in flat.layers
    ]
    for device in devices:
        timed = simulate(program, functional=False, checks=False, dram=device)
        ratios = [new.cycles / max(old.cycles, 1) for new, old in zip(timed.layers, flat.layers, strict=True)]
        worst = max(range(len(ratios)), key=lambda place: timed.layers[place].cycles - flat.layers[place].cycles)
        more = f"{100 * (timed.cycles / flat.cycles - 1):+.1f} %"
        slow = [sum(ratio > limit for ratio in ratios) for limit in (1.01, 1.05)]
        hits = f"{100 * timed.dram[0].counts.hit_share:.1f} %"
        name = f"{timed.layers[worst].name} {100 * (ratios[worst] - 1):+.0f} %"
        print(f"{device:32} {timed.cycles:12} {more:>8} {hits:>10} {slow[0]:23} {slow[1]:5}  {name}")
        for row, layer in zip(rows, timed.layers, strict=True):
            row[device] = layer.cycles
    return rows


if __name__ == "__main__":
    main()

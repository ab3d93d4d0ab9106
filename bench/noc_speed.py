"""Flits a second that the compiled mesh carries, by its size, against a million: `python bench/noc_speed.py`.

One node sends to all others in turn, copies among them, and each of them sends back, as between a buffer and processing
elements.  A flit counts once, however many links it passes; links passed a second stand beside.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

from tilewright.costs.noc import Mesh

sys.path.insert(0, str(Path(__file__).parents[1] / "test"))

from unit.costs.noc.traffic import Packet, run_traffic

SIZES = ((5, 4), (9, 8), (17, 16))
FLITS = 16
PACKETS = 12000
LIMIT = 1e6


def traffic(mesh: Mesh) -> list[Packet]:
    """Packets out, every eighth a copy to a row, and packets back."""
    found: list[Packet] = []
    for number in range(PACKETS // 2):
        other = 1 + number % (mesh.nodes - 1)
        row = tuple(range(other - other % mesh.columns, other - other % mesh.columns + mesh.columns))
        found.append(Packet((0,), row if number % 8 == 7 else (other,), FLITS))
        found.append(Packet((other,), (0,), FLITS))
    return found


def main() -> None:
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    print(f"{'mesh':>8} {'flits':>8} {'cycles':>8} {'flits/s':>12} {'links/s':>12} {'over 1e6':>9}")
    run_traffic(Mesh(2, 2), [Packet((0,), (1,), 1)])  # compiles
    for columns, rows in SIZES:
        mesh = Mesh(columns, rows)
        packets = traffic(mesh)
        start = time.process_time()
        run = run_traffic(mesh, packets)
        spent = time.process_time() - start
        flits = sum(packet.flits for packet in packets)
        print(
            f"{f'{columns}x{rows}':>8} {flits:8} {run.cycles:8} {flits / spent:12.0f} {run.hops / spent:12.0f} "
            f"{flits / spent / LIMIT:9.2f}"
        )


if __name__ == "__main__":
    main()

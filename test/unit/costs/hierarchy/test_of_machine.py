"""Machines as chains of storage levels."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tilewright.costs.hierarchy import Architecture, Level, architecture_of, parse_architecture
from tilewright.errors import TilewrightError
from tilewright.frontends.acg import load_target, parse_target, target_files

ROOT = Path(__file__).parents[4]
REFERENCES = [ROOT / "test/data/timeloop_sample.json", ROOT.parent / "shared/data/timeloop_ref.json"]


@pytest.mark.parametrize("path", [path for path in REFERENCES if path.exists()], ids=lambda path: path.stem)
def test_targets_equal_the_descriptions_they_are_compared_with(path: Path) -> None:
    archs = json.loads(path.read_text())["archs"]
    assert archs
    for name, description in archs.items():
        arch = architecture_of(load_target(name))
        plain = replace(arch, levels=tuple(replace(level, mesh_flit_bits=0) for level in arch.levels))
        assert plain == parse_architecture(description)  # which knows of no mesh


@pytest.mark.parametrize("name", [name for name in target_files() if load_target(name).control != "stages"])
def test_every_target_can_be_mapped_on(name: str) -> None:
    arch = architecture_of(load_target(name))
    counts = [arch.mac_instances, *(level.instances for level in arch.levels)]
    for i in range(len(arch.levels)):
        columns, rows = arch.fan_out(i)
        assert columns * rows * counts[i + 1] == counts[i]
    for operand in arch.operands:
        assert any(level.holds is None or operand in level.holds for level in arch.levels[:-1])
    assert arch.levels[-1].holds is None


def test_machine_with_instructions() -> None:
    """Lanes are multipliers of their own; links limit DRAM's ports and the network below a buffer."""
    arch = architecture_of(load_target("tiny"))
    spad = Level("SPAD", 256, 1, 1, 1, 1.2, word_bits=32, write_energy_pj=1.6, network_bandwidth=4.0)
    dram = Level("DRAM", 65536, 1, 1, 1, 84.0, shared_bandwidth=4.0, word_bits=8, latency_cycles=8)
    assert arch == Architecture("tiny", (spad, dram), "MXU", 16, 4, 0.018, ("O", "X", "W"))
    edge = architecture_of(load_target("edge16"))
    assert (edge.mac_instances, edge.mac_mesh_x, edge.fan_out(0)) == (4 * 4 * 32 * 16, 4 * 32, (128, 64))


SPLIT = """acg split {
  memory DRAM { data_width 16; read_energy 2; write_energy 3; offchip; }
  memory A { data_width 16; depth 64; block 4; access_energy 5; write_access_energy 7; latency 2; buffering 2; }
  memory B[2][1] { data_width 32; depth 8; banks 4; network_bandwidth 9; }
  compute M[4][2] {
    capability mac {
      dims k <= 8 lanes 2, c <= 8 lanes 3;
      O{k} += I{c} * W{k, c};
      types i32 = i8, i8; cycles c; energy 6 * ops + 12;
    }
  }
  link DRAM -> A { bandwidth 8; latency 3; }
  link A -> DRAM { bandwidth 4; }
  link A <-> B { bandwidth 16; }
  link B <-> M { bandwidth 64; latency 1; }
}
"""


def test_rates_energies_and_lanes() -> None:
    dram = Level("DRAM", None, 1, 1, 1, 4.0, 4.0, 2.0, write_energy_pj=6.0, latency_cycles=3)
    a = Level("A", 64, 1, 1, 4, 5.0, None, None, None, 0.0, 2.0, 16, 7.0, 8.0, 2)
    b = Level("B", 32, 2, 2, 1, 0.0, word_bits=32, network_bandwidth=9.0, latency_cycles=1)
    expected = Architecture("split", (b, a, dram), "M", 8 * 6, 4 * 2, 6 + 12 / 6, ("O", "I", "W"))
    assert architecture_of(parse_target(SPLIT)) == expected


def test_machine_without_products() -> None:
    text = SPLIT.replace("I{c} * W{k, c}", "I{c} + W{k, c}")
    with pytest.raises(TilewrightError, match="expected a capability that sums products of operands, found none"):
        architecture_of(parse_target(text))


def test_two_memories_off_chip() -> None:
    memory = "  memory HOST { data_width 16; offchip; }\n  link HOST -> A { bandwidth 1; }\n"
    with pytest.raises(TilewrightError, match="one off-chip memory for all operands"):
        architecture_of(parse_target(SPLIT.replace("  compute", memory + "  compute")))


SUNSTONE = ROOT.parent / "shared/data/sunstone_results.json"


def described(arch: dict[str, Any]) -> str:
    """`.acg` text of a machine as Sunstone lists them: levels from the inside, some split by operand (I, W, O).

    Its bandwidths are those of all instances together; a price that differs by operand in one memory is averaged.
    """
    columns = rows = 1
    below: dict[str, tuple[str, ...]] = {}
    memories: list[str] = []
    links: list[str] = []
    inside = dict.fromkeys("IWO", "MAC")
    arrays: list[tuple[int, int]] = []
    for i in range(len(arch["levels"]) - 1, -1, -1):
        arrays.append((columns, rows))
        for array in (a for a in arch["spatial"] if a["after"] == i - 1):
            columns, rows = columns * array["x"], rows * array["y"]
    for level, (x, y), limits in zip(arch["levels"], reversed(arrays), arch["bw"], strict=True):
        kept = [o for o, away in zip("IWO", level.get("bypass") or [False] * 3, strict=True) if not away]
        parts = [(o,) for o in kept] if level.get("split") else [tuple(kept)]
        for part in parts:
            name = level["name"] + (part[0] if len(parts) > 1 else "")
            pick = ["IWO".index(o) for o in part]
            energy = level["energy"]
            price = sum(energy[p] for p in pick) / len(pick) if isinstance(energy, list) else energy
            size = level.get("size")
            words = f"depth {size[pick[0]] if isinstance(size, list) else size};" if size else "offchip;"
            rate = f"read_bandwidth {limits[0] / x / y}; write_bandwidth {limits[1] / x / y};" if limits else ""
            holds = f"holds {', '.join(part)};" if len(part) < 3 else ""
            head = f"memory {name}[{x}][{y}] {{ data_width 16; {words} access_energy {price};"
            memories.append(f"{head} {rate} hop_energy {level.get('noc_energy', 0)}; {holds} }}")
            links += [f"link {name} {'<->' if o == 'O' else '->'} {inside[o]};" for o in part]
            below |= {name: part}
        for name, part in ((n, p) for n, p in below.items() if n.startswith(level["name"])):
            inside |= dict.fromkeys(part, name)
    mac = f"compute MAC[{columns}][{rows}] {{ capability mac {{ O{{}} += I{{}} * W{{}}; types i16 = i16, i16;"
    mac += f" energy {arch['mac_energy']}; }} }}"
    unique = {re.sub(" <-> | -> ", " ", link): link for link in sorted(links, key=lambda link: "<->" in link)}
    return "\n".join(["acg machine {", *reversed(memories), mac, *unique.values(), "}"])


@pytest.mark.skipif(not SUNSTONE.exists(), reason="no reference data")
def test_machines_of_a_peer_can_be_written() -> None:
    archs: dict[str, Any] = json.loads(SUNSTONE.read_text())["archs"]
    levels = {name: architecture_of(parse_target(described(arch))).levels for name, arch in archs.items()}
    assert {name: [x.instances for x in found] for name, found in levels.items()} == {
        "eyeriss_like": [168, 168, 168, 1, 1],
        "ws16": [256, 1, 1],
        "basic16": [256, 1, 1],
        "conv32_tableIV": [1024, 1, 1],
        "simba_like": [1024, 16, 16, 16, 1, 1],
        "simba_cosa": [1024, 16, 16, 16, 1, 1],
    }
    found = {level.name: level for level in levels["eyeriss_like"]}
    ours = {level.name: level for level in architecture_of(load_target("eyeriss_like")).levels}
    for name, same in (("L1I", "InputSpad"), ("L1W", "WeightSpad"), ("L1O", "PsumSpad")):
        unlimited = replace(ours[same], name=name, read_bandwidth=None, write_bandwidth=None)
        assert found[name] == unlimited
    assert found["L2"] == replace(ours["L2"], hop_energy_pj=0.607)
    simba = {level.name: level for level in levels["simba_like"]}
    assert [simba[name].holds for name in ("Reg", "L1I", "L1W", "L1O", "L2")] == [
        ("W",),
        ("I",),
        ("W",),
        ("O",),
        ("O", "I"),
    ]
    assert simba["L1W"].read_bandwidth == 64 / 16
    assert simba["L2"].energy_pj == pytest.approx((5.47 + 5.71) / 2)

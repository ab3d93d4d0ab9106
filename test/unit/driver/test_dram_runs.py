"""Runs with a device off chip tell cycles beside those of the flat bandwidth, for all and for each layer."""

from pathlib import Path

from tilewright.driver import RunOptions, run

KERNEL = "O[m,n] += A[m,k] * B[k,n]; m=16 n=16 k=16"


def test_layers_stand_beside_the_flat_bandwidth(tmp_path: Path):
    flat = run(KERNEL, "tiny", folder=tmp_path, options=RunOptions(trace=False)).as_dict()
    timed = run(
        KERNEL, "tiny", folder=tmp_path, options=RunOptions(trace=False, dram="ddr4-2400:clock_hz=100000000")
    ).as_dict()
    assert "dram" not in flat
    assert timed["agrees"]
    assert timed["flat_cycles"] == flat["cycles"] < timed["cycles"]
    assert [layer["flat_cycles"] for layer in timed["dram_layers"]] == [layer["cycles"] for layer in flat["layers"]]
    assert sum(layer["cycles"] for layer in timed["dram_layers"]) == timed["cycles"]
    assert timed["dram"][0]["device"] == "ddr4-2400"
    assert timed["dram_bytes"] == flat["dram_bytes"]

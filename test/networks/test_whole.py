"""Whole networks as exporters write them, by default options, against onnxruntime: small ones, and slowly others."""

import pytest

from ..bench_scripts import bench

whole_networks = bench("whole_networks")

QUICK = ("dlrm", "mlp_mixer", "opt", "super_resolution", "vgg_bn", "wavenet")
SLOW = tuple(name for name in whole_networks.names() if name not in (*QUICK, "rwkv"))[::6]  # the bench runs all


def check(name: str) -> None:
    row = whole_networks.run_network(name)
    assert row.verdict == "agrees"
    assert row.bound <= row.cycles


@pytest.mark.parametrize("name", [*QUICK, "beit"])
def test_networks(name: str) -> None:
    check(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_other_networks(name: str) -> None:
    check(name)


def test_weights_are_seeded() -> None:
    first, again = (whole_networks.load("opt").SerializeToString() for _ in range(2))
    assert first == again
    assert len(whole_networks.names()) >= 60

"""Layers for mappers: totals of known networks, strides, groups, names, and the reference table where it is at hand."""

import json
from pathlib import Path

import pytest

from tilewright.costs.hierarchy import Problem
from tilewright.errors import TilewrightError
from tilewright.zoo.mapping_layers import NETWORKS, layer, layer_names, layers

SHAPES = Path(__file__).parents[4] / "shared/data/layer_shapes.json"

GIGA_MACS = {"resnet18": 1.814, "resnet50": 4.089, "resnext50": 4.230}
"""Multiplications of one image, from the networks' own papers (rounded), pooling and activation left out."""


def words(problem: Problem, name: str) -> int:
    total = 1
    for extent in problem.tensor(name).extents(problem.bounds):
        total *= extent
    return total


@pytest.mark.parametrize("network", GIGA_MACS)
def test_networks_have_their_known_size(network: str):
    total = sum(problem.macs * count for _, problem, count in layers(network))
    assert total / 1e9 == pytest.approx(GIGA_MACS[network], rel=2e-3)


@pytest.mark.parametrize("network", NETWORKS)
def test_every_name_leads_to_a_layer(network: str):
    names = layer_names(network)
    assert len(set(names)) == len(names) == sum(count for _, _, count in layers(network))
    for name in names:
        problem = layer(f"{network}:{name}")
        assert problem.name == f"{network}:{name}"
        assert [tensor.is_output for tensor in problem.tensors].count(True) == 1


def test_layers_of_a_network_are_different():
    for network in NETWORKS:
        shapes = [(problem.bounds, problem.tensors) for _, problem, _ in layers(network)]
        assert len(set(shapes)) == len(shapes)


def test_a_convolution_has_its_stride_and_batch():
    problem = layer("resnet18:conv1", batch=16)
    assert dict(zip(problem.dims, problem.bounds, strict=True)) == {
        "N": 16, "K": 64, "C": 3, "P": 112, "Q": 112, "R": 7, "S": 7,
    }  # fmt: skip
    assert words(problem, "I") == 16 * 3 * 229 * 229
    assert problem.macs == 16 * 118013952
    assert layer("resnet18:conv2_1") == layer("resnet18:conv2_1", batch=1)
    assert layer("deepbench:02_DeepSpeech").bounds[0] == 2


def test_grouped_convolutions_read_each_channel_once():
    problem = layer("resnext50:conv2_1_3x3")
    assert words(problem, "I") == 128 * 58 * 58
    assert words(problem, "W") == 128 * 4 * 9
    assert words(problem, "O") == 128 * 56 * 56
    assert problem.macs == 128 * 4 * 9 * 56 * 56


def test_a_weight_update_sums_over_batch_and_image():
    forward, update = layer("inception_v3:L00_3x3", 16), layer("inception_v3_wu:L00_3x3", 16)
    assert update.macs == forward.macs == 16 * 149 * 149 * 32 * 27
    assert [tensor.name for tensor in update.tensors if tensor.is_output] == ["W"]
    assert words(update, "W") == 32 * 27
    assert words(update, "I") == words(forward, "I") == 16 * 3 * 299 * 299


def test_tensor_kernels_have_the_sizes_of_their_tensors():
    problem = layer("mttkrp:netflix")
    assert words(problem, "A") == 480189 * 17770 * 2182
    assert [words(problem, name) for name in "BCZ"] == [17770 * 32, 2182 * 32, 480189 * 32]
    assert len(layer("sddmm:cant").tensors) == len(layer("tcl:vgg").tensors) - 1 == 4


@pytest.mark.parametrize(
    ("name", "batch", "found"),
    [
        ("resnet18", 1, "no layer's name"),
        ("resnet18:conv9", 1, "conv9"),
        ("lenet:conv1", 1, "unknown"),
        ("resnet18:conv1", 0, "0"),
        ("mttkrp:netflix", 2, "no batch"),
    ],
)
def test_errors_say_what_there_is(name: str, batch: int, found: str):
    with pytest.raises(TilewrightError) as error:
        layer(name, batch)
    assert found in error.value.found


@pytest.mark.skipif(not SHAPES.exists(), reason="no reference data")
def test_tables_hold_every_shape_of_the_reference():
    data = json.loads(SHAPES.read_text())
    tables = {
        "resnet18_batch16_graph": ("resnet18", 16),
        "resnet50_graph": ("resnet50", 1),
        "alexnet_graph": ("alexnet", 1),
        "deepbench_graph": ("deepbench", 1),
        "Inceptionv3": ("inception_v3", 1),
    }
    for source, (network, batch) in tables.items():
        ours = {tuple(sorted(zip(p.dims, p.bounds, strict=True))) for _, p, _ in layers(network, batch)}
        rows = [row for row in data if row["network"] == source and not row["name"].endswith(".pad")]
        assert rows
        assert {tuple(sorted(row["dims"].items())) for row in rows} <= ours

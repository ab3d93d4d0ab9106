"""The model's numbers from accelerator descriptions are those of SoMa's presets."""

import re

import pytest

from tilewright.costs.dram.platform import model_of
from tilewright.costs.soma import hardware
from tilewright.errors import TilewrightError
from tilewright.frontends.acg import load_target, parse_target, target_files


@pytest.mark.parametrize(("name", "sizes"), [("edge16", (8, 1, 4, 256, 512)), ("cloud128", (32, 1, 4, 512, 4096))])
def test_presets(name: str, sizes: tuple[int, int, int, int, int]):
    model, machine = model_of(load_target(name)), hardware(*sizes)
    assert model.array == machine.array
    assert model.buffer_bytes == machine.buffer_bytes
    assert model.bandwidth == machine.dram_bandwidth
    assert model.write_port == sizes[3]
    assert model.exact == 1
    assert model_of(load_target(name), exact=False).exact == 0


def test_latency_of_transfers():
    text = target_files()["cloud128"].read_text()
    slow = parse_target(re.sub(r"GBUF \{ bandwidth 128;", "GBUF { bandwidth 128; latency 70;", text), "slow")
    assert model_of(slow).latency == 70
    assert model_of(slow, exact=False).latency == 0


def test_the_buffer_is_the_memory_of_results_not_the_larger_one_of_weights():
    memories = {memory.name: memory.capacity_bytes for memory in load_target("cocco_npu").memories}
    assert model_of(load_target("cocco_npu")).buffer_bytes == memories["GBUF"] < memories["WBUF"]


@pytest.mark.parametrize("name", ["tiny", "tpu_like", "conventional", "edge16:DRAM.bandwidth=1.5"])
def test_other_machines_are_refused(name: str):
    with pytest.raises(TilewrightError) as raised:
        model_of(load_target(name))
    assert raised.value.kind == "target"

"""Places of weights of groups that follow each other."""

from dataclasses import replace

from tilewright.frontends.acg import load_target
from tilewright.passes.nest_to_codelet.fused_weights import WeightRoom

MEMORY = replace(next(m for m in load_target("cocco_npu").memories if m.name == "WBUF"), depth=8, banks=16)


def test_the_next_group_goes_on_where_the_last_ended():
    assert (MEMORY.capacity_bytes, MEMORY.align_bytes) == (128, 8)
    room = WeightRoom()
    assert room.place(MEMORY, [10, 24]) == [0, 16]
    room.used = {"WBUF": [(0, 16), (16, 40)]}
    assert room.place(MEMORY, [40, 48, 30]) == [40, 80, 0]
    assert room.is_free("WBUF", 40, 88)
    assert not room.is_free("WBUF", 8, 8)
    assert room.is_free("GBUF", 0, 8)


def test_what_fits_only_from_the_beginning_begins_there():
    room = WeightRoom({"WBUF": [(0, 40)]})
    assert room.place(MEMORY, [64, 64]) == [0, 64]
    assert room.place(MEMORY, [64, 65]) is None
    assert WeightRoom({"WBUF": [(0, 128)]}).place(MEMORY, [100, 24]) == [0, 104]
    assert WeightRoom({"WBUF": [(64, 128)]}).place(MEMORY, [128, 8]) is None

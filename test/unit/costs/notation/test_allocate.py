"""Addresses by lifetimes: never two in one byte; whole where an order of placing fits, else in parts."""

from random import Random

from tilewright.costs.notation import Item, Parts, pack_items, spans_of


def overlaps(items: dict[int, Item], parts: dict[int, Parts]) -> int:
    """Bytes that two tensors hold at the same time, counted byte by byte."""
    held: dict[tuple[int, int], int] = {}
    twice = 0
    for key, item in items.items():
        for low, high in spans_of(item, parts[key]):
            for byte in range(low, high):
                for position in range(item.start, item.end):
                    twice += (byte, position) in held
                    held[byte, position] = key
    return twice


def test_random_items_share_no_byte():
    random = Random(1)
    cut = 0
    for _ in range(60):
        items: dict[int, Item] = {}
        for key in range(random.randint(8, 24)):
            start, slabs = random.randint(-1, 8), random.choice((4, 16, 16))
            items[key] = Item(start, start + random.randint(1, 5), slabs * random.randint(1, 6), slabs)
        need = pack_items(items, 1 << 20, 1).need_bytes
        packing = pack_items(items, need, 1)
        if packing.missing_bytes:
            continue
        assert packing.top_bytes <= need
        assert overlaps(items, packing.parts) == 0
        cut += any(len(parts) > 1 for parts in packing.parts.values())
    assert cut > 0


def test_an_item_between_two_gaps_is_cut():
    """Three quarters are taken in the middle of its life from both ends: only parts fit."""
    items = {0: Item(0, 2, 40), 1: Item(0, 4, 20), 2: Item(0, 2, 40), 3: Item(2, 4, 80, 8)}
    packing = pack_items(items, 100, 1)
    assert packing.missing_bytes == 0
    assert overlaps(items, packing.parts) == 0


def test_what_does_not_fit_is_told():
    packing = pack_items({0: Item(0, 2, 60), 1: Item(1, 3, 60, 6)}, 100, 1)
    assert packing.need_bytes == 120
    assert packing.missing_bytes == 20
    assert packing.worst == 1


def test_alignment():
    items = {0: Item(0, 2, 10), 1: Item(0, 2, 70), 2: Item(1, 2, 1)}
    packing = pack_items(items, 1024, 64)
    assert all(part.address % 64 == 0 for parts in packing.parts.values() for part in parts)
    assert packing.top_bytes == 64 + 128 + 64

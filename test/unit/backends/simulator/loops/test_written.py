"""What may be read when: stores of groups before, as ranges of bytes."""

from tilewright.backends.simulator.loops.reach import MOST, Written


def test_reads_wait_for_the_last_store_to_the_same_bytes():
    written = Written()
    written.add(0, 64, 10)
    written.add(32, 128, 25)
    assert [written.ready(*r) for r in ((0, 32), (40, 41), (64, 65), (128, 200))] == [10, 25, 25, 0]


def test_many_stores_are_remembered_as_one():
    written = Written()
    for number in range(3 * MOST):
        written.add(number, number + 1, number + 1)
    assert len(written.ranges) <= MOST
    assert written.ready(0, 1) >= 1
    assert written.ready(3 * MOST - 1, 3 * MOST) == 3 * MOST

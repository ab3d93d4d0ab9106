"""The compiled mesh is that of the reference, and never stands still while packets are under way."""

import random

import pytest

from tilewright.costs.noc import Mesh
from tilewright.errors import TilewrightError

from .by_flits import reference
from .traffic import Packet, run_traffic


def random_case(rng: random.Random) -> tuple[Mesh, list[Packet]]:
    mesh = Mesh(
        rng.randint(1, 5), rng.randint(1, 4), queue_flits=rng.choice([1, 2, 4]), router_cycles=rng.choice([1, 1, 2, 3])
    )
    hub, nodes = rng.randrange(mesh.nodes), range(mesh.nodes)
    packets: list[Packet] = []
    for _ in range(rng.randint(1, 30)):
        flits, release = rng.choice([1, 2, 5, 9]), rng.choice([0, 0, rng.randrange(60)])
        several = tuple(sorted(rng.sample(nodes, rng.randint(1, mesh.nodes))))
        ends = rng.choice([((hub,), several), (several, (hub,)), ((rng.choice(nodes),), (rng.choice(nodes),))])
        packets.append(Packet(*ends, flits, release))
    return mesh, packets


@pytest.mark.parametrize("seed", range(10))
def test_equal_to_the_reference(seed: int):
    rng = random.Random(seed)
    for case in range(50):
        mesh, packets = random_case(rng)
        run = run_traffic(mesh, packets)
        assert (list(run.done), run.hops) == reference(mesh, packets), (seed, case)


def test_a_packet_takes_its_flits_and_its_way():
    """5 flits over 3 + 2 links: the last leaves at cycle 4 and is out of the sixth router 6 cycles later."""
    mesh = Mesh(4, 3)
    assert run_traffic(mesh, [Packet((0,), (3 + 2 * 4,), 5)]).cycles == 4 + 5 + 1
    assert run_traffic(Mesh(4, 3, router_cycles=2), [Packet((0,), (3 + 2 * 4,), 5)]).cycles == 4 + 2 * 5 + 1


def test_copies_share_links_and_sums_too():
    mesh, all_others = Mesh(3, 3), tuple(range(1, 9))
    for packet in (Packet((0,), all_others, 6), Packet(all_others, (0,), 6)):
        assert run_traffic(mesh, [packet]).hops == 6 * 8
    apart = [Packet((0,), (node,), 6) for node in all_others]
    assert run_traffic(mesh, apart).hops == 6 * 2 * (1 + 2 + 3 + 2 + 1) == 6 * 18


def test_a_link_carries_a_flit_a_cycle():
    packets = [Packet((0,), (1,), 10) for _ in range(20)]
    assert run_traffic(Mesh(2, 1), packets).cycles == 200 + 1


def test_a_full_queue_holds_its_neighbour():
    """Two streams that meet at the last link share it; with one place a flit moves on every other cycle."""
    packets = [Packet((0,), (2,), 40), Packet((4,), (2,), 40)]
    assert run_traffic(Mesh(5, 1), packets).cycles <= 2 * 40 + 4
    assert run_traffic(Mesh(3, 1, queue_flits=1), packets[:1]).cycles == 2 * 39 + 3


@pytest.mark.parametrize("seed", range(6))
def test_no_traffic_blocks_itself(seed: int):
    """Crowded: small queues, long packets, copies, sums and others at once; `run_traffic` fails if all stand still."""
    rng = random.Random(f"crowd {seed}")
    mesh = Mesh(rng.randint(3, 8), rng.randint(3, 8), queue_flits=rng.choice([1, 2]))
    hub, nodes = rng.randrange(mesh.nodes), range(mesh.nodes)
    packets: list[Packet] = []
    for _ in range(1500):
        several = tuple(sorted(rng.sample(nodes, rng.randint(2, mesh.nodes))))
        ends = rng.choice([((hub,), several), (several, (hub,)), ((rng.choice(nodes),), (rng.choice(nodes),))])
        packets.append(Packet(*ends, rng.choice([1, 7, 30])))
    assert min(run_traffic(mesh, packets).done) > 0


@pytest.mark.parametrize(
    "packets",
    [
        [Packet((0, 1), (2, 3), 1)],
        [Packet((0,), (9,), 1)],
        [Packet((0,), (1,), 0)],
        [Packet((0,), (1, 2), 1), Packet((1,), (0, 2), 1)],
        [Packet((0,), (1, 2), 1), Packet((0, 2), (1,), 1)],
    ],
)
def test_packets_that_could_block_each_other_are_refused(packets: list[Packet]):
    with pytest.raises(TilewrightError) as error:
        run_traffic(Mesh(2, 2), packets)
    assert error.value.kind == "noc"

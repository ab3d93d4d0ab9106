from dataclasses import replace

from tilewright.costs.hierarchy import Architecture, Level, LevelMapping, Loop, LoopMapping, Problem, Tensor

PROBLEM = Problem(
    "sddmm",
    ("i", "j", "k"),
    (4, 6, 2),
    (
        Tensor("A", ((1, 0, 0), (0, 1, 0))),
        Tensor("O", ((1, 0, 0), (0, 1, 0)), is_output=True),
        Tensor("B", ((1, 0, 0), (0, 0, 1))),
        Tensor("C", ((0, 0, 1), (0, 1, 0))),
    ),
)
ARCH = Architecture(
    "two", (Level("Reg", 1, 8, 4, 1, 1.0, holds=("W",)), Level("DRAM", None, 1, 1, 1, 100.0)), "MAC", 8, 4, 1.0
)


def test_the_first_input_is_the_machines_first_and_all_others_its_second() -> None:
    assert ARCH.roles(PROBLEM) == ("I", "O", "W", "W")
    assert ARCH.may_hold(0, PROBLEM) == (False, False, True, True)
    assert ARCH.may_hold(1, PROBLEM) == (True, True, True, True)


def test_a_role_that_is_given_counts() -> None:
    first, *rest = PROBLEM.tensors
    swapped = replace(PROBLEM, tensors=(replace(first, role="W"), *rest))
    assert ARCH.roles(swapped) == ("W", "O", "W", "W")


def test_fan_out_and_tiles() -> None:
    assert ARCH.fan_out(0) == (1, 1)
    assert ARCH.fan_out(1) == (4, 2)
    mapping = LoopMapping(
        (LevelMapping((Loop(2, 2),)), LevelMapping((Loop(0, 4), Loop(1, 2)), spatial_x=(Loop(1, 3),)))
    )
    assert mapping.tiles(3) == (((1, 1, 1), (1, 1, 2)), ((1, 3, 2), (4, 6, 2)))


def test_roles_that_a_machine_does_not_know() -> None:
    """The names of Timeloop's layers on a machine whose operands are O, X and W: inputs take what is free."""
    tensors = (
        Tensor("Weights", ((1,),), role="W"),
        Tensor("Inputs", ((1,),), role="I"),
        Tensor("Outputs", ((1,),), True, role="O"),
    )
    machine = replace(ARCH, operands=("O", "X", "W"))
    assert machine.roles(Problem("p", ("a",), (4,), tensors)) == ("W", "X", "O")

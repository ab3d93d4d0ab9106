"""What `tilewright run` prints of a mapping that ran."""

from __future__ import annotations

from typing import Any

from .run_rows import cost_rows, end_rows, error_rows
from .tables import energy, number, print_table, share

COUNTS = ("reads", "fills", "updates")


def show_mapped(answer: dict[str, Any]) -> None:
    """The loop nest, the run as a whole, and words of each memory and tensor beside the cost model's."""
    print(f"{answer['kernel']} on {answer['target']}\n")
    print(answer["loops"])
    (units, used), *_ = answer["utilization"].items()
    rows = [
        *cost_rows(answer),
        ["steps", number(answer["counts"]["steps"])],
        [f"{units} used", share(used)],
        *error_rows(answer),
        ["as the cost model says", "yes" if answer["model"]["equal"] else "no"],
        *_device_rows(answer),
        *_mesh_rows(answer),
        *end_rows(answer),
    ]
    print_table("Run", ["what", "value"], rows)
    counted, modelled = answer["counts"]["memories"], answer["model"]["memories"]
    rows = [
        [memory, tensor, *(_beside(words[key], modelled[memory]["tensors"][tensor][key]) for key in COUNTS)]
        for memory, found in reversed(counted.items())
        for tensor, words in found["tensors"].items()
    ]
    print_table("Words", ["memory", "tensor", *COUNTS], rows)
    rows = [
        [memory, energy(found["energy_pj"]), *(number(words) for words in found["network_words"].values())]
        for memory, found in reversed(counted.items())
    ]
    tensors = next(iter(counted.values()))["network_words"]
    print_table("Memories", ["memory", "energy", *(f"{name} on the network below" for name in tensors)], rows)


def _device_rows(answer: dict[str, Any]) -> list[list[str]]:
    """What a device computed, on machines of threads."""
    if (found := answer.get("executed")) is None:
        return []
    if "missing" in found:
        return [["kernel", f"not run: no {found['missing']}; {found['install']}"]]
    equal = "equal in all bits" if found["equal"] else "agrees" if found["agrees"] else "differs"
    return [["kernel ran on", found["device"]], ["its output", f"{equal}, error {found['max_rel_error']:.3g}"]]


def _beside(counted: int, modelled: int) -> str:
    return number(counted) if counted == modelled else f"{number(counted)} (model: {number(modelled)})"


def _mesh_rows(answer: dict[str, Any]) -> list[list[str]]:
    """The run on the mesh, where there is one."""
    if (mesh := answer.get("noc")) is None:
        return []
    more = f"{100 * (mesh['cycles'] / answer['cycles'] - 1):+.1f} %"
    return [
        ["latency on the mesh", f"{number(mesh['cycles'], 'cycles')} ({more})"],
        ["its bound", mesh["bound_by"]],
        ["flits sent, received", f"{number(mesh['sent_flits'])}, {number(mesh['received_flits'])}"],
        ["links passed", number(mesh["hops"])],
        ["energy of links, of tags", f"{energy(mesh['hop_energy_pj'])}, {energy(mesh['tag_energy_pj'])}"],
    ]

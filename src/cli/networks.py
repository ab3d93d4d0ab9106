"""List the networks that have a name."""

import argparse
from typing import Any

from .tables import number, print_table


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--only", choices=["schedule", "partition"], help="only those of one comparison")


def execute(arguments: argparse.Namespace) -> dict[str, Any]:
    from ..costs.fusion import layer_graph
    from ..zoo.paper_networks import COCCO_NAMES, NAMES, network
    from ..zoo.schedule_networks import NAMES as SCHEDULE_NAMES

    wanted = {"schedule": SCHEDULE_NAMES, "partition": COCCO_NAMES, None: NAMES}[arguments.only]
    rows: list[dict[str, Any]] = []
    for name in sorted(wanted):
        graph = layer_graph(network(name))
        rows.append(
            {
                "name": name,
                "layers": len(graph),
                "weight_bytes": sum(layer.weight_bytes for layer in graph.layers),
                "macs": sum(layer.macs for layer in graph.layers if layer.reduction > 1 or layer.weight_bytes),
                "feature_bytes": sum(layer.output_bytes for layer in graph.layers),
                "inputs": {given.name: list(given.shape) for given in graph.inputs},
            }
        )
    return {"networks": rows}


def show(answer: dict[str, Any]) -> None:
    rows = [
        [
            row["name"],
            str(row["layers"]),
            number(row["weight_bytes"], "B"),
            number(row["feature_bytes"], "B"),
            number(row["macs"]),
            ", ".join("x".join(map(str, shape)) for shape in row["inputs"].values()),
        ]
        for row in answer["networks"]
    ]
    print_table(
        "Networks (one byte per element)", ["name", "layers", "weights", "feature maps", "MACs", "inputs"], rows
    )

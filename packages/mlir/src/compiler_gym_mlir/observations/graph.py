# SPDX-License-Identifier: MIT
"""Represent the operations of a payload and the values between them as nodes and edges."""

from typing import Any

from compiler_gym_mlir.state.operations import read_tag
from compiler_gym_mlir.toolchain.bindings import load

__all__ = ["make_graph"]


def make_graph(module: Any) -> dict[str, list[dict[str, Any]]]:
    """Return nodes (``text``, ``kind``, ``tag``) and edges (``source``, ``target``, ``flow``,
    ``position``): control goes from a loop to its contents, data from the producer of a value to
    its users."""
    nodes: list[dict[str, Any]] = []
    edges: list[dict[str, Any]] = []
    numbers: dict[Any, int] = {}
    with load().context:
        _visit(module.body.operations[0].operation, None, nodes, edges, numbers)
    return {"nodes": nodes, "edges": edges}


def _visit(
    operation: Any,
    parent: int | None,
    nodes: list[dict[str, Any]],
    edges: list[dict[str, Any]],
    numbers: dict[Any, int],
) -> None:
    number = len(nodes)
    nodes.append({"text": operation.name, "kind": "operation", "tag": read_tag(operation)})
    if parent is not None:
        edges.append({"source": parent, "target": number, "flow": "control", "position": 0})
    for position, operand in enumerate(operation.operands):
        if operand in numbers:
            edges.append(
                {"source": numbers[operand], "target": number, "flow": "data", "position": position}
            )
    for result in operation.results:
        numbers[result] = _value_node(result, number, nodes, edges)
    if operation.name.startswith("linalg."):
        return
    for region in operation.regions:
        for block in region.blocks:
            for argument in block.arguments:
                numbers[argument] = _value_node(argument, number, nodes, edges)
            for inner in block.operations:
                _visit(inner.operation, number, nodes, edges, numbers)


def _value_node(
    value: Any, producer: int, nodes: list[dict[str, Any]], edges: list[dict[str, Any]]
) -> int:
    number = len(nodes)
    nodes.append({"text": str(value.type), "kind": "value", "tag": ""})
    edges.append({"source": producer, "target": number, "flow": "data", "position": 0})
    return number

# SPDX-License-Identifier: MIT
"""The operations of a payload and the values between them, as nodes and edges."""

from typing import Any

from compiler_gym.envs.mlir.state.operations import read_tag
from compiler_gym.envs.mlir.toolchain.bindings import load

__all__ = ["make_graph"]


def make_graph(module: Any) -> dict[str, list[dict[str, Any]]]:
    """Return nodes (``text``, ``kind``, ``tag``) and edges (``source``, ``target``, ``flow``,
    ``position``): control goes from a loop to what is in it, data from what makes a value to what
    takes it."""
    nodes: list[dict[str, Any]] = []
    edges: list[dict[str, Any]] = []
    made: dict[Any, int] = {}
    with load().context:
        _visit(module.body.operations[0].operation, None, nodes, edges, made)
    return {"nodes": nodes, "edges": edges}


def _visit(
    operation: Any,
    parent: int | None,
    nodes: list[dict[str, Any]],
    edges: list[dict[str, Any]],
    made: dict[Any, int],
) -> None:
    number = len(nodes)
    nodes.append({"text": operation.name, "kind": "operation", "tag": read_tag(operation)})
    if parent is not None:
        edges.append({"source": parent, "target": number, "flow": "control", "position": 0})
    for position, operand in enumerate(operation.operands):
        if operand in made:
            edges.append(
                {"source": made[operand], "target": number, "flow": "data", "position": position}
            )
    for result in operation.results:
        made[result] = _value_node(result, number, nodes, edges)
    if operation.name.startswith("linalg."):
        return
    for region in operation.regions:
        for block in region.blocks:
            for argument in block.arguments:
                made[argument] = _value_node(argument, number, nodes, edges)
            for inner in block.operations:
                _visit(inner.operation, number, nodes, edges, made)


def _value_node(
    value: Any, maker: int, nodes: list[dict[str, Any]], edges: list[dict[str, Any]]
) -> int:
    number = len(nodes)
    nodes.append({"text": str(value.type), "kind": "value", "tag": ""})
    edges.append({"source": maker, "target": number, "flow": "data", "position": 0})
    return number

# SPDX-License-Identifier: MIT
"""Lower a loop tree to the shortest code: one copy of each loop, with computed bounds.

For trees with deeply nested tails, whose code would double with each level. The code is slow,
keeps values in memory and uses one thread; the results are the same.
"""

from collections.abc import Mapping

from compiler_gym_loop_tool.state.program import Access, Expression
from compiler_gym_loop_tool.toolchain.code.arithmetic import combine, number, operate
from compiler_gym_loop_tool.toolchain.code.plan import LoopPlan, Nest
from compiler_gym_loop_tool.toolchain.code.text import Function

__all__ = ["write_plain"]

_Ranges = Mapping[str, tuple[str, str]]
"""The start and the extent of each dimension's range: registers, or numbers."""


def write_plain(plan: LoopPlan, function: Function, tensors: Mapping[str, str]) -> None:
    """Write the nests of `plan` in `function`; `tensors` are the names of pointers."""
    ranges = {dim: ("0", str(size)) for dim, size in plan.program.dims.items()}
    for node in plan.roots:
        _node(plan, function, tensors, node, ranges)


def _node(
    plan: LoopPlan,
    function: Function,
    tensors: Mapping[str, str],
    node: Nest | int,
    ranges: _Ranges,
) -> None:
    if isinstance(node, int):
        _statement(plan, function, tensors, node, ranges)
        return
    begin, extent = ranges[node.dim]
    above = function.set(f"add i64 {extent}, {node.step - 1}")
    iterations = function.set(f"udiv i64 {above}, {node.step}")
    with function.loop(iterations) as counter:
        offset = function.set(f"mul i64 {counter}, {node.step}")
        first = function.set(f"add i64 {begin}, {offset}")
        remaining = function.set(f"sub i64 {extent}, {offset}")
        is_tail = function.set(f"icmp ult i64 {remaining}, {node.step}")
        covered = function.set(f"select i1 {is_tail}, i64 {remaining}, i64 {node.step}")
        for child in node.body:
            _node(plan, function, tensors, child, {**ranges, node.dim: (first, covered)})


def _statement(
    plan: LoopPlan, function: Function, tensors: Mapping[str, str], leaf: int, ranges: _Ranges
) -> None:
    statement = plan.program.statements[leaf]

    def pointer(access: Access) -> str:
        at = "0"
        for dim, stride in access.strides:
            distance = function.set(f"mul i64 {ranges[dim][0]}, {stride}")
            at = function.set(f"add i64 {at}, {distance}")
        return function.set(f"getelementptr float, ptr {tensors[access.tensor]}, i64 {at}")

    def evaluate(value: Expression) -> str:
        if isinstance(value, Access):
            return function.set(f"load float, ptr {pointer(value)}, align 4")
        if isinstance(value, float | int):
            return number(value)
        return operate(function, value.op, [evaluate(part) for part in value.operands], 1)

    result, out = evaluate(statement.value), pointer(statement.out)
    if statement.reduction:
        total = function.set(f"load float, ptr {out}, align 4")
        result = combine(function, statement.reduction, total, result, 1)
    function.add(f"store float {result}, ptr {out}, align 4")

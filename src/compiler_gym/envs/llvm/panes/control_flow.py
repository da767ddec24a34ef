# SPDX-License-Identifier: MIT
"""The blocks of a function and their successors, read from its text.

In IR text, ``label`` precedes a block's name only in terminators, so no further parsing is needed.
"""

import re
from collections.abc import Iterator, Sequence
from typing import Any

from compiler_gym.core import PaneEdge, PaneGraph, PaneNode

__all__ = ["control_flow"]

_LABEL_NAME = r'(?:"[^"]*"|[-\w.$]+)'
_LABEL = re.compile(rf"^({_LABEL_NAME}):")
_GOES_TO = re.compile(rf"\blabel %({_LABEL_NAME})")
_CONDITION = re.compile(rf"^\s*br i1 [^,]+, label %({_LABEL_NAME}), label %({_LABEL_NAME})")
_VALUE = re.compile(r"[%!#]\d+")
_QUOTED_STRING = re.compile(r'"[^"]*"')
_ARGUMENTS = re.compile(r"%\d+(?=[,)])")
_MOST_LINES, _MOST_LETTERS = 12, 60


def control_flow(values: Sequence[Any], function: str) -> PaneGraph:
    """Return a node for each block of the function with the text ``values[0]``, in order."""
    blocks = list(_blocks(values[0]))
    names = {name for name, _ in blocks}
    nodes = tuple(
        PaneNode(
            id=name,
            label=_write_block(name, lines),
            kind=_edge_kind(lines, is_entry=index == 0),
            function=function,
            digest="\n".join(_VALUE.sub("%", line) for line in lines),
            weight=float(len(lines)),
        )
        for index, (name, lines) in enumerate(blocks)
    )
    edges = tuple(
        PaneEdge(name, target, label)
        for name, lines in blocks
        for target, label in _targets(lines)
        if target in names
    )
    return PaneGraph(nodes, edges)


def _blocks(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each block and its instructions, without comments on predecessors."""
    head, _, body = text.partition("\n")
    name, lines = "", list[str]()
    for line in body.split("\n"):
        if line.startswith("}"):
            break
        match = _LABEL.match(line)
        if match:
            if lines:
                yield name or _entry(head), lines
            name, lines = match[1], []
        elif line.strip():
            lines.append(line.partition(" ; preds")[0].strip())
    if lines:
        yield name or _entry(head), lines


def _entry(head: str) -> str:
    """Return the number of an unnamed first block: the one after the last argument's number."""
    numbers = [int(value[1:]) for value in _ARGUMENTS.findall(_QUOTED_STRING.sub("", head))]
    return str(max(numbers, default=-1) + 1)


def _targets(lines: list[str]) -> list[tuple[str, str]]:
    """Return the distinct successors of the block, each with its branch condition."""
    if match := _CONDITION.match(lines[-1]):
        return [(match[1], "true"), (match[2], "false")]
    cases = dict.fromkeys(name for line in lines for name in _GOES_TO.findall(line))
    return [(name, "") for name in cases]


def _edge_kind(lines: list[str], *, is_entry: bool) -> str:
    if is_entry:
        return "entry"
    ends = lines[-1].startswith(("ret", "unreachable", "resume"))
    return "exit" if ends else "block"


def _write_block(name: str, lines: list[str]) -> str:
    """Return the block's name and its first instructions."""
    shown = [line if len(line) <= _MOST_LETTERS else f"{line[:_MOST_LETTERS]}…" for line in lines]
    if len(shown) > _MOST_LINES:
        shown[_MOST_LINES - 2 : -1] = [f"… {len(shown) - _MOST_LINES + 1} more"]
    return "\n".join([f"{name}:", *shown])

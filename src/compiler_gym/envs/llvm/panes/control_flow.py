# SPDX-License-Identifier: MIT
"""The blocks of a function and where each goes on, read from its text.

``label`` stands before a block's name in terminators only, so that the text says it all.
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
    """Return a node for each block of the function whose text is given, in order."""
    blocks = list(_blocks(values[0]))
    known = {name for name, _ in blocks}
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
        if target in known
    )
    return PaneGraph(nodes, edges)


def _blocks(text: str) -> Iterator[tuple[str, list[str]]]:
    """Yield the name of each block and its instructions, without what is no part of them."""
    head, _, body = text.partition("\n")
    name, lines = "", list[str]()
    for line in body.split("\n"):
        if line.startswith("}"):
            break
        found = _LABEL.match(line)
        if found:
            if lines:
                yield name or _entry(head), lines
            name, lines = found[1], []
        elif line.strip():
            lines.append(line.partition(" ; preds")[0].strip())
    if lines:
        yield name or _entry(head), lines


def _entry(head: str) -> str:
    """Return the number of a first block without a name: that after the last argument's."""
    numbers = [int(found[1:]) for found in _ARGUMENTS.findall(_QUOTED_STRING.sub("", head))]
    return str(max(numbers, default=-1) + 1)


def _targets(lines: list[str]) -> list[tuple[str, str]]:
    """Return where the block goes on, each once, and under which condition."""
    if found := _CONDITION.match(lines[-1]):
        return [(found[1], "true"), (found[2], "false")]
    cases = dict.fromkeys(name for line in lines for name in _GOES_TO.findall(line))
    return [(name, "") for name in cases]


def _edge_kind(lines: list[str], *, is_entry: bool) -> str:
    if is_entry:
        return "entry"
    ends = lines[-1].startswith(("ret", "unreachable", "resume"))
    return "exit" if ends else "block"


def _write_block(name: str, lines: list[str]) -> str:
    """Return the first instructions under the block's name."""
    kept = [line if len(line) <= _MOST_LETTERS else f"{line[:_MOST_LETTERS]}…" for line in lines]
    if len(kept) > _MOST_LINES:
        kept[_MOST_LINES - 2 : -1] = [f"… {len(kept) - _MOST_LINES + 1} more"]
    return "\n".join([f"{name}:", *kept])

# SPDX-License-Identifier: MIT
"""Plant errors in IR, to measure what the validators see.

Every edit is one line of text and keeps the module valid IR: it does what a
miscompiling pass would do, and nothing a verifier could object to. Which line is
edited is drawn by a seed.
"""

import random
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

__all__ = ["KINDS", "Edit", "plant"]

_PREDICATES = {
    "eq": "ne", "ne": "eq", "slt": "sge", "sge": "slt", "sgt": "sle", "sle": "sgt",
    "ult": "uge", "uge": "ult", "ugt": "ule", "ule": "ugt", "oeq": "une", "une": "oeq",
    "olt": "uge", "ogt": "ule", "ole": "ugt", "oge": "ult",
}  # fmt: skip
_COMPARE = re.compile(rf"^(.* = [if]cmp (?:\w+ )*?)({'|'.join(_PREDICATES)})( .*)$")
_OPERANDS = re.compile(
    r"^(.* = (?:sub|shl|lshr|ashr|sdiv|udiv|srem|urem|fsub|fdiv)(?: \w+)* [\w<> ]+ )"
    r"([^\s,]+), ([^\s,]+)(.*)$"
)
_ARMS = re.compile(r"^(.* = select i1 \S+, )([^,()]+), ([^,()]+)((?:, !.*)?)$")
_STORE = re.compile(r"^  store [^(]*$")
_CONSTANT = re.compile(
    r"^(.* = (?:add|sub|mul|and|or|xor|shl|lshr|ashr|icmp)(?: \w+)* i(?:8|16|32|64) \S+, )"
    r"(-?\d+)(.*)$"
)
_BRANCH = re.compile(r"^(  br i1 )(%\S+)(, label .*)$")


def _flip(line: str) -> str | None:
    found = _COMPARE.match(line)
    return f"{found[1]}{_PREDICATES[found[2]]}{found[3]}" if found else None


def _swap(line: str) -> str | None:
    found = _OPERANDS.match(line)
    if found is None:
        found = _ARMS.match(line)
    if found is None or found[2] == found[3]:
        return None
    return f"{found[1]}{found[3]}, {found[2]}{found[4]}"


def _drop(line: str) -> str | None:
    return "" if _STORE.match(line) and "volatile" not in line else None


def _shift(line: str) -> str | None:
    found = _CONSTANT.match(line)
    if found is None or (" icmp " not in line and int(found[2]) in (31, 63, 7, 15)):
        return None  # a shift by the whole width is poison, not a wrong number
    number = int(found[2])
    return f"{found[1]}{number - 1 if number in (127, 32767, 2**31 - 1) else number + 1}{found[3]}"


def _remove(line: str) -> str | None:
    found = _BRANCH.match(line)
    return f"{found[1]}true{found[3]}" if found else None


KINDS: dict[str, Callable[[str], str | None]] = {
    "flipped predicate": _flip,
    "swapped operands": _swap,
    "dropped store": _drop,
    "off-by-one constant": _shift,
    "removed branch": _remove,
}
"""Every kind of edit: what it makes of a line, or None where it does not apply."""


@dataclass(frozen=True, slots=True)
class Edit:
    """One planted error."""

    kind: str
    function: str
    before: str
    after: str
    line: int
    text: str
    """The module with the error."""
    marked: str
    """The module that stops where the error would be: run it to see who gets there."""


def plant(ir: str, kind: str, seed: int) -> Edit | None:
    """Return `ir` with one error of `kind`, or None where it has no place for one."""
    lines = ir.splitlines()
    places = list(_places(lines, KINDS[kind]))
    if not places:
        return None
    line, function, after = random.Random(f"{seed} {kind}").choice(places)
    changed = [*lines[:line], *([after] if after else []), *lines[line + 1 :]]
    trap = '  call void asm sideeffect "ud2", ""()'
    marked = [*lines[:line], trap, *lines[line:]]
    return Edit(kind, function, lines[line].strip(), after.strip(), line + 1,
                "\n".join(changed) + "\n", "\n".join(marked) + "\n")  # fmt: skip


def _places(lines: list[str], edit: Callable[[str], str | None]) -> Iterator[tuple[int, str, str]]:
    function = ""
    for number, line in enumerate(lines):
        if line.startswith("define "):
            function = line.partition("@")[2].partition("(")[0]
        elif line.startswith("}"):
            function = ""
        elif function:
            after = edit(line)
            if after is not None:
                yield number, function, after

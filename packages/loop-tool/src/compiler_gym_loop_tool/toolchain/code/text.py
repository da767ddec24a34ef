# SPDX-License-Identifier: MIT
"""Write textual LLVM IR: names, blocks, and loops whose phis are added on use.

This module does not depend on trees or tensors.
"""

from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from typing import TypeAlias

__all__ = ["Accumulators", "Function", "vector"]

Key: TypeAlias = "tuple[object, ...]"
Lines: TypeAlias = "list[str | Lines]"


def vector(width: int, scalar: str = "float") -> str:
    """Return the type of a vector of `width` lanes; the scalar type for one lane."""
    return scalar if width == 1 else f"<{width} x {scalar}>"


@dataclass(slots=True, eq=False)
class _Frame:
    """A loop in progress."""

    phis: "Lines"
    before: str
    carried: list[tuple["Accumulators", Key, str, str]] = field(
        default_factory=list["tuple[Accumulators, Key, str, str]"]
    )


@dataclass(slots=True, eq=False)
class Accumulators:
    """Values that stay in registers in all loops that begin while this object is open."""

    start: "Lines"
    """The instructions before those loops."""
    types: dict[Key, str] = field(default_factory=dict[Key, str])
    values: dict[Key, str] = field(default_factory=dict[Key, str])
    frames: list[_Frame] = field(default_factory=list[_Frame])


@dataclass(slots=True)
class Function:
    """The body of one function of IR."""

    header: str
    """The first line, without the brace."""
    numbers: "count[int]" = field(default_factory=count)
    lines: "Lines" = field(default_factory=list["str | Lines"])
    prologue: "Lines" = field(default_factory=list["str | Lines"])
    """The instructions at the start of the function."""
    block: str = "entry"
    open: list[Accumulators] = field(default_factory=list[Accumulators])

    def __post_init__(self) -> None:
        self.lines.append(self.prologue)

    def name(self, stem: str) -> str:
        """Return an unused name."""
        return f"{stem}{next(self.numbers)}"

    def add(self, line: str) -> None:
        """Write an instruction."""
        self.lines.append(line)

    def set(self, value: str, stem: str = "%v") -> str:
        """Write an instruction with a result and return its name."""
        name = self.name(stem)
        self.lines.append(f"{name} = {value}")
        return name

    @contextmanager
    def loop(self, last: str, first: str = "0") -> Generator[str]:
        """Write a loop from `first` up to, but not including, `last`; yield its counter."""
        head, after, counter = self.name("head"), self.name("after"), self.name("%i")
        frame = _Frame([], self.block)
        self.lines += [f"br label %{head}", f"{head}:", frame.phis]
        self.block = head
        for accumulators in self.open:
            accumulators.frames.append(frame)
        yield counter
        following = self.set(f"add nuw nsw i64 {counter}, 1")
        more = self.set(f"icmp ult i64 {following}, {last}")
        latch = self.block
        self.lines += [f"br i1 {more}, label %{head}, label %{after}", f"{after}:"]
        self.block = after
        frame.phis.append(
            f"{counter} = phi i64 [{first}, %{frame.before}], [{following}, %{latch}]"
        )
        for accumulators, key, phi, start in frame.carried:
            frame.phis.append(
                f"{phi} = phi {accumulators.types[key]} [{start}, %{frame.before}], "
                f"[{accumulators.values[key]}, %{latch}]"
            )
        for accumulators in self.open:
            accumulators.frames.remove(frame)

    @contextmanager
    def accumulators(self) -> Generator[Accumulators]:
        """Keep values in registers until the end of the block."""
        start: Lines = []
        self.lines.append(start)
        opened = Accumulators(start)
        self.open.append(opened)
        yield opened
        self.open.remove(opened)

    def carry(self, accumulators: Accumulators, key: Key) -> str:
        """Return the current value of an accumulator, carried through every loop in progress."""
        value = accumulators.values[key]
        for frame in accumulators.frames:
            if not any(
                owner is accumulators and other == key for owner, other, _, _ in frame.carried
            ):
                phi = self.name("%acc")
                frame.carried.append((accumulators, key, phi, value))
                value = phi
        accumulators.values[key] = value
        return value

    def __str__(self) -> str:
        body = "\n".join(
            line if line.endswith(":") else f"  {line}" for line in _flatten(self.lines)
        )
        return f"{self.header} {{\nentry:\n{body}\n}}\n"


def _flatten(lines: "Lines") -> Iterator[str]:
    for line in lines:
        if isinstance(line, str):
            yield line
        else:
            yield from _flatten(line)

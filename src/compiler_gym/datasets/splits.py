# SPDX-License-Identifier: MIT
"""Which programs are to learn from and which to be judged by, so that none is near to both.

A package is of one split, by the digest of its name and nothing else: for ever, on every machine,
whatever other packages there are. A program of it is in that split, unless it shares a function
(without names and constants, of at least `SMALLEST` instructions) with a package of a split that
comes first: then it is in none. So what is learnt from never has a near duplicate of a function
that is judged by, and a package that is added later takes programs out of ``train``, but never
moves one there.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

__all__ = [
    "NO_SPLIT",
    "SMALLEST",
    "SPLITS",
    "FunctionShape",
    "SplitMember",
    "assign_splits",
    "cluster_digest",
    "split_of_package",
]

SPLITS = ("train", "validation", "test")
"""The splits of a corpus."""
NO_SPLIT = "shared"
"""The word for programs that share a function with a split that comes before theirs."""
SMALLEST = 20
"""Instructions, before any pass, from which a function counts: smaller ones are idioms that
everybody writes."""

_FIRST = ("test", "validation", "train", NO_SPLIT)
"""The splits by who keeps a function that several have: what is judged by loses nothing."""
_TEST, _VALIDATION = 0.15, 0.25
"""Where the shares of packages end: 15 % are to test, 10 % to validate, 75 % to train."""


class FunctionShape(msgspec.Struct, frozen=True, array_like=True):
    """A function of a program without its names and constants, as a compiler tells it."""

    shape: int
    """A number that near duplicates have in common."""
    instructions: int
    is_library: bool = False
    """True if it is the standard library's, of which each program that uses it has a copy."""

    @property
    def counts(self) -> bool:
        """True if another program that has it is a near duplicate in part."""
        return self.instructions >= SMALLEST and not self.is_library


@dataclass(frozen=True, slots=True)
class SplitMember:
    """What decides about the split of a program."""

    packages: tuple[str, ...]
    """The packages that it belongs to: an exact duplicate is in several."""
    cluster: bytes
    """What `cluster_digest` says of it."""
    shapes: Sequence[int]
    """Those of its functions that count."""


def split_of_package(name: str) -> str:
    """Return the split of all versions of the package `name`.

    >>> [split_of_package(name) for name in ("zlib", "m4", "grep")]
    ['train', 'validation', 'test']
    """
    digest = hashlib.sha256(b"split of a package, version 1: " + name.encode()).digest()
    place = int.from_bytes(digest[:8], "big") / 2**64
    return "test" if place < _TEST else "validation" if place < _VALIDATION else "train"


def cluster_digest(functions: Iterable[FunctionShape], contents: bytes) -> bytes:
    """Return 8 bytes that near duplicates among whole programs have in common.

    They have the same functions but for names and constants, in whatever order. A program without
    functions is like none but itself: the digest of its `contents`.
    """
    shapes = sorted(function.shape for function in functions)
    packed = b"".join(shape.to_bytes(8, "big", signed=True) for shape in shapes)
    return hashlib.sha256(packed or contents).digest()[:8]


def assign_splits(members: Sequence[SplitMember]) -> Iterator[str]:
    """Yield the split of each of `members`, or `NO_SPLIT`."""
    first: dict[int | bytes, int] = {}
    own = [min(_FIRST.index(split_of_package(name)) for name in one.packages) for one in members]
    for one, rank in zip(members, own, strict=True):
        for key in (one.cluster, *one.shapes):
            first[key] = min(first.get(key, rank), rank)
    for one, rank in zip(members, own, strict=True):
        is_near = any(first[key] < rank for key in (one.cluster, *one.shapes))
        yield NO_SPLIT if is_near else _FIRST[rank]

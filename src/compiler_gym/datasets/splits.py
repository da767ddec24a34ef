# SPDX-License-Identifier: MIT
"""Assignment of programs to train, validation and test splits without near duplicates.

The split of a package depends only on the digest of its name, so it is permanent, the same on
every machine, and independent of other packages. A program is in the split of its package, unless
it shares a function (ignoring names and constants, at least `SMALLEST` instructions long) with a
package of an earlier split (test, validation, train): then it is in none. So no training program
has a near duplicate of a test function, and adding a package later can remove programs from
``train``, but never moves one there.
"""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import msgspec

SPLITS = ("train", "validation", "test")
"""The splits of a corpus."""
NO_SPLIT = "shared"
"""The split name of programs that share a function with an earlier split than their own."""
SMALLEST = 20
"""The size of the smallest functions that are compared, in instructions before any pass: smaller
ones are common idioms."""

_FIRST = ("test", "validation", "train", NO_SPLIT)
"""The order in which splits keep a shared function: the test split loses nothing."""
_TEST, _VALIDATION = 0.15, 0.25
"""Cumulative shares of packages: 15 % test, 10 % validation, 75 % training."""


class FunctionShape(msgspec.Struct, frozen=True, array_like=True):
    """A function of a program, reduced by the compiler plug-in to a hash of its structure."""

    shape: int
    """A hash that ignores names and constants; near duplicates have the same."""
    instructions: int
    is_library: bool = False
    """True if it belongs to the standard library and is copied into each program that uses it."""

    @property
    def counts(self) -> bool:
        """True if programs that share it count as near duplicates."""
        return self.instructions >= SMALLEST and not self.is_library


@dataclass(frozen=True, slots=True)
class SplitMember:
    """The properties of a program that determine its split."""

    packages: tuple[str, ...]
    """The packages that contain it; exact duplicates belong to several."""
    cluster: bytes
    """Its `cluster_digest`."""
    shapes: Sequence[int]
    """The shapes of its functions that count."""


def split_of_package(name: str) -> str:
    """Return the split of all versions of the package `name`.

    >>> [split_of_package(name) for name in ("zlib", "m4", "grep")]
    ['train', 'validation', 'test']
    """
    digest = hashlib.sha256(b"split of a package, version 1: " + name.encode()).digest()
    fraction = int.from_bytes(digest[:8], "big") / 2**64
    return "test" if fraction < _TEST else "validation" if fraction < _VALIDATION else "train"


def cluster_digest(functions: Iterable[FunctionShape], contents: bytes) -> bytes:
    """Return 8 bytes that are equal for programs that are near duplicates as a whole.

    Near duplicates have the same functions in any order, ignoring names and constants. The digest
    of a program without functions is that of its `contents`.
    """
    shapes = sorted(function.shape for function in functions)
    packed = b"".join(shape.to_bytes(8, "big", signed=True) for shape in shapes)
    return hashlib.sha256(packed or contents).digest()[:8]


def assign_splits(members: Sequence[SplitMember]) -> Iterator[str]:
    """Yield the split of each member, or `NO_SPLIT`."""
    first: dict[int | bytes, int] = {}
    ranks = [min(_FIRST.index(split_of_package(name)) for name in m.packages) for m in members]
    for member, rank in zip(members, ranks, strict=True):
        for key in (member.cluster, *member.shapes):
            first[key] = min(first.get(key, rank), rank)
    for member, rank in zip(members, ranks, strict=True):
        is_near = any(first[key] < rank for key in (member.cluster, *member.shapes))
        yield NO_SPLIT if is_near else _FIRST[rank]

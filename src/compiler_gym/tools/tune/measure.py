# SPDX-License-Identifier: MIT
"""Which bytes of a linked file a search for size counts.

Users ship the stripped file, so all of its loaded bytes count by default: an option that moves
bytes from code to read-only data, or to unwind tables, wins nothing.
"""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from compiler_gym.builds import measure_sizes
from compiler_gym.errors import InvalidParameterError

__all__ = ["Measure", "columns", "sizes_by_measure"]

_LEVEL = 19
"""Of Zstandard: what packages are compressed with."""


class Measure(StrEnum):
    """What is counted of the stripped file.

    ``LOADED`` is the sum of the loadable segments: code, read-only data, data, relocations,
    unwind tables, and the headers and alignment between them. Page padding between segments,
    section headers and notes that are never loaded are not in it; they are in ``FILE``.

    >>> Measure.LOADED.key, Measure.FILE.key, Measure.TEXT.label
    ('loaded', 'total', 'Code')
    """

    key: str
    """Its name among the sizes of a plan."""
    label: str
    """The head of its column."""

    TEXT = "text", "text", "Code"
    LOADED = "loaded", "loaded", "Loaded"
    FILE = "file", "total", "File"
    COMPRESSED = "compressed", "compressed", "zstd -19"

    def __new__(cls, value: str, key: str = "", label: str = "") -> "Measure":
        """Return the member that is written as `value`."""
        made = str.__new__(cls, value)
        made._value_ = value
        made.key, made.label = key, label
        return made

    @classmethod
    def _missing_(cls, value: object) -> "Measure":
        raise InvalidParameterError(f"measure is {value!r}: expected one of {', '.join(cls)}")

    @property
    def with_symbols(self) -> "Measure":
        """What compares a stripped file with one that is not: neither counts symbols."""
        return self if self is Measure.TEXT else Measure.LOADED

    def of(self, path: Path) -> int:
        """Return the bytes of the file `path`; raise `ProjectError` where it is no ELF file."""
        if self is Measure.COMPRESSED:
            from compiler_gym.datasets.fetching import zstd

            return len(zstd.compress(path.read_bytes(), level=_LEVEL))
        return int(getattr(measure_sizes(path), self.key))


def sizes_by_measure(path: Path, measure: Measure) -> dict[str, int]:
    """Return the sizes of the file `path` by key; what takes time only where `measure` asks."""
    sizes = measure_sizes(path)
    found = {key: getattr(sizes, key) for key in ("text", "loaded", "total")}
    return found if measure.key in found else {**found, measure.key: measure.of(path)}


def columns(sizes: Mapping[str, Mapping[str, int]]) -> list[Measure]:
    """Return what a table of `sizes`, of each build by key, shows in its columns."""
    return [one for one in Measure if sizes and all(one.key in each for each in sizes.values())]

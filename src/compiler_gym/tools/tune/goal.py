# SPDX-License-Identifier: MIT
"""The goals of a tuning and the measures of size, and how their results are written.

Users ship the stripped file, so all of its loaded bytes count by default: an option that moves
bytes from code to read-only data or unwind tables gains nothing.
"""

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path

from compiler_gym.builds import measure_sizes
from compiler_gym.errors import InvalidParameterError

_LEVEL = 19
"""The compression level of Zstandard, as for packages."""


class Goal(StrEnum):
    """The goal of a tuning. Plans, JSON and the command line use its value.

    >>> Goal("speed").format_cost(0.25), Goal.SIZE.format_cost(1500)
    ('0.25 s', '1,500 bytes')
    """

    SIZE = "size"
    SPEED = "speed"

    @classmethod
    def _missing_(cls, value: object) -> "Goal":
        advice = "use " + " or ".join(cls)
        if value == "both":
            advice = "use size with --max-slowdown 0% to get a smaller program that is no slower"
        raise InvalidParameterError(f"no goal {value!r}: {advice}")

    @property
    def counts_bytes(self) -> bool:
        """True if bytes are measured, False if the time of the user's command is."""
        return self is Goal.SIZE

    @property
    def unit(self) -> str:
        """The unit of the measurements."""
        return "bytes" if self.counts_bytes else "s"

    @property
    def better(self) -> str:
        """The text between "found nothing" and "than" in reports without an improvement."""
        return "smaller" if self.counts_bytes else "significantly faster"

    def number(self, cost: float) -> str:
        """Return a cost as text, without its unit."""
        return f"{cost:,.0f}" if self.counts_bytes else f"{cost:,.4g}"

    def format_cost(self, cost: float) -> str:
        """Return a cost as text, with its unit."""
        return f"{self.number(cost)} {self.unit}"


class Measure(StrEnum):
    """A measure of the size of the stripped file.

    ``LOADED`` is the sum of the loadable segments: code, read-only data, data, relocations,
    unwind tables, and the headers and alignment between them. Page padding between segments,
    section headers and notes that are never loaded count only in ``FILE``.

    >>> Measure.LOADED.key, Measure.FILE.key, Measure.TEXT.label
    ('loaded', 'total', 'Code')
    """

    key: str
    """The key of this size in plans."""
    label: str
    """The heading of its column."""

    TEXT = "text", "text", "Code"
    LOADED = "loaded", "loaded", "Loaded"
    FILE = "file", "total", "File"
    COMPRESSED = "compressed", "compressed", "zstd -19"

    def __new__(cls, value: str, key: str = "", label: str = "") -> "Measure":
        """Create the member with this `value`."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.key, member.label = key, label
        return member

    @classmethod
    def _missing_(cls, value: object) -> "Measure":
        raise InvalidParameterError(f"no measure {value!r}: use one of {', '.join(cls)}")

    @property
    def with_symbols(self) -> "Measure":
        """The measure to compare a stripped file with one that has symbols."""
        return self if self is Measure.TEXT else Measure.LOADED

    def of(self, path: Path) -> int:
        """Return the bytes of the file `path`; raise `ProjectError` if it is not an ELF file."""
        if self is Measure.COMPRESSED:
            from compiler_gym.datasets.fetching import zstd

            return len(zstd.compress(path.read_bytes(), level=_LEVEL))
        return int(getattr(measure_sizes(path), self.key))


def sizes_by_measure(path: Path, measure: Measure) -> dict[str, int]:
    """Return the sizes of the file `path` by key; only `measure` may add a slow one."""
    sizes = measure_sizes(path)
    by_key = {key: getattr(sizes, key) for key in ("text", "loaded", "total")}
    return by_key if measure.key in by_key else {**by_key, measure.key: measure.of(path)}


def columns(sizes: Mapping[str, Mapping[str, int]]) -> list[Measure]:
    """Return the measures that all builds in `sizes` have, for the columns of a table."""
    return [m for m in Measure if sizes and all(m.key in row for row in sizes.values())]

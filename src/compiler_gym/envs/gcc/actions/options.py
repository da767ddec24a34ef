# SPDX-License-Identifier: MIT
"""The options of a GCC: each is a list of settings, of which one or none is chosen.

An option knows how its settings are spelled and nothing of compilers. "None is
chosen" is not a setting: the compiler then decides, and the index for it is -1.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

__all__ = [
    "ABSENT",
    "GccFlagAlignOption",
    "GccFlagEnumOption",
    "GccFlagIntOption",
    "GccFlagOption",
    "GccOOption",
    "GccParamEnumOption",
    "GccParamIntOption",
    "Option",
]

ABSENT = -1
"""The index of the choice that leaves an option to the compiler."""

MOST_ALIGNED = 64
"""The largest alignment that is offered, in bytes: a cache line."""

_ALL_UP_TO = 12
"""Options with more settings than this offer a selection of them as candidates."""


class Option(ABC):
    """One option: a sequence of settings, each a word of a command line.

    >>> option = GccFlagOption("-fgcse")
    >>> len(option), option[1], option.index("-fgcse"), str(option)
    (2, '-fno-gcse', 0, '-fgcse')
    """

    __slots__ = ()
    name: str
    """What the option is called: its setting up to a value."""

    @abstractmethod
    def __len__(self) -> int:
        """Return how many settings there are."""

    @abstractmethod
    def _setting(self, index: int) -> str:
        """Return the setting of an index that exists."""

    @abstractmethod
    def index(self, setting: str) -> int:
        """Return the index of `setting`; raise `ValueError` if it is none of this option's."""

    def candidates(self) -> Sequence[int]:
        """Return the indexes of settings worth a try: all, or a few dozen of very many."""
        return range(len(self))

    def __getitem__(self, index: int) -> str:
        if not 0 <= index < len(self):
            raise IndexError(f"{self.name} has the settings 0 to {len(self) - 1}, found {index}")
        return self._setting(index)

    def __iter__(self) -> Iterator[str]:
        return (self._setting(index) for index in range(len(self)))

    def __str__(self) -> str:
        return self.name


class _ListedOption(Option):
    """An option whose settings can be listed."""

    __slots__ = ()

    @property
    @abstractmethod
    def settings(self) -> tuple[str, ...]:
        """Every setting, in order."""

    def __len__(self) -> int:
        return len(self.settings)

    def _setting(self, index: int) -> str:
        return self.settings[index]

    def index(self, setting: str) -> int:
        """Return the index of `setting`."""
        return self.settings.index(setting)


@dataclass(frozen=True, slots=True)
class _Words(_ListedOption):
    """An option that takes one of some words."""

    name: str
    """With its last equals sign."""
    values: tuple[str, ...]

    @property
    def settings(self) -> tuple[str, ...]:
        """The option with each word."""
        return tuple(f"{self.name}{value}" for value in self.values)


@dataclass(frozen=True, slots=True)
class _Integer(Option):
    """An option whose settings are the integers of a range."""

    name: str
    """With its last equals sign."""
    low: int
    high: int
    default: int | None = None
    """What the compiler does by itself, if it says so."""

    def __len__(self) -> int:
        return self.high - self.low + 1

    def _setting(self, index: int) -> str:
        return f"{self.name}{self.low + index}"

    def index(self, setting: str) -> int:
        """Return the index of `setting`."""
        value = int(setting.removeprefix(self.name)) if setting.startswith(self.name) else None
        if value is None or not self.low <= value <= self.high or setting != f"{self.name}{value}":
            raise ValueError(f"{setting!r} is not {self.name}{self.low} to {self.name}{self.high}")
        return value - self.low

    @property
    def start(self) -> int:
        """The index nearest to the compiler's own value, from which to count up and down.

        That value may lie outside the range that the compiler states.
        """
        value = self.low if self.default is None else self.default
        return min(max(value, self.low), self.high) - self.low

    def candidates(self) -> Sequence[int]:
        """Return every index of a short range; of a long one its ends, its start and between."""
        if len(self) <= _ALL_UP_TO:
            return range(len(self))
        start = self.low + self.start
        near = (start * n // 8 for n in (1, 2, 4, 6, 7, 9, 10, 12, 16, 32, 64, 128))
        powers = (2**n for n in range(0, 17, 2))
        values = {self.low, start, min(self.high, 2**20), *near, *powers}
        return sorted(value - self.low for value in values if self.low <= value <= self.high)


@dataclass(frozen=True, slots=True, eq=True, repr=True)
class GccOOption(_ListedOption):
    """The optimisation level: ``-O0`` to ``-O3``, ``-Ofast``, ``-Og``, ``-Os``, ``-Oz``."""

    levels: tuple[str, ...]
    """What follows ``-O``."""
    name: str = "-O"

    @property
    def settings(self) -> tuple[str, ...]:
        """Every level as it is written."""
        return tuple(f"-O{level}" for level in self.levels)


@dataclass(frozen=True, slots=True)
class GccFlagOption(_ListedOption):
    """A switch: ``-fname`` and, unless `no_fno`, ``-fno-name``."""

    name: str
    no_fno: bool = False

    @property
    def settings(self) -> tuple[str, ...]:
        """On, then off."""
        return (self.name,) if self.no_fno else (self.name, negative(self.name))


@dataclass(frozen=True, slots=True)
class GccFlagEnumOption(_Words):
    """A flag that takes one of some words: ``-fira-region=all``."""


@dataclass(frozen=True, slots=True)
class GccFlagIntOption(_Integer):
    """A flag that takes an integer: ``-flifetime-dse=2``."""


@dataclass(frozen=True, slots=True)
class GccFlagAlignOption(_ListedOption):
    """An alignment: on, off, or to a power of two: ``-falign-loops=16``."""

    name: str
    """Without an equals sign."""

    @property
    def settings(self) -> tuple[str, ...]:
        """On, off, and each alignment."""
        sizes = (2**n for n in range(MOST_ALIGNED.bit_length()))
        return (self.name, negative(self.name), *(f"{self.name}={size}" for size in sizes))


@dataclass(frozen=True, slots=True)
class GccParamEnumOption(_Words):
    """A parameter that takes one of some words: ``--param=parloops-schedule=auto``."""


@dataclass(frozen=True, slots=True)
class GccParamIntOption(_Integer):
    """A parameter that takes an integer: ``--param=max-unroll-times=8``."""


def negative(flag: str) -> str:
    """Return the opposite of a switch.

    >>> negative("-fgcse"), negative("-fno-threadsafe-statics")
    ('-fno-gcse', '-fthreadsafe-statics')
    """
    if flag.startswith("-fno-"):
        return f"-f{flag[5:]}"
    return f"{flag[:2]}no-{flag[2:]}"

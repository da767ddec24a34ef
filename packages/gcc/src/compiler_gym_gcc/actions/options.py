# SPDX-License-Identifier: MIT
"""The options of a GCC: each is a list of settings, of which at most one is chosen.

An option contains the spelling of its settings and nothing else about compilers. If no setting is
chosen, the index is -1 and the compiler uses its default.
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
"""The index of the choice that keeps the compiler's default."""

MOST_ALIGNED = 64
"""The largest alignment offered, in bytes: a cache line."""

_ALL_UP_TO = 12
"""The most settings for which all are candidates; longer options offer a selection."""


class Option(ABC):
    """One option: a sequence of settings, each one argument of a command line.

    >>> option = GccFlagOption("-fgcse")
    >>> len(option), option[1], option.index("-fgcse"), str(option)
    (2, '-fno-gcse', 0, '-fgcse')
    """

    __slots__ = ()
    name: str
    """The name of the option: its setting without the value."""

    @abstractmethod
    def __len__(self) -> int:
        """Return the number of settings."""

    @abstractmethod
    def _setting(self, index: int) -> str:
        """Return the setting with a valid index."""

    @abstractmethod
    def index(self, setting: str) -> int:
        """Return the index of `setting`; raise `ValueError` if the option does not have it."""

    def candidates(self) -> Sequence[int]:
        """Return the indices of settings worth trying: all, or a few dozen of very many."""
        return range(len(self))

    def __getitem__(self, index: int) -> str:
        if not 0 <= index < len(self):
            raise IndexError(f"{self.name} has settings 0 to {len(self) - 1} (got {index})")
        return self._setting(index)

    def __iter__(self) -> Iterator[str]:
        return (self._setting(index) for index in range(len(self)))

    def __str__(self) -> str:
        return self.name


class _ListedOption(Option):
    """An option with a short list of settings."""

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
    """An option whose value is a keyword."""

    name: str
    """The name, including the last equals sign."""
    values: tuple[str, ...]

    @property
    def settings(self) -> tuple[str, ...]:
        """The option with each keyword."""
        return tuple(f"{self.name}{value}" for value in self.values)


@dataclass(frozen=True, slots=True)
class _Integer(Option):
    """An option whose settings are the integers of a range."""

    name: str
    """The name, including the last equals sign."""
    low: int
    high: int
    default: int | None = None
    """The compiler's default, if its help states one."""

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
        """The index nearest to the compiler's default, from which to count up and down.

        The default can be outside the range that the compiler states.
        """
        value = self.low if self.default is None else self.default
        return min(max(value, self.low), self.high) - self.low

    def candidates(self) -> Sequence[int]:
        """Return every index of a short range, and a selection of a long one."""
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
    """The texts after ``-O``."""
    name: str = "-O"

    @property
    def settings(self) -> tuple[str, ...]:
        """Every level, such as ``-O2``."""
        return tuple(f"-O{level}" for level in self.levels)


@dataclass(frozen=True, slots=True)
class GccFlagOption(_ListedOption):
    """A switch: ``-fname`` and, unless `no_fno`, ``-fno-name``."""

    name: str
    no_fno: bool = False

    @property
    def settings(self) -> tuple[str, ...]:
        """The setting for on, then the one for off."""
        return (self.name,) if self.no_fno else (self.name, negative(self.name))


@dataclass(frozen=True, slots=True)
class GccFlagEnumOption(_Words):
    """A flag whose value is a keyword: ``-fira-region=all``."""


@dataclass(frozen=True, slots=True)
class GccFlagIntOption(_Integer):
    """A flag that takes an integer: ``-flifetime-dse=2``."""


@dataclass(frozen=True, slots=True)
class GccFlagAlignOption(_ListedOption):
    """An alignment: on, off, or a power of two: ``-falign-loops=16``."""

    name: str
    """The name, without an equals sign."""

    @property
    def settings(self) -> tuple[str, ...]:
        """The settings for on, for off, and for each alignment."""
        sizes = (2**n for n in range(MOST_ALIGNED.bit_length()))
        return (self.name, negative(self.name), *(f"{self.name}={size}" for size in sizes))


@dataclass(frozen=True, slots=True)
class GccParamEnumOption(_Words):
    """A parameter whose value is a keyword: ``--param=parloops-schedule=auto``."""


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

# SPDX-License-Identifier: MIT
"""The limits of workers, of reading archives and of building packages.

``service`` enforces those of an environment's worker.
"""

from dataclasses import dataclass, field

from compiler_gym.errors import InvalidParameterError
from compiler_gym.options.declaring import (
    ABOVE_0,
    FROM_0,
    WHOLE_ABOVE_0,
    WHOLE_FROM_0,
    Range,
    Spelling,
    check,
    option,
)

_MOST_SECONDS = 100 * 366 * 86400.0
"""The clock of a deadline counts nanoseconds in 64 bits."""
_DEADLINE = Range("a number above 0, up to a century", lambda value: 0 < value < _MOST_SECONDS)


@dataclass(frozen=True, slots=True)
class Limits:
    """Bounds of one environment's worker.

    Raises `InvalidParameterError` for an invalid limit (text, NaN, a negative number) and
    `UnknownNameError` for an unknown sandbox.

        >>> Limits(memory_bytes=1 << 30).memory_bytes
        1073741824
    """

    step_seconds: float = option(
        300.0, "Time limit in seconds for one action or observation", _DEADLINE
    )
    """The deadline of a request without its own."""
    memory_bytes: int = option(
        8 << 30,
        "Memory limit in GiB for the compiler",
        WHOLE_FROM_0,
        may_change=True,
        spelling=Spelling("memory_gib", 1 << 30, ABOVE_0),
    )
    """Address space of the worker (RLIMIT_AS); 0 is unlimited."""
    growth: float = option(64.0, range=FROM_0)
    """An action may grow the program to this multiple of its size at reset; 0 is unlimited."""
    growth_floor: int = option(100_000, range=WHOLE_FROM_0)
    """Programs below this size (in the compiler's own unit) may always grow to it."""
    kept_programs: int = option(32, range=WHOLE_FROM_0)
    """Number of repeatedly opened programs that stay loaded, each in a process for all environments
    of this process: a reset to such a program forks that process. 0 keeps none."""
    kept_bytes: int = option(2 << 30, range=WHOLE_FROM_0)
    """Approximate bound of their total memory. The least recently used ones are dropped first."""
    sandbox: str | None = option(None)
    """The name of the `Sandbox` for observations that run the program, or None for
    ``COMPILER_GYM_SANDBOX`` and otherwise the strongest that this machine offers."""

    def __post_init__(self) -> None:
        if self.sandbox is not None:
            from compiler_gym.sandbox import Sandbox

            Sandbox.find(self.sandbox)
        check(self)


_SUFFIXES = (".bc", ".c", ".cc", ".cl", ".cpp", ".cxx", ".f90", ".ll", ".mlir", ".rs", ".swift")


@dataclass(frozen=True, slots=True)
class ArchiveLimits:
    """The limits above which an archive counts as hostile."""

    max_bytes: int = 1 << 38
    """Total bytes of all files."""
    max_files: int = 5_000_000
    """The number of files."""
    max_ratio: float = 250.0
    """The largest ratio of contents to archive size; programs reach about 20."""
    small: int = 1 << 26
    """Contents up to this size are accepted at any ratio."""

    def limit_bytes(self, archive_size: int) -> int:
        """Return how many bytes an archive of `archive_size` bytes may contain."""
        return min(self.max_bytes, max(self.small, int(archive_size * self.max_ratio)))


@dataclass(frozen=True, slots=True)
class ReadOptions:
    """The files that count as programs, and properties of all of them."""

    suffixes: tuple[str, ...] = option(
        _SUFFIXES,
        "File suffix to include, such as .c; can be repeated",
        spelling=Spelling("suffix", type=list[str]),
    )
    """Suffixes of programs in folders and archives; an empty one matches all files."""
    max_bytes: int = 1 << 28
    """The size above which programs are skipped."""
    license: str = option("", "Licence of programs that do not state one")
    """The licence of programs that do not name their own."""
    source: str = option("", "Origin of the programs")
    """Origin of the programs; their path or file if empty."""
    language: str = option("", "Language of the programs")
    """The language of programs that do not name their own."""
    limits: ArchiveLimits = field(default_factory=ArchiveLimits)
    """The limits of archives."""


@dataclass(frozen=True, slots=True)
class PackageChoice:
    """The packages to build: from a lock, from a list of names, or random ones.

    Raises `InvalidParameterError` for a number out of its range.
    """

    lock: str | None = option(None, "Lock file with all versions, or debian-100")
    packages: str | None = option(None, "File with the name of one source package per line")
    count: int | None = option(None, "Number of packages to choose at random", WHOLE_ABOVE_0)
    seed: int = option(0, "Repeats the same choice", WHOLE_FROM_0)

    def __post_init__(self) -> None:
        check(self)

    def require_one(self) -> None:
        """Raise `InvalidParameterError` unless exactly one of the three is set."""
        if [self.lock, self.packages, self.count].count(None) != 2:
            raise InvalidParameterError(
                "choose the packages to build with exactly one of --lock FILE, --packages FILE and "
                "--count N"
            )


@dataclass(frozen=True, slots=True)
class PackageLimits:
    """Limits of each package; exceeding one is reported in its row.

    Raises `InvalidParameterError` for an invalid limit.
    """

    seconds: float = option(1800.0, "Time limit in seconds for building a package", ABOVE_0)
    """Wall time, including the configure step and the compilation to bitcode."""
    test_seconds: float = option(
        120.0, "Time limit in seconds for its own tests; 0 skips them", FROM_0
    )
    memory_bytes: int = option(
        4 << 30,
        "Memory limit in GiB for a build",
        WHOLE_ABOVE_0,
        spelling=Spelling("memory_gib", 1 << 30, ABOVE_0),
    )
    """The total of all processes."""
    disk_bytes: int = option(
        4 << 30,
        "Disk limit in GiB for a build",
        WHOLE_ABOVE_0,
        spelling=Spelling("disk_gib", 1 << 30, ABOVE_0),
    )
    """Checked every second; more may be written in between."""
    processes: int = option(512, "Maximum number of processes of a build", WHOLE_ABOVE_0)
    tree_bytes: int = option(
        16 << 20,
        "Size limit in MiB for keeping a built tree to run its tests in; 0 keeps none",
        WHOLE_FROM_0,
        spelling=Spelling("tree_mib", 1 << 20, FROM_0),
    )
    """Size of the packed tree."""

    def __post_init__(self) -> None:
        check(self)

# SPDX-License-Identifier: MIT
"""The packages to build, and the limits of each build."""

from dataclasses import dataclass

from compiler_gym.errors import InvalidParameterError
from compiler_gym.options.declaring import (
    ABOVE_0,
    FROM_0,
    WHOLE_ABOVE_0,
    WHOLE_FROM_0,
    Spelling,
    check,
    option,
)


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

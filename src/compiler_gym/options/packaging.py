# SPDX-License-Identifier: MIT
"""Which packages of others are built, and what the build of one may use."""

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

__all__ = ["PackageChoice", "PackageLimits"]


@dataclass(frozen=True, slots=True)
class PackageChoice:
    """Which packages are built: those of a lock, of a list of names, or some at random.

    Raises `InvalidParameterError` for a number out of its range.
    """

    lock: str | None = option(None, "Lock file with all versions, or debian-100")
    packages: str | None = option(None, "File with the name of one source package per line")
    count: int | None = option(None, "Number of packages to choose at random", WHOLE_ABOVE_0)
    seed: int = option(0, "Repeats the same choice", WHOLE_FROM_0)

    def __post_init__(self) -> None:
        check(self)

    def require_one(self) -> None:
        """Raise `InvalidParameterError` where it is not one of the three."""
        if [self.lock, self.packages, self.count].count(None) != 2:
            raise InvalidParameterError(
                "expected one of --lock FILE, --packages FILE and --count N, which say what to "
                "build"
            )


@dataclass(frozen=True, slots=True)
class PackageLimits:
    """Bounds of each package; what passes one is a row that says so.

    Raises `InvalidParameterError` for what is no bound.
    """

    seconds: float = option(1800.0, "Time limit in seconds for building a package", ABOVE_0)
    """Of wall time, its configure step and what makes its bitcode included."""
    test_seconds: float = option(
        120.0, "Time limit in seconds for its own tests; 0 skips them", FROM_0
    )
    memory_bytes: int = option(
        4 << 30,
        "Memory limit in GiB for a build",
        WHOLE_ABOVE_0,
        spelling=Spelling("memory_gib", 1 << 30, ABOVE_0),
    )
    """All its processes together."""
    disk_bytes: int = option(
        4 << 30,
        "Disk limit in GiB for a build",
        WHOLE_ABOVE_0,
        spelling=Spelling("disk_gib", 1 << 30, ABOVE_0),
    )
    """Looked at every second: what is written until then is on the disk."""
    processes: int = option(512, "Maximum number of processes of a build", WHOLE_ABOVE_0)
    tree_bytes: int = option(
        16 << 20,
        "Size limit in MiB for keeping a built tree to run its tests in; 0 keeps none",
        WHOLE_FROM_0,
        spelling=Spelling("tree_mib", 1 << 20, FROM_0),
    )
    """Packed."""

    def __post_init__(self) -> None:
        check(self)

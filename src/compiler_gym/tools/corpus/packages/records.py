# SPDX-License-Identifier: MIT
"""What a package that was built leaves: its modules, its linked programs, and how it ended.

A folder of a package is done when its ``result.json`` is there: it is written last, and whole.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum
from pathlib import Path

import msgspec

from compiler_gym.errors import DatasetInitError
from compiler_gym.files import write_whole

__all__ = [
    "LOG",
    "MODULES",
    "PACKAGES",
    "PROGRAMS",
    "REFUSED",
    "RESULT",
    "TREE",
    "BuildOutcome",
    "BuiltModule",
    "LinkedProgram",
    "OwnTests",
    "PackageResult",
    "read_result",
    "read_results",
    "write_result",
]

PACKAGES, MODULES, PROGRAMS = "packages", "modules", "programs"
RESULT, LOG, REFUSED, TREE = "result.json", "build.log", "refused.log", "tree.tar.zst"


class BuildOutcome(Enum):
    """How a package ended."""

    BUILT = "built"
    """It was built, and gave at least one module."""
    NO_PACKAGE = "no such package"
    """The archive has no such source, or not in this version."""
    BAD_SOURCE = "bad source"
    """Its source could not be fetched or unpacked, or is not the one that the lock names."""
    NO_DEPENDENCY = "no dependency"
    """What it is built against is not to be had."""
    NOT_C = "not C or C++"
    """It was built, and no C or C++ was compiled."""
    CONFIGURE = "configure failed"
    """A test of its configure step failed."""
    COMPILER = "compiler refused"
    """A compiler refused a source, or a linker an object."""
    RULES = "rules failed"
    """A command of its build that is no compiler failed."""
    SOURCES_GONE = "sources gone"
    """After the build the sources that it compiled were no longer there."""
    TIME = "time"
    """It took longer than it may."""
    MEMORY = "memory"
    """It used more memory than it may."""
    DISK = "disk"
    """It wrote more than it may, or the disk is full."""
    PROCESSES = "processes"
    """It started more processes than it may."""
    UNEXPLAINED = "unexplained"
    """It failed, and the log does not say why."""


class OwnTests(Enum):
    """What of a package's own tests ran after its build."""

    PASSED = "passed"
    FAILED = "failed"
    NONE = "none"
    """It has none that a build runs."""
    NO_TIME = "no time"
    """They took longer than they may."""


@dataclass(frozen=True, slots=True)
class BuiltModule:
    """One translation unit, as bitcode before any pass."""

    sha256: str
    """Of the bitcode: its name in the folder ``modules``."""
    size: int
    """Bytes of the bitcode."""
    file: str
    """The source, relative to the source tree."""
    command: tuple[str, ...]
    """The words of the build that compiled it, without paths of the machine: ``.`` is the tree."""
    language: str
    """``c`` or ``c++``."""
    license: str
    """As ``debian/copyright`` says of the file, or of the package; empty where nothing does."""
    instructions: int
    functions: int
    """Defined ones."""
    programs: tuple[str, ...] = ()
    """Names of the linked programs that it belongs to."""
    folder: str = "."
    """Where the command ran, relative to the source tree."""


@dataclass(frozen=True, slots=True)
class LinkedProgram:
    """A program, or a shared library, whose sources are all known, linked as one module."""

    name: str
    """Where the build put it, relative to the source tree."""
    sha256: str
    """Of the bitcode: its name in the folder ``programs``."""
    size: int
    instructions: int
    functions: int
    modules: tuple[str, ...]
    """The digests of its modules."""
    libraries: tuple[str, ...]
    """What the linker needs beside the module, such as ``-lz``."""
    is_shared: bool = False
    """True if it is a shared library, which has no ``main``."""
    tests: OwnTests = OwnTests.NONE
    """What of the package's tests ran with the program as its own compiler built it."""
    tree: str = ""
    """The name of the archive of the built tree, where tests can be run again; else empty."""


@dataclass(frozen=True, slots=True)
class PackageResult:
    """How one package ended, and what it gave."""

    package: str
    version: str
    source_sha256: str
    """Of the source's description (``.dsc``), which names the digests of all its archives."""
    license: str
    """Of the package as a whole, as an SPDX-like expression; empty where nothing says it."""
    outcome: BuildOutcome
    reason: str = ""
    """Why it failed, in one line."""
    log_tail: str = ""
    """The last lines of what the build printed, where it failed."""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    disk_bytes: int = 0
    """The most that its build occupied, as far as was seen."""
    compiler: str = ""
    """What made the bitcode, in its own words."""
    level: str = "-Oz"
    """The level that the bitcode is prepared for."""
    build_depends: tuple[str, ...] = ()
    """What it was built against: ``name=version``."""
    refused: tuple[str, ...] = ()
    """Sources that the package's own compiler took and ours did not; ``refused.log`` says why."""
    test_command: tuple[str, ...] = ()
    """What ran its tests in the built tree, from `test_folder`; empty where nothing does."""
    test_folder: str = ""
    """Relative to the source tree."""
    modules: tuple[BuiltModule, ...] = field(default=())
    programs: tuple[LinkedProgram, ...] = field(default=())


def read_result(folder: Path) -> PackageResult:
    """Return how the package in `folder` ended; raise `DatasetInitError` where it is not done."""
    path = folder / RESULT
    try:
        return msgspec.json.decode(path.read_bytes(), type=PackageResult)
    except (OSError, msgspec.MsgspecError) as error:
        raise DatasetInitError(
            f"expected the result of a package in {path}: {error}: build it with "
            "`compiler-gym datasets build debian --resume`"
        ) from error


def read_results(output: Path) -> Iterator[tuple[Path, PackageResult]]:
    """Yield the folder and the result of each package that is done in `output`, by name."""
    for path in sorted((output / PACKAGES).glob(f"*/{RESULT}")):
        yield path.parent, read_result(path.parent)


def write_result(folder: Path, result: PackageResult) -> None:
    """Write how the package in `folder` ended, last: after this it is done."""
    write_whole(folder / RESULT, msgspec.json.format(msgspec.json.encode(result)), sync=True)

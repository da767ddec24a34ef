# SPDX-License-Identifier: MIT
"""The result of building a package: modules, linked programs and the outcome.

A package's folder is complete when it contains ``result.json``, which is written last, atomically.
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
    """The outcome of building a package."""

    BUILT = "built"
    """The package was built and has at least one module."""
    NO_PACKAGE = "no such package"
    """The archive does not have this source package, or not in this version."""
    BAD_SOURCE = "bad source"
    """The source could not be downloaded or unpacked, or does not match the lock."""
    NO_DEPENDENCY = "no dependency"
    """A build dependency is not available."""
    NOT_C = "not C or C++"
    """The package was built, but its build compiled no C or C++."""
    CONFIGURE = "configure failed"
    """The configure step failed."""
    COMPILER = "compiler refused"
    """A compiler rejected a source, or a linker rejected an object."""
    RULES = "rules failed"
    """A build command other than a compiler failed."""
    SOURCES_GONE = "sources gone"
    """The compiled sources no longer existed after the build."""
    TIME = "time"
    """The build exceeded the time limit."""
    MEMORY = "memory"
    """The build exceeded the memory limit."""
    DISK = "disk"
    """The build exceeded the disk limit, or the disk is full."""
    PROCESSES = "processes"
    """The build exceeded the limit of processes."""
    UNEXPLAINED = "unexplained"
    """The build failed for a reason that the log does not reveal."""


class OwnTests(Enum):
    """The outcome of a package's own tests after its build."""

    PASSED = "passed"
    FAILED = "failed"
    NONE = "none"
    """The package has no tests that can be run after a build."""
    NO_TIME = "no time"
    """The tests exceeded the time limit."""


@dataclass(frozen=True, slots=True)
class BuiltModule:
    """One translation unit, as bitcode before any pass."""

    sha256: str
    """The sha256 of the bitcode, which is its name in the folder ``modules``."""
    size: int
    """The size of the bitcode in bytes."""
    file: str
    """The source file, relative to the source tree."""
    command: tuple[str, ...]
    """The build's compiler command, without machine-specific paths: ``.`` is the source tree."""
    language: str
    """``c`` or ``c++``."""
    license: str
    """The licence of the file or package in ``debian/copyright``; empty if not stated."""
    instructions: int
    functions: int
    """The number of defined functions."""
    programs: tuple[str, ...] = ()
    """The names of the linked programs that contain it."""
    folder: str = "."
    """The command's working directory, relative to the source tree."""


@dataclass(frozen=True, slots=True)
class LinkedProgram:
    """A program or shared library, all of whose sources compiled, linked as one module."""

    name: str
    """The path of the build's output file, relative to the source tree."""
    sha256: str
    """The sha256 of the bitcode, which is its name in the folder ``programs``."""
    size: int
    instructions: int
    functions: int
    modules: tuple[str, ...]
    """The digests of its modules."""
    libraries: tuple[str, ...]
    """The linker arguments besides the module, such as ``-lz``."""
    is_shared: bool = False
    """True if it is a shared library, which has no ``main``."""
    tests: OwnTests = OwnTests.NONE
    """The outcome of the package's tests, run with the program it built."""
    tree: str = ""
    """The archive of the built tree if tests can be run again; empty otherwise."""


@dataclass(frozen=True, slots=True)
class PackageResult:
    """The outcome of one package, with its modules and programs."""

    package: str
    version: str
    source_sha256: str
    """The sha256 of the source's ``.dsc``, which lists the digests of all its archives."""
    license: str
    """The licence of the whole package, as an SPDX-like expression; empty if not stated."""
    outcome: BuildOutcome
    reason: str = ""
    """The reason of a failure, in one line."""
    log_tail: str = ""
    """The last lines of the log of a failed build."""
    seconds: float = 0.0
    cpu_seconds: float = 0.0
    disk_bytes: int = 0
    """The peak disk usage that the periodic checks observed."""
    compiler: str = ""
    """The version line of the compiler that produced the bitcode."""
    level: str = "-Oz"
    """The optimisation level that the bitcode is prepared for."""
    build_depends: tuple[str, ...] = ()
    """The build dependencies: ``name=version``."""
    refused: tuple[str, ...] = ()
    """The sources that only the package's own compiler accepted; see ``refused.log``."""
    test_command: tuple[str, ...] = ()
    """The command that runs its tests, in `test_folder`; empty if it has none."""
    test_folder: str = ""
    """The working directory of the tests, relative to the source tree."""
    modules: tuple[BuiltModule, ...] = field(default=())
    programs: tuple[LinkedProgram, ...] = field(default=())


def read_result(folder: Path) -> PackageResult:
    """Return the result in `folder`; raise `DatasetInitError` if the build is not finished."""
    path = folder / RESULT
    try:
        return msgspec.json.decode(path.read_bytes(), type=PackageResult)
    except (OSError, msgspec.MsgspecError) as error:
        raise DatasetInitError(
            f"cannot read the build result {path}: {error}; finish the build with "
            "`compiler-gym datasets build debian --resume`"
        ) from error


def read_results(output: Path) -> Iterator[tuple[Path, PackageResult]]:
    """Yield the folder and the result of each finished package in `output`, sorted by name."""
    for path in sorted((output / PACKAGES).glob(f"*/{RESULT}")):
        yield path.parent, read_result(path.parent)


def write_result(folder: Path, result: PackageResult) -> None:
    """Write the result of the package in `folder`, which marks it as finished."""
    write_whole(folder / RESULT, msgspec.json.format(msgspec.json.encode(result)), sync=True)

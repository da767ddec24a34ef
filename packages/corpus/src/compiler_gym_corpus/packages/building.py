# SPDX-License-Identifier: MIT
"""Build one package in an isolated system and compile its sources to modules.

The package is built with its own compilers and rules; stand-ins for the compilers record each
command. Then another front end compiles the same sources again, so that a source it rejects costs
one module and not the whole package.
"""

import errno
import os
import re
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from compiler_gym.errors import DownloadFailed
from compiler_gym.files import hash_file, read_regular, scratch_directory
from compiler_gym.options import PackageLimits
from compiler_gym.sandbox import (
    BUILD_FOLDER,
    BoxReport,
    RootedPlace,
    RunLimits,
    build_variables,
    run_rooted,
)
from compiler_gym.tools.tune.builds import WATCH, Recording, stand_in
from compiler_gym_corpus.packages.compiling import UnitCompiler
from compiler_gym_corpus.packages.copyright import Licences, paragraphs
from compiler_gym_corpus.packages.failures import explain_log, last_lines
from compiler_gym_corpus.packages.lock import LockedPackage
from compiler_gym_corpus.packages.modules import Modules, compile_units
from compiler_gym_corpus.packages.records import (
    LOG,
    TREE,
    BuildOutcome,
    OwnTests,
    PackageResult,
)
from compiler_gym_corpus.packages.roots import Root
from compiler_gym_corpus.packages.trying import keep_tree, test_command
from compiler_gym_corpus.packages.units import BuiltTree
from compiler_gym_corpus.packages.unpacking import RefusedArchive

__all__ = ["BuildStopped", "Supplier", "build_package"]

_RECORDER, _OUT = "/run/recorder", "/run/out"
_COMPILERS = f"{_RECORDER}/compilers"
_REAL = ("cc", "c89", "c99", "gcc", "clang", "c++", "g++", "clang++")
_TRIALS = ("conftest.", "CMakeFiles/CMakeTmp", "CMakeFiles/CMakeScratch", "--version", "-print-")
"""Files and arguments of test compilations that configure steps run by the hundred."""
_SYSTEM_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
_OPTIONS = "nocheck nodoc terse parallel=1"
_FILES = 4096
_UNPACK = 'dpkg-source --no-check --no-copy -x "$0" "$1" && test -f "$1/debian/rules"'
_BUILD = (
    'SOURCE_DATE_EPOCH=$(dpkg-parsechangelog -STimestamp 2>/dev/null || echo "$SOURCE_DATE_EPOCH");'
    " export SOURCE_DATE_EPOCH; chmod +x debian/rules; exec debian/rules build-arch"
)
_UNREACHED = re.compile(
    r"could not resolve|temporary failure|could not connect|unable to connect|connection failed"
    r"|connection timed out|network is unreachable|no route to host",
    re.IGNORECASE,
)
_LOOK_SECONDS = 1.0
_LEAST_FREE = 512 << 20
_MOST_LOGGED = 4 << 20
_MOST_REASON = 200
_UNREADABLE = (errno.ENAMETOOLONG, errno.ELOOP)
"""The error numbers for too deeply nested folders and for circular links."""


class Supplier(Protocol):
    """A source of packages and of the systems to build them in."""

    def source(self, package: LockedPackage, into: Path) -> Path:
        """Copy the source of `package` to `into` and return its ``.dsc``.

        Raises `DownloadFailed` if there is none, or not in the requested version.
        """
        ...

    def root(self, package: LockedPackage) -> AbstractContextManager[Root]:
        """Provide the system to build `package` in, for the duration of a ``with`` block.

        Raises `DownloadFailed` if build dependencies are not available.
        """
        ...


class BuildStopped(BaseException):
    """All builds were cancelled: this one ends without a result."""


class _Abandoned(Exception):
    """The build cannot continue, for example because it exceeded a limit."""

    def __init__(self, outcome: BuildOutcome, reason: str) -> None:
        super().__init__(reason)
        self.outcome, self.reason = outcome, reason


@dataclass(slots=True)
class _Space:
    """The disk space that a build uses, checked periodically."""

    folders: Sequence[Path]
    most: int
    is_stopped: Callable[[], bool]
    peak: int = 0
    _next: float = 0.0

    def look(self, *, at_once: bool = False) -> None:
        """Raise `_Abandoned` if the build wrote too much, and `BuildStopped` if it was cancelled.

        Checks the disk about once a second, or immediately with `at_once`.
        """
        if self.is_stopped():
            raise BuildStopped
        if time.monotonic() < self._next and not at_once:
            return
        started = time.monotonic()
        used = sum(map(_bytes_in, self.folders))
        self.peak = max(self.peak, used)
        if used > self.most:
            raise _Abandoned(BuildOutcome.DISK, f"it wrote more than {self.most >> 20:,} MiB")
        if shutil.disk_usage(self.folders[0]).free < _LEAST_FREE:
            raise _Abandoned(
                BuildOutcome.DISK, f"less than {_LEAST_FREE >> 20} MiB are free on the disk"
            )
        duration = time.monotonic() - started
        self._next = time.monotonic() + max(_LOOK_SECONDS, 20 * duration)


@dataclass(slots=True)
class _Workshop:
    """The state shared by the steps of one build."""

    root: Root
    work: Path
    recorder: Path
    out: Path
    log: int
    limits: PackageLimits
    space: _Space
    ends: float
    cpu_seconds: float = 0.0
    variables: Mapping[str, str] = field(default_factory=dict[str, str])

    def run(
        self, command: Sequence[str], directory: str, *, seconds: float | None = None,
        variables: Mapping[str, str] | None = None, output: int | None = None,
    ) -> BoxReport:  # fmt: skip
        """Run one step; raise `_Abandoned` if it exceeds a limit of the package."""
        remaining = self.ends - time.monotonic() if seconds is None else seconds
        bounds = RunLimits(
            seconds=max(remaining, 0.1),
            memory_bytes=0,
            output_bytes=self.limits.disk_bytes,
            processes=self.limits.processes,
            total_memory_bytes=self.limits.memory_bytes,
            open_files=_FILES,
        )
        folders = RootedPlace(
            self.root.path, self.work, directory, {_RECORDER: self.recorder, _OUT: self.out}
        )
        report = run_rooted(
            command,
            folders,
            limits=bounds,
            environment={**self.variables, **(variables or {})},
            output=self.log if output is None else output,
            look=self.space.look,
        )
        self.cpu_seconds += report.cpu_seconds
        if report.stopped_by == "sandbox":
            raise _Abandoned(
                BuildOutcome.UNEXPLAINED, "the sandbox was killed before the build ended"
            )
        if report.stopped_by is not None and seconds is None:
            raise _Abandoned(*_limit_passed(report.stopped_by, self.limits))
        return report


def build_package(
    package: LockedPackage,
    folder: Path,
    *,
    supplier: Supplier,
    compiler: UnitCompiler,
    limits: PackageLimits,
    is_stopped: Callable[[], bool] = lambda: False,
) -> PackageResult:
    """Build `package`, write its modules, programs and log to `folder`, and return the result.

    A failing package gives a result, never an exception. Raises `DownloadFailed` if the archive is
    unreachable, `SandboxError` if no package can be built on this machine, `OSError` if `folder`
    is not writable, and `BuildStopped`.
    """
    started = time.monotonic()
    log = folder / LOG
    result = PackageResult(
        package.name,
        package.version,
        package.sha256,
        "",
        BuildOutcome.UNEXPLAINED,
        level=compiler.level,
    )
    with log.open("ab") as printed, scratch_directory("package") as scratch:
        parts = [Path(scratch) / name for name in ("work", "recorder", "out")]
        for part in parts:
            part.mkdir()
        space = _Space(parts, limits.disk_bytes, is_stopped)
        building = _Building(package, folder, supplier, compiler, limits, result)
        try:
            result = building.run(parts, printed.fileno(), space)
        except _Abandoned as end:
            result = replace(building.result, outcome=end.outcome, reason=end.reason)
        except (OSError, RecursionError) as error:
            if isinstance(error, OSError) and error.errno not in _UNREADABLE:
                raise
            reason = f"its source tree cannot be read: {str(error)[:_MOST_REASON]}"
            result = replace(building.result, outcome=BuildOutcome.BAD_SOURCE, reason=reason)
    text = _trim_log(log)
    tail = "" if result.outcome is BuildOutcome.BUILT else last_lines(text)
    return replace(
        result,
        log_tail=tail,
        seconds=round(time.monotonic() - started, 3),
        cpu_seconds=round(building.cpu_seconds, 3),
        disk_bytes=space.peak,
    )


class _Building:
    """One build, step by step; `result` is filled as it proceeds, in case it ends early."""

    def __init__(
        self,
        package: LockedPackage,
        folder: Path,
        supplier: Supplier,
        compiler: UnitCompiler,
        limits: PackageLimits,
        result: PackageResult,
    ) -> None:
        self.result = result
        self.cpu_seconds = 0.0
        self._package, self._folder, self._supplier = package, folder, supplier
        self._compiler, self._limits = compiler, limits

    def run(self, parts: Sequence[Path], log: int, space: _Space) -> PackageResult:
        """Return the result, or raise `_Abandoned`."""
        work, recorder, out = parts
        description = self._fetch(work)
        try:
            with self._supplier.root(self._package) as root:
                self._update(build_depends=root.packages)
                workshop = _Workshop(
                    root=root,
                    work=work,
                    recorder=recorder,
                    out=out,
                    log=log,
                    limits=self._limits,
                    space=space,
                    ends=time.monotonic() + self._limits.seconds,
                    variables=_variables(),
                )
                try:
                    return self._build_in(workshop, description)
                finally:
                    self.cpu_seconds = workshop.cpu_seconds
        except DownloadFailed as error:
            _raise_if_unreached(error)
            raise _Abandoned(BuildOutcome.NO_DEPENDENCY, _one_line(error)) from error
        except RefusedArchive as error:
            raise _Abandoned(BuildOutcome.NO_DEPENDENCY, _one_line(error)) from error

    def _build_in(self, shop: _Workshop, description: Path) -> PackageResult:
        name = self._package.tree
        inside = f"{BUILD_FOLDER}/{name}"
        report = shop.run(["/bin/sh", "-c", _UNPACK, description.name, name], BUILD_FOLDER)
        if report.exit_status:
            raise self._report_failed(BuildOutcome.BAD_SOURCE)
        tree = BuiltTree(inside, shop.work / name, shop.root.path)
        licences = _licences_in(tree)
        self._update(license=licences.whole)
        recording = Recording(shop.recorder, tree.path)
        _write_stand_ins(shop.recorder, shop.root.path)
        report = shop.run(["/bin/sh", "-c", _BUILD], inside)
        shop.space.look(at_once=True)  # a quick build ends before the next periodic check
        events = list(tree.events(recording))
        units, missing = tree.units(events)
        if report.exit_status:
            raise self._report_failed()
        if not units:
            if missing:
                reason = f"{len(missing)} compiled sources were deleted, for example {missing[0]}"
                raise _Abandoned(BuildOutcome.SOURCES_GONE, reason)
            raise _Abandoned(BuildOutcome.NOT_C, "its build compiled no C or C++ sources")
        self._update(compiler=self._version(shop))
        modules = Modules(tree, events, units, licences, self._folder)
        compiled = compile_units(
            modules, self._compiler, lambda words, put: shop.run(words, inside, output=put),
            shop.out, _OUT,
        )  # fmt: skip
        if not compiled.modules:
            reason = f"{self._compiler.packages[0]} rejected all {len(units)} sources"
            self._update(refused=compiled.refused)
            raise _Abandoned(BuildOutcome.COMPILER, reason)
        self._update(
            modules=compiled.modules,
            programs=compiled.programs,
            refused=compiled.refused,
            outcome=BuildOutcome.BUILT,
        )
        self._run_tests(shop, tree)
        return self.result

    def _fetch(self, work: Path) -> Path:
        """Download the source and return its ``.dsc``, checked against the lock."""
        try:
            path = self._supplier.source(self._package, work)
        except DownloadFailed as error:
            _raise_if_unreached(error)
            is_missing = "Unable to find" in str(error) or "Can not find version" in str(error)
            outcome = BuildOutcome.NO_PACKAGE if is_missing else BuildOutcome.BAD_SOURCE
            raise _Abandoned(outcome, _one_line(error)) from error
        digest = hash_file(path)
        fields = next(paragraphs(_read_signed(path.read_text(errors="replace"))), dict[str, str]())
        self._update(
            source_sha256=digest, version=fields.get("Version", self._package.version) or "any"
        )
        if self._package.sha256 not in ("", digest):
            raise _Abandoned(
                BuildOutcome.BAD_SOURCE,
                f"the sha256 of its source is {digest}, not {self._package.sha256}",
            )
        return path

    def _version(self, shop: _Workshop) -> str:
        path = shop.out / "version"
        with path.open("wb") as output:
            shop.run(self._compiler.version_command(), BUILD_FOLDER, output=output.fileno())
        lines = path.read_text(errors="replace").splitlines()
        return lines[0] if lines else ""

    def _run_tests(self, shop: _Workshop, tree: BuiltTree) -> None:
        """Run the package's tests, and archive the tree if they pass."""
        test = test_command(tree.path) if self._limits.test_seconds else None
        if test is None:
            return
        command, folder = test
        inside = os.path.normpath(f"{tree.inside}/{folder}")
        report = shop.run(command, inside, seconds=self._limits.test_seconds)
        if report.stopped_by is not None:
            tests = OwnTests.NO_TIME if report.stopped_by == "time" else OwnTests.FAILED
        else:
            tests = OwnTests.FAILED if report.exit_status else OwnTests.PASSED
        is_useful = tests is OwnTests.PASSED and bool(self.result.programs)
        is_kept = is_useful and keep_tree(tree.path, self._folder / TREE, self._limits.tree_bytes)
        programs = tuple(
            replace(program, tests=tests, tree=TREE if is_kept else "")
            for program in self.result.programs
        )
        self._update(programs=programs, test_command=tuple(command), test_folder=folder)

    def _report_failed(self, outcome: BuildOutcome | None = None) -> _Abandoned:
        logged_outcome, reason = explain_log(_trim_log(self._folder / LOG))
        return _Abandoned(outcome or logged_outcome, reason)

    def _update(self, **fields: object) -> None:
        self.result = replace(self.result, **fields)  # type: ignore[arg-type]  # its own fields


def _write_stand_ins(recorder: Path, root: Path) -> None:
    """Write a stand-in for each compiler in the system `root`, under each of its names."""
    folder = recorder / "compilers"
    folder.mkdir()
    shutil.copyfile(WATCH, recorder / WATCH.name)
    names = sorted(os.listdir(root / "usr/bin"))
    for name in names:
        plain = name.removeprefix("x86_64-linux-gnu-").rstrip("0123456789.").rstrip("-")
        if plain in _REAL:
            stand_in(
                folder / name,
                f"{_RECORDER}/commands.jsonl",
                [f"/usr/bin/{name}"],
                python="/usr/bin/python3",
                watch=f"{_RECORDER}/{WATCH.name}",
                unrecorded=_TRIALS,
            )


def _variables() -> dict[str, str]:
    return build_variables(
        {
            "PATH": f"{_COMPILERS}:{_SYSTEM_PATH}",
            "HOME": "/nonexistent",
            "LC_ALL": "C.UTF-8",
            "USER": "builder",
            "LOGNAME": "builder",
            "DEB_BUILD_OPTIONS": _OPTIONS,
            "DH_VERBOSE": "1",
        }
    )


def _licences_in(tree: BuiltTree) -> Licences:
    path = tree.path / "debian" / "copyright"
    try:
        text = read_regular(path, most=1 << 22).decode(errors="replace") if tree.holds(path) else ""
    except OSError:
        text = ""
    return Licences.read(text)


def _read_signed(text: str) -> str:
    """Return the text of a description, without its signature."""
    head, _, body = text.partition("-----BEGIN PGP SIGNED MESSAGE-----")
    return body.partition("\n\n")[2] if body else head


def _limit_passed(name: str, limits: PackageLimits) -> tuple[BuildOutcome, str]:
    return {
        "time": (BuildOutcome.TIME, f"it took longer than {limits.seconds:g} s"),
        "memory": (BuildOutcome.MEMORY, f"it used more than {limits.memory_bytes >> 20:,} MiB"),
        "processes": (BuildOutcome.PROCESSES, f"it ran more than {limits.processes} processes"),
        "output": (BuildOutcome.DISK, "it filled its scratch folder"),
    }[name]


def _trim_log(log: Path) -> str:
    """Truncate a log to its end and return that."""
    size = log.stat().st_size
    with log.open("rb+") as file:
        file.seek(max(size - _MOST_LOGGED, 0))
        tail = file.read()
        if size > _MOST_LOGGED:
            file.seek(0)
            file.write(tail)
            file.truncate()
    return tail.decode(errors="replace")


def _bytes_in(folder: Path) -> int:
    total = 0
    for parent, _, files in os.walk(folder):
        for name in files:
            try:
                total += os.lstat(os.path.join(parent, name)).st_blocks * 512
            except OSError:
                continue
    return total


def _raise_if_unreached(error: DownloadFailed) -> None:
    """Raise `error` if the network failed, which is not a failure of the package."""
    if _UNREACHED.search(str(error)):
        raise error


def _one_line(error: Exception) -> str:
    return " ".join(str(error).split())[:300]

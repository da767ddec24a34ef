# SPDX-License-Identifier: MIT
"""Build the packages of a lock into one folder, and resume interrupted builds.

The folder of a package appears atomically when it is finished, so an interruption with Ctrl-C or a
kill loses only the packages that are being built.
"""

import shutil
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field
from pathlib import Path

from compiler_gym.errors import DatasetInitError
from compiler_gym.files import FolderLock, lock_path, replace_directory, writing
from compiler_gym.options import PackageLimits
from compiler_gym_corpus.packages.building import BuildStopped, Supplier, build_package
from compiler_gym_corpus.packages.compiling import UnitCompiler
from compiler_gym_corpus.packages.lock import (
    LockedPackage,
    PackageLock,
    read_lock,
    write_lock,
)
from compiler_gym_corpus.packages.records import (
    PACKAGES,
    RESULT,
    PackageResult,
    read_result,
    write_result,
)

__all__ = ["PackageBuilder", "build_packages", "open_output", "split_packages"]

LOCK = "lock.toml"
_LEAST_FREE = 1 << 30


@dataclass(frozen=True, slots=True)
class PackageBuilder:
    """Builds packages into `output`; several processes may share that folder."""

    output: Path
    supplier: Supplier
    compiler: UnitCompiler
    limits: PackageLimits = field(default_factory=PackageLimits)

    def folder(self, package: LockedPackage) -> Path:
        """Return the result folder of `package`."""
        return self.output / PACKAGES / package.folder

    def __call__(
        self, package: LockedPackage, is_stopped: Callable[[], bool] = lambda: False
    ) -> PackageResult:
        """Build `package`, unless it is finished, and return the result.

        Raises `DatasetInitError` if the output cannot be written.
        """
        folder = self.folder(package)
        with writing(folder, DatasetInitError):
            folder.parent.mkdir(parents=True, exist_ok=True)
            with lock_path(folder):
                if (folder / RESULT).exists():
                    return read_result(folder)
                self._require_space(folder.parent)
                with replace_directory(folder) as new:
                    result = build_package(
                        package,
                        new,
                        supplier=self.supplier,
                        compiler=self.compiler,
                        limits=self.limits,
                        is_stopped=is_stopped,
                    )
                    write_result(new, result)
        return result

    def _require_space(self, folder: Path) -> None:
        free = shutil.disk_usage(folder).free
        if free < _LEAST_FREE:
            raise DatasetInitError(
                f"{folder} has {free >> 20} MiB free but needs {_LEAST_FREE >> 20}; free some "
                "space and continue with --resume, or choose another folder"
            )


def open_output(output: Path, lock: PackageLock, *, resume: bool) -> FolderLock:
    """Create the folder `output` for the packages of `lock` and return its exclusive lock.

    Raises `DatasetInitError` if it contains packages and `resume` is false, or packages of
    another lock, and `CacheError` if another process is writing to it.
    """
    with writing(output, DatasetInitError):
        output.mkdir(parents=True, exist_ok=True)
        folder_lock = FolderLock.take(output)
    try:
        path = output / LOCK
        if path.exists() and any((output / PACKAGES).glob("*")):
            if read_lock(path) != lock:
                raise DatasetInitError(
                    f"{output} contains packages of another lock; choose another folder, or pass "
                    f"--lock {path}"
                )
            if not resume:
                raise DatasetInitError(
                    f"{output} contains packages; continue with --resume, or choose another folder"
                )
        with writing(path, DatasetInitError):
            write_lock(path, lock)
    except BaseException:
        folder_lock.release()
        raise
    return folder_lock


def build_packages(
    lock: PackageLock, builder: PackageBuilder, *, jobs: int = 1
) -> Iterator[PackageResult]:
    """Yield the result of each package of `lock`, finished ones first.

    `jobs` packages are built in parallel. If the iteration ends early for any reason, running
    builds are stopped without a result.
    """
    finished, pending = split_packages(lock, builder)
    yield from finished
    stop = threading.Event()
    with ThreadPoolExecutor(jobs) as pool:
        queue = iter(pending)
        running: set[Future[PackageResult]] = set()
        try:
            while True:
                for _, package in zip(range(jobs - len(running)), queue, strict=False):
                    running.add(pool.submit(builder, package, stop.is_set))
                if not running:
                    return
                ended, running = wait(running, return_when=FIRST_COMPLETED)
                for future in ended:
                    yield future.result()
        finally:
            stop.set()
            for future in running:
                try:
                    future.result()
                except (
                    BuildStopped,
                    Exception,
                ):  # only the first error is raised
                    continue


def split_packages(
    lock: PackageLock, builder: PackageBuilder
) -> tuple[list[PackageResult], list[LockedPackage]]:
    """Return the results of finished packages, and the unfinished packages."""
    finished: list[PackageResult] = []
    pending: list[LockedPackage] = []
    for package in lock.packages:
        folder = builder.folder(package)
        if (folder / RESULT).exists():
            finished.append(read_result(folder))
        else:
            pending.append(package)
    return finished, pending

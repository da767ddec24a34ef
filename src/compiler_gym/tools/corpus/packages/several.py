# SPDX-License-Identifier: MIT
"""Build the packages of a lock into one folder, and go on where an earlier build was stopped.

A package is done when its folder is there, which is put in its place whole: whatever stops a
build, by Ctrl-C or by a kill, costs the packages in work and no other.
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
from compiler_gym.tools.corpus.packages.building import BuildStopped, Supplier, build_package
from compiler_gym.tools.corpus.packages.compiling import UnitCompiler
from compiler_gym.tools.corpus.packages.lock import (
    LockedPackage,
    PackageLock,
    read_lock,
    write_lock,
)
from compiler_gym.tools.corpus.packages.records import (
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
    """What builds one package after the other; another process may have one like it."""

    output: Path
    supplier: Supplier
    compiler: UnitCompiler
    limits: PackageLimits = field(default_factory=PackageLimits)

    def folder(self, package: LockedPackage) -> Path:
        """Return where the result of `package` lies."""
        return self.output / PACKAGES / package.folder

    def __call__(
        self, package: LockedPackage, is_stopped: Callable[[], bool] = lambda: False
    ) -> PackageResult:
        """Build `package`, unless that is done, and return how it ended.

        Raises `DatasetInitError` where the output cannot be written.
        """
        folder = self.folder(package)
        with writing(folder, DatasetInitError):
            folder.parent.mkdir(parents=True, exist_ok=True)
            with lock_path(folder):
                if (folder / RESULT).exists():
                    return read_result(folder)
                self._require_space(folder.parent)
                with replace_directory(folder) as made:
                    result = build_package(
                        package,
                        made,
                        supplier=self.supplier,
                        compiler=self.compiler,
                        limits=self.limits,
                        is_stopped=is_stopped,
                    )
                    write_result(made, result)
        return result

    def _require_space(self, folder: Path) -> None:
        free = shutil.disk_usage(folder).free
        if free < _LEAST_FREE:
            raise DatasetInitError(
                f"expected {_LEAST_FREE >> 20} MiB free for {folder}, found {free >> 20}: make "
                "room and go on with --resume, or name another folder"
            )


def open_output(output: Path, lock: PackageLock, *, resume: bool) -> FolderLock:
    """Return the lock of the folder `output`, made for what `lock` names.

    Raises `DatasetInitError` where it holds packages and nobody said to `resume`, or those of
    another lock, and `CacheError` where another process writes it.
    """
    with writing(output, DatasetInitError):
        output.mkdir(parents=True, exist_ok=True)
        held = FolderLock.take(output)
    try:
        path = output / LOCK
        if path.exists():
            if read_lock(path) != lock:
                raise DatasetInitError(
                    f"{output} holds packages of another lock: name another folder, or {path} as "
                    "--lock"
                )
            if not resume:
                raise DatasetInitError(
                    f"{output} holds packages: go on there with --resume, or name another folder"
                )
        with writing(path, DatasetInitError):
            write_lock(path, lock)
    except BaseException:
        held.release()
        raise
    return held


def build_packages(
    lock: PackageLock, builder: PackageBuilder, *, jobs: int = 1
) -> Iterator[PackageResult]:
    """Yield the result of each package of `lock`, those that are done first.

    `jobs` are built at once. When the iteration ends early, however it does, those in work end
    without a result.
    """
    done, waiting = split_packages(lock, builder)
    yield from done
    stop = threading.Event()
    with ThreadPoolExecutor(jobs) as pool:
        rest = iter(waiting)
        running: set[Future[PackageResult]] = set()
        try:
            while True:
                for _, package in zip(range(jobs - len(running)), rest, strict=False):
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
                ):  # the first error is raised, not those of the others
                    continue


def split_packages(
    lock: PackageLock, builder: PackageBuilder
) -> tuple[list[PackageResult], list[LockedPackage]]:
    """Return the results that are there, and the packages that have none yet."""
    done: list[PackageResult] = []
    waiting: list[LockedPackage] = []
    for package in lock.packages:
        folder = builder.folder(package)
        if (folder / RESULT).exists():
            done.append(read_result(folder))
        else:
            waiting.append(package)
    return done, waiting

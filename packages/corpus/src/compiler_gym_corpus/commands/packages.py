# SPDX-License-Identifier: MIT
"""The implementation of `compiler-gym datasets build`, with its progress output."""

import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compiler_gym.cli.kit.output import errors, output, show, table
from compiler_gym.errors import DatasetInitError, InvalidParameterError
from compiler_gym.files import cache_path, read_regular
from compiler_gym.options import PackageChoice, PackageLimits
from compiler_gym_corpus.commands.importing import corpus_builder

if TYPE_CHECKING:
    from compiler_gym_corpus.packages import (
        PackageBuilder,
        PackageLock,
        PackageResult,
        UnitCompiler,
    )

__all__ = ["Distribution", "build_with_progress", "builder_for", "lock_for", "show_outcomes"]

_MIRRORS = {
    "debian": (
        "http://deb.debian.org/debian bookworm main",
        "http://deb.debian.org/debian-security bookworm-security main",
    )
}
"""The archives of each supported distribution."""


class Distribution:
    """A distribution to build packages of, and the compiler of an environment."""

    def __init__(self, name: str, env: str) -> None:
        if name not in _MIRRORS:
            raise InvalidParameterError(
                f"unknown distribution {name!r}: choose {' or '.join(_MIRRORS)}"
            )
        builder = corpus_builder(env)
        if builder is None:
            raise DatasetInitError(
                f"{env} cannot build packages; choose another environment with --env"
            )
        self.mirrors = _MIRRORS[name]
        self.compiler: UnitCompiler = builder.unit_compiler
        self.cache = cache_path("packages")


def lock_for(distribution: Distribution, choice: PackageChoice) -> "PackageLock":
    """Return the lock of the packages to build: an existing one, or one created from names."""
    from compiler_gym_corpus.packages import (
        PackageLock,
        UnpackedSupplier,
        find_lock,
        read_lock,
    )

    choice.require_one()
    if choice.lock is not None:
        return read_lock(find_lock(choice.lock))
    newest = UnpackedSupplier(
        distribution.cache, PackageLock(distribution.mirrors, ()), distribution.compiler.packages
    )
    if choice.packages is not None:
        names = _list_packages(Path(choice.packages).expanduser())
    else:
        names = newest.choose_packages(choice.count or 0, choice.seed)
    errors().print(f"looking up {len(names)} packages ...", style="dim")
    return newest.lock_packages(names)


def builder_for(
    distribution: Distribution,
    lock: "PackageLock",
    output: Path,
    limits: PackageLimits,
    *,
    installs: bool,
) -> "PackageBuilder":
    """Return a builder for the packages of `lock`; raise an error if this machine cannot build."""
    from compiler_gym.sandbox import require_rooted
    from compiler_gym_corpus.packages import (
        InstalledSupplier,
        PackageBuilder,
        UnpackedSupplier,
    )

    require_rooted()
    kind = InstalledSupplier if installs else UnpackedSupplier
    supplier = kind(distribution.cache, lock, distribution.compiler.packages)
    return PackageBuilder(output, supplier.prepare(), distribution.compiler, limits)


def build_with_progress(
    lock: "PackageLock", builder: "PackageBuilder", *, jobs: int, ray: str | None
) -> "list[PackageResult]":
    """Build every package and show progress on standard error."""
    from compiler_gym_corpus.packages import build_packages, split_packages

    finished, _ = split_packages(lock, builder)
    results: list[PackageResult] = []
    if ray is None:
        stream = build_packages(lock, builder, jobs=jobs)
    else:
        stream = _build_on_ray(ray, lock, builder)
    total, started = len(lock.packages), time.monotonic()
    with _progress_bar(total) as bar:
        for result in stream:
            results.append(result)
            if bar is not None:
                bar.update(bar.task_ids[0], completed=len(results), description=result.package)
            if len(results) <= len(finished):
                continue
            average = (time.monotonic() - started) / (len(results) - len(finished))
            remaining = _round_time((total - len(results)) * average)
            line = f"[{len(results)}/{total}] {_write_line(result)}"
            errors().print(
                f"{line}; {remaining} left", soft_wrap=True, markup=False, highlight=False
            )
    return results


def show_outcomes(results: "Sequence[PackageResult]", folder: Path) -> None:
    """Print a table of outcomes and the numbers of modules and programs."""
    counts = Counter(result.outcome for result in results)
    rows = table("Outcome", "Packages", "Share", "Example", right=("Packages", "Share"))
    for outcome, number in counts.most_common():
        first = next(result for result in results if result.outcome is outcome)
        example = f"{first.package}: {first.reason}" if first.reason else first.package
        share = f"{100 * number / len(results):.0f} %"
        rows.add_row(outcome.value, str(number), share, _cut(example, 44))
    show(rows)
    modules = sum(len(result.modules) for result in results)
    programs = sum(len(result.programs) for result in results)
    output().print(
        f"{modules:,} modules and {programs:,} linked programs in {folder}", soft_wrap=True
    )


def _build_on_ray(
    address: str, lock: "PackageLock", builder: "PackageBuilder"
) -> "Iterator[PackageResult]":
    """Yield results built on a Ray cluster whose nodes share the output folder."""
    from compiler_gym.tools.learn.integrations import spread_tasks
    from compiler_gym_corpus.packages import split_packages

    finished, pending = split_packages(lock, builder)
    yield from finished
    cluster = None if address == "local" else address
    for package, result in spread_tasks(pending, builder, address=cluster):
        if isinstance(result, Exception):
            raise DatasetInitError(
                f"{package.name} failed on the cluster: {str(result).splitlines()[-1]}; continue "
                "with --resume"
            ) from result
        yield result


def _progress_bar(total: int) -> AbstractContextManager[Any]:
    if not errors().is_terminal:
        return nullcontext()
    from rich import progress

    columns = (
        progress.MofNCompleteColumn(),
        progress.BarColumn(),
        progress.TimeElapsedColumn(),
        progress.TextColumn("after {task.description}", markup=False),
    )
    bar = progress.Progress(*columns, console=errors(), transient=True)
    bar.add_task("the start", total=total)
    return bar


def _write_line(result: "PackageResult") -> str:
    line = f"{result.package} {result.version}: {result.outcome.value}"
    if result.modules:
        line += f", {len(result.modules)} modules, {len(result.programs)} programs"
    elif result.reason:
        line += f": {_cut(result.reason, 100)}"
    return f"{line}, {_round_time(result.seconds)}"


def _round_time(seconds: float) -> str:
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 100 else f"{minutes / 60:.1f} h"


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _list_packages(path: Path) -> list[str]:
    try:
        text = read_regular(path).decode()
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else error
        raise DatasetInitError(
            f"cannot read {path}: {reason}; it needs one package name per line"
        ) from error
    lines = (line.partition("#")[0].strip() for line in text.splitlines())
    names = [line for line in lines if line]
    if not names:
        raise DatasetInitError(f"{path} contains no package names; write one per line")
    return names

# SPDX-License-Identifier: MIT
"""List the programs of a hunt: those of a dataset, a built corpus, or a project's folder.

Each program has the name of its package; unreadable ones raise an error when they are read.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from itertools import chain, zip_longest
from pathlib import Path

from compiler_gym.builds import IR_SUFFIXES
from compiler_gym.envs.llvm import make_benchmark, make_benchmarks_from_compile_commands
from compiler_gym.envs.llvm.toolchain import clang_command
from compiler_gym.errors import BenchmarkInitError, BenchmarkNotFoundError, CompilerGymError
from compiler_gym.registration import make

__all__ = ["HuntedProgram", "programs_in"]

_SOURCES = (".c", ".cc", ".cpp", ".cxx", ".C", ".i", ".ii")
_DATABASE = "compile_commands.json"


@dataclass(frozen=True, slots=True)
class HuntedProgram:
    """One program, which is read on demand."""

    name: str
    package: str
    read: Callable[[], bytes]
    """Returns the bitcode or IR, or raises a `CompilerGymError`."""


def programs_in(where: str) -> list[HuntedProgram]:
    """Return the programs of a dataset or below a path, alternating between packages.

    A built corpus (``packages/NAME/modules``) defines its packages, a folder with a
    ``compile_commands.json`` is one package, and otherwise each subfolder is a package.

    Raises `BenchmarkNotFoundError` if there are no programs, and `BenchmarkInitError` if they must
    be compiled but clang is not installed.
    """
    path = Path(where)
    if not path.exists():
        if "/" in where and "://" not in where:
            raise BenchmarkNotFoundError(f"no such file or folder: {where}")
        programs = _list_dataset(where)
    elif (path / _DATABASE).is_file():
        programs = _compile_by_database(path / _DATABASE)
    else:
        programs = _files_under(path)
    if not programs:
        raise BenchmarkNotFoundError(
            f"no programs in {where}; name a dataset, or a folder with {_DATABASE}, "
            f"{' '.join(IR_SUFFIXES)} or source files"
        )
    return _alternate(programs)


def _files_under(path: Path) -> list[HuntedProgram]:
    built = sorted(path.glob("packages/*/modules/*.bc"))
    if built:
        return [_read_file(file, file.parts[-3].partition("_")[0], path) for file in built]
    files = [path] if path.is_file() else sorted(file for file in path.rglob("*") if file.is_file())
    programs = [file for file in files if file.suffix in (*IR_SUFFIXES, *_SOURCES)]
    if any(file.suffix in _SOURCES for file in programs):
        clang_command()
    root = path if path.is_dir() else path.parent
    return [
        _read_file(file, next(iter(file.relative_to(root).parts[:-1]), root.absolute().name), root)
        for file in programs
    ]


def _read_file(path: Path, package: str, root: Path) -> HuntedProgram:
    def read() -> bytes:
        try:
            if path.suffix in IR_SUFFIXES:
                return path.read_bytes()
            return make_benchmark(path).contents
        except OSError as error:
            if isinstance(error, CompilerGymError):
                raise
            raise BenchmarkInitError(f"cannot read {path}: {error.strerror}") from error

    return HuntedProgram(str(path.relative_to(root)), package, read)


def _compile_by_database(path: Path) -> list[HuntedProgram]:
    clang_command()
    unreadable: list[tuple[str, str]] = []
    benchmarks = make_benchmarks_from_compile_commands(path, unreadable=unreadable)
    package = path.absolute().parent.name

    def failing(reason: str) -> Callable[[], bytes]:
        def read() -> bytes:
            raise BenchmarkInitError(reason)

        return read

    readable = [
        HuntedProgram(name, package, lambda b=b: b.contents) for name, b in benchmarks.items()
    ]
    return readable + [HuntedProgram(name, package, failing(reason)) for name, reason in unreadable]


def _list_dataset(name: str) -> list[HuntedProgram]:
    with make("llvm-v0") as env:
        dataset = env.datasets.dataset(name)
    items: list[HuntedProgram] = []
    for uri in dataset.benchmark_uris():
        text = str(uri)
        facts = getattr(dataset, "facts", None)
        places = facts(uri).places if facts is not None else ()
        package = places[0].package if places else text.split("/")[3]
        items.append(HuntedProgram(text, package, lambda uri=uri: dataset.benchmark(uri).contents))
    return items


def _alternate(programs: Sequence[HuntedProgram]) -> list[HuntedProgram]:
    """Return one program of each package, then a second of each, so any prefix is a fair sample."""
    packages: dict[str, list[HuntedProgram]] = {}
    for program in sorted(programs, key=lambda program: sha256(program.name.encode()).digest()):
        packages.setdefault(program.package, []).append(program)
    rounds: Iterator[tuple[HuntedProgram | None, ...]] = zip_longest(*packages.values())
    return [program for program in chain.from_iterable(rounds) if program is not None]

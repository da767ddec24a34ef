# SPDX-License-Identifier: MIT
"""Where the programs of a hunt come from: a dataset, a built corpus, or a project's folder.

Yields each program with the name of its package, or with the reason why it cannot be read.
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
    """One program, read when it is asked for."""

    name: str
    package: str
    read: Callable[[], bytes]
    """Return its bitcode or IR, or raise a `CompilerGymError`."""


def programs_in(where: str) -> list[HuntedProgram]:
    """Return the programs of a dataset or below a path, packages in turns.

    A folder of a built corpus (``packages/NAME/modules``) says what belongs to which package; a
    ``compile_commands.json`` how a project is compiled; otherwise each folder below is a package.

    Raises `BenchmarkNotFoundError` where there is none, and `BenchmarkInitError` where they have
    to be compiled and there is no clang.
    """
    path = Path(where)
    if not path.exists():
        if "/" in where and "://" not in where:
            raise BenchmarkNotFoundError(f"no such file or folder: {where}")
        found = _of_dataset(where)
    elif (path / _DATABASE).is_file():
        found = _compile_by_database(path / _DATABASE)
    else:
        found = _files_under(path)
    if not found:
        raise BenchmarkNotFoundError(
            f"no program is in {where}: expected a dataset, or a folder with {_DATABASE}, "
            f"{' '.join(IR_SUFFIXES)} or sources"
        )
    return _in_turns(found)


def _files_under(path: Path) -> list[HuntedProgram]:
    built = sorted(path.glob("packages/*/modules/*.bc"))
    if built:
        return [_of_file(file, file.parts[-3].partition("_")[0], path) for file in built]
    files = [path] if path.is_file() else sorted(one for one in path.rglob("*") if one.is_file())
    found = [one for one in files if one.suffix in (*IR_SUFFIXES, *_SOURCES)]
    if any(file.suffix in _SOURCES for file in found):
        clang_command()
    root = path if path.is_dir() else path.parent
    return [
        _of_file(one, next(iter(one.relative_to(root).parts[:-1]), root.absolute().name), root)
        for one in found
    ]


def _of_file(path: Path, package: str, root: Path) -> HuntedProgram:
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
    made = make_benchmarks_from_compile_commands(path, unreadable=unreadable)
    package = path.absolute().parent.name

    def failing(reason: str) -> Callable[[], bytes]:
        def read() -> bytes:
            raise BenchmarkInitError(reason)

        return read

    readable = [
        HuntedProgram(name, package, lambda one=one: one.contents) for name, one in made.items()
    ]
    return readable + [HuntedProgram(name, package, failing(said)) for name, said in unreadable]


def _of_dataset(name: str) -> list[HuntedProgram]:
    with make("llvm-v0") as env:
        dataset = env.datasets.dataset(name)
    found: list[HuntedProgram] = []
    for uri in dataset.benchmark_uris():
        text = str(uri)
        facts = getattr(dataset, "facts", None)
        places = facts(uri).places if facts is not None else ()
        package = places[0].package if places else text.split("/")[3]
        found.append(HuntedProgram(text, package, lambda uri=uri: dataset.benchmark(uri).contents))
    return found


def _in_turns(programs: Sequence[HuntedProgram]) -> list[HuntedProgram]:
    """Return one program of each package, then a second of each: any beginning is a fair sample."""
    packages: dict[str, list[HuntedProgram]] = {}
    for one in sorted(programs, key=lambda one: sha256(one.name.encode()).digest()):
        packages.setdefault(one.package, []).append(one)
    rounds: Iterator[tuple[HuntedProgram | None, ...]] = zip_longest(*packages.values())
    return [one for one in chain.from_iterable(rounds) if one is not None]

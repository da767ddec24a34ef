# SPDX-License-Identifier: MIT
"""The programs that come with this library: sources, bitcode, inputs and expected outputs.

They have the names of cBench's programs and do the same jobs, but were written from scratch. This
module finds and reads them; it compiles and runs nothing.
"""

import copy
import importlib.util
import sys
import threading
from collections.abc import Iterator
from dataclasses import replace
from functools import cache, lru_cache, partial
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar

from compiler_gym.datasets.benchmark import Benchmark, BenchmarkSource
from compiler_gym.datasets.dataset import Dataset
from compiler_gym.datasets.run_spec import (
    ExpectedOutput,
    GeneratedCases,
    RunCase,
    RunSpec,
    unpack_run,
)
from compiler_gym.datasets.uri import BenchmarkUri
from compiler_gym.errors import BenchmarkInitError, DatasetInitError, UnknownNameError
from compiler_gym.errors.nearest import unknown_name

SIZES = ("test", "small", "ref")
"""The size classes of cases, fastest first."""
_DATASET_URI = "benchmark://cbench-v1"


class BundledPrograms(Dataset):
    """``benchmark://cbench-v1``: clean-room programs that do the jobs of cBench's.

    They have the names of cBench's programs and process the same file formats, but share none
    of their code: do not compare results with those published for cBench on LLVM 10, whose
    original programs are ``benchmark://cbench-llvm10-v1``.

    Each program has its source and at least 20 inputs, with the output of a -O0 build for each
    input, so optimised programs can be validated. ``?dataset=N`` after an address selects the
    N-th input only, counted from 0.
    """

    uri_keys: ClassVar[tuple[str, ...]] = ("dataset",)

    def __init__(self, *, sort_order: int = -1) -> None:
        super().__init__(
            _DATASET_URI,
            "Runnable C programs that do the jobs of cBench's, written from scratch",
            "MIT",
            references={"cBench (the jobs)": "https://ctuning.org/wiki/index.php/CTools:CBench"},
            sort_order=sort_order,
            validatable="Yes",
        )

    @property
    def size(self) -> int:
        """The number of programs."""
        return len(_list_bundled_names())

    def benchmark_uris(self) -> Iterator[str]:
        """Yield the address of every program, sorted by name."""
        for name in _list_bundled_names():
            yield f"{self.name}/{name}"

    def benchmark_from_parsed_uri(self, uri: BenchmarkUri) -> "BundledProgram":
        """Return the program at `uri`."""
        name = uri.path.strip("/")
        if name not in _list_bundled_names():
            raise UnknownNameError(
                unknown_name("program", name, _list_bundled_names(), where=self.name)
            )
        return BundledProgram(uri, name)

    def benchmark(self, uri: str | BenchmarkUri) -> Benchmark:
        """Return the program at `uri`, whose query may select one of its inputs."""
        program = super().benchmark(uri)
        if "dataset" in program.parameters:
            program.run = _with_one_case(make_run_spec(program.uri.path.strip("/")), program.uri)
        return program


class BundledProgram(Benchmark):
    """One bundled program; its sources and runs are read on first use."""

    def __init__(self, uri: BenchmarkUri, name: str) -> None:
        self._name = name
        self._spec: RunSpec | None = None
        super().__init__(uri, (find_bundled_folder() / name / f"{name}.bc").read_bytes())

    @property
    def run(self) -> RunSpec | None:  # type: ignore[override]  # read on first use
        """Every case of the program, with its expected output."""
        if self._spec is None:
            self._spec = make_run_spec(self._name)
        return self._spec

    @run.setter
    def run(self, value: RunSpec | None) -> None:
        self._spec = value
        self._has_own_run = value is not None

    def encode_run(self) -> bytes:
        """Return empty bytes unless `run` was replaced: workers create the cases themselves."""
        return super().encode_run() if self._has_own_run else b""

    def with_contents(self, contents: bytes) -> "BundledProgram":
        """Return the same program in another form, for compilers that do not read bitcode."""
        other = copy.copy(self)
        other._contents = contents
        return other

    @property
    def units(self) -> tuple[Path, ...]:
        """The paths of the C files that are compiled."""
        folder = find_bundled_folder() / self._name
        return tuple(
            (folder / source).resolve() for source in _read_bundled_program(self._name).sources
        )

    @property
    def sources(self) -> tuple[BenchmarkSource, ...]:  # type: ignore[override]  # read on first use
        """The C files and headers, named so that includes resolve within one directory."""
        folder = (find_bundled_folder() / self._name).resolve()
        listed = [
            (folder / source).resolve() for source in _read_bundled_program(self._name).sources
        ]
        shared = sorted({path.parent for path in listed if path.parent != folder})
        paths = [path for parent in (folder, *shared) for path in sorted(parent.iterdir())]
        files = [path for path in paths if path.suffix in (".c", ".h")]
        root = folder.parent if shared else folder
        return tuple(BenchmarkSource(str(p.relative_to(root)), p.read_bytes()) for p in files)


def find_bundled_folder() -> Path:
    """Return the folder of the bundled programs, in a wheel or in a checkout."""
    here = Path(__file__).resolve()
    for candidate in (here.parents[1] / "programs", here.parents[3] / "programs"):
        if (candidate / "_cases.py").is_file():
            return candidate
    raise DatasetInitError(
        f"the bundled programs are missing from {here.parents[1]}; reinstall the package"
    )


def find_run(uri: str, packed: bytes) -> RunSpec | None:
    """Return the run specification of the program at `uri`, or None if it has none.

    `packed` is the specification sent with the program; that of a bundled program follows from
    its name.
    """
    if packed:
        return unpack_run(packed)
    parsed = BenchmarkUri.from_string(uri)
    if parsed.dataset_name != _DATASET_URI:
        return None
    try:
        return make_run_spec(parsed.path.strip("/"))
    except (KeyError, OSError, UnknownNameError):
        return None


def make_run_spec(name: str) -> RunSpec:
    """Return the run specification of the bundled program `name`; cases are created lazily."""
    program = _read_bundled_program(name)
    keys = [(size, i) for size in SIZES for i in range(program.counts[size])]
    return RunSpec(
        GeneratedCases(keys, partial(_case, name)), link=program.link, more=partial(_further, name)
    )


def _with_one_case(run: RunSpec, uri: BenchmarkUri) -> RunSpec:
    """Return `run` with only the case that the key ``dataset`` of `uri` selects."""
    number = uri.parameters["dataset"]
    if not (number.isascii() and number.isdecimal() and int(number) < len(run.cases)):
        raise BenchmarkInitError(
            f"{uri}: dataset must be a number from 0 to {len(run.cases) - 1} (got {number!r})"
        )
    return replace(run, cases=(run.cases[int(number)],), more=None)


def _case(name: str, size: str, index: int) -> RunCase:
    """Return a recorded case; cache the small ones, which every validation runs."""
    return _keep_case(name, size, index) if size == SIZES[0] else _make_case(name, size, index)


@lru_cache(maxsize=2048)
def _keep_case(name: str, size: str, index: int) -> RunCase:
    return _make_case(name, size, index)


def _make_case(name: str, size: str, index: int) -> RunCase:
    case = _read_bundled_program(name).case(size, index)
    expected = _read_expected(name, size)[index]
    return RunCase(
        argv=tuple(case.argv),
        files=dict(case.files),
        stdin=case.stdin,
        outputs=tuple(case.outputs),
        expected=ExpectedOutput(expected.exit, expected.stdout, dict(expected.files)),
        name=f"{size}/{index}",
        size=size,
    )


def _further(name: str, number: int) -> RunCase:
    """Return a new test case of the same kind as a recorded one, with different contents."""
    program = _read_bundled_program(name)
    generator = _cases_module().Random.named(f"{name}/more/{number}")
    case = program.make("test", number % program.counts["test"], generator)
    return RunCase(
        tuple(case.argv), dict(case.files), case.stdin, tuple(case.outputs), None, f"more/{number}"
    )


@cache
def _read_expected(name: str, size: str) -> list[Any]:
    return _read_bundled_program(name).expected(size)


@cache
def _list_bundled_names() -> tuple[str, ...]:
    folder = find_bundled_folder()
    names = (path.parent.name for path in folder.glob("*/program.toml"))
    return tuple(sorted(name for name in names if (folder / name / f"{name}.bc").is_file()))


def _read_bundled_program(name: str) -> Any:
    with _loading:
        return _load_program(name)


def _cases_module() -> ModuleType:
    with _loading:
        return _load_cases_module()


@cache
def _load_program(name: str) -> Any:
    return _cases_module().Program.load(find_bundled_folder() / name)


@cache
def _load_cases_module() -> ModuleType:
    path = find_bundled_folder() / "_cases.py"
    spec = importlib.util.spec_from_file_location("compiler_gym_cases", path)
    if spec is None or spec.loader is None:
        raise DatasetInitError(f"cannot load {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


_loading = threading.RLock()
"""A lock held during imports, so that no other thread sees a half-initialised module."""

# SPDX-License-Identifier: MIT
"""Create a corpus file from a folder of built packages, deterministically.

The same packages give the same bytes on every machine with the same SQLite and Zstandard. The
shape reader caches its results, so gathering again after an interruption is fast.
"""

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from compiler_gym.datasets import (
    BUILT_LINK,
    PROGRAM_KINDS,
    FunctionShape,
    SplitMember,
    assign_splits,
    cluster_digest,
    split_of_package,
)
from compiler_gym.datasets.fetching import Report, as_dataset_errors, hold, transfer_bar
from compiler_gym.errors import DatasetInitError
from compiler_gym.files import replace_file
from compiler_gym_corpus.collections import CorpusWriter, corpus_path
from compiler_gym_corpus.packages.records import (
    MODULES,
    PACKAGES,
    PROGRAMS,
    BuildOutcome,
    BuiltModule,
    LinkedProgram,
    OwnTests,
    PackageResult,
    read_results,
)

__all__ = ["Chooser", "GatherReport", "ShapeReader", "gather", "gather_dataset", "holds_packages"]

ShapeReader = Callable[[Sequence[Path]], Sequence[Sequence[FunctionShape]]]
"""A function of a compiler plug-in that returns the functions in each of several program files."""

Chooser = Callable[[PackageResult, BuiltModule | LinkedProgram], bool]
"""A function that returns whether to include a program of a package."""


@dataclass(slots=True)
class GatherReport:
    """The contents of a new corpus."""

    path: Path
    """The corpus file."""
    packages: int = 0
    """The number of packages with programs in the corpus."""
    modules: int = 0
    programs: int = 0
    """The number of linked programs and shared libraries; one that consists of a single module also
    counts as a module."""
    duplicates: int = 0
    """The number of files whose bytes equal another file's."""
    clusters: int = 0
    """The number of groups of programs that are near duplicates as a whole."""
    tested: int = 0
    """The number of linked programs that their package's tests can be run on."""
    splits: Counter[str] = field(default_factory=Counter[str])
    """The number of programs per split."""

    def __str__(self) -> str:
        shares = ", ".join(f"{self.splits[name]} {name}" for name in sorted(self.splits))
        return (
            f"{self.modules} modules and {self.programs} linked programs of {self.packages} "
            f"packages, {self.duplicates} duplicates, {self.clusters} clusters, {self.tested} with "
            f"tests: {shares}"
        )


@dataclass(slots=True)
class _Place:
    package: str
    kind: str
    file: str
    command: tuple[str, ...]


@dataclass(slots=True)
class _Program:
    """A program with all the places it comes from."""

    path: Path
    built: BuiltModule | LinkedProgram
    result: PackageResult
    places: list[_Place]
    shapes: Sequence[FunctionShape] = ()
    parts: tuple[str, ...] = ()
    """The digests of the modules it was linked from."""
    test: tuple[str, ...] = ()
    """The package and the remaining columns of the table ``test``; empty without tests."""
    language: str = ""

    @property
    def packages(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(place.package for place in self.places))

    @property
    def kinds(self) -> int:
        return sum({PROGRAM_KINDS[place.kind] for place in self.places})


def holds_packages(folder: Path) -> bool:
    """Return whether `folder` contains built packages."""
    return (folder / PACKAGES).is_dir()


def gather(
    folder: Path,
    output: Path,
    *,
    name: str,
    shapes: ShapeReader,
    description: str = "",
    license: str = "",
    choose: Chooser = lambda result, built: True,
    report: Report = lambda done, total: None,
) -> GatherReport:
    """Write the corpus file `output` from the packages in `folder` and return a report.

    Args:
        folder: The output folder of `compiler-gym datasets build`, which is only read.
        output: The corpus file, which appears when it is complete.
        name: The name of the dataset.
        shapes: Returns the functions of programs.
        description: A one-line description of the programs.
        license: The licence of the dataset as a whole; each program also has its own.
        choose: Selects the programs to include; splits are assigned among these.
        report: Called with the number of bytes read so far and the total.

    Raises:
        DatasetInitError: No package in `folder` has programs, a program does not match its digest,
            a package exists in two versions, or the file cannot be written.
    """
    if not holds_packages(folder):
        raise DatasetInitError(
            f"{folder} contains no built packages; build them with "
            "`compiler-gym datasets build debian`"
        )
    results = _list_built_packages(folder)
    programs = list(_choose_programs(folder, results, choose).values())
    if not programs:
        raise DatasetInitError(f"no package in {folder} has programs to include")
    _read_shapes(programs, shapes)
    clusters = [cluster_digest(p.shapes, bytes.fromhex(p.built.sha256)) for p in programs]
    members = [
        SplitMember(program.packages, cluster, tuple({s.shape for s in program.shapes if s.counts}))
        for program, cluster in zip(programs, clusters, strict=True)
    ]
    splits = list(assign_splits(members))
    names = {name for program in programs for name in program.packages}
    summary = GatherReport(output, packages=len(names))
    summary.clusters, summary.splits = len(set(clusters)), Counter(splits)
    summary.duplicates = sum(len(program.places) - 1 for program in programs)
    with (
        as_dataset_errors(f"cannot write {output}"),
        replace_file(output) as partial,
        CorpusWriter(partial, name=name, description=description, license=license) as writer,
    ):
        _write_packages(writer, programs, results)
        _write_programs(writer, programs, report)
        _write_facts(writer, programs, clusters, splits, summary)
        _write_links(writer, programs, summary)
    return summary


def gather_dataset(
    name: str,
    folder: Path,
    *,
    site_data_base: Path,
    shapes: ShapeReader,
    description: str = "",
) -> GatherReport:
    """Create the dataset `name` from the packages in `folder` and return a report.

    The dataset keeps a link to the folder, whose built trees are needed to test linked programs:
    do not move it. Raises `DatasetInitError` as `gather` does.
    """
    path = corpus_path(site_data_base, name)
    bar = transfer_bar(f"Gathering {folder.name}")
    with as_dataset_errors(f"cannot write {path}"), hold(path), bar as report:
        summary = gather(
            folder,
            path,
            name=name,
            shapes=shapes,
            description=description or "Modules and linked programs from Debian packages",
            license="each package's own",
            report=report,
        )
        link = path.parent / f".{BUILT_LINK}.new"
        link.unlink(missing_ok=True)
        link.symlink_to(folder.resolve())
        link.replace(path.parent / BUILT_LINK)
    return summary


def _list_built_packages(folder: Path) -> dict[str, tuple[Path, PackageResult]]:
    results: dict[str, tuple[Path, PackageResult]] = {}
    for path, result in read_results(folder):
        if result.outcome is not BuildOutcome.BUILT:
            continue
        if result.package in results:
            other = results[result.package][1].version
            raise DatasetInitError(
                f"{folder} has {result.package} in two versions, {other} and {result.version}; "
                f"move the folder of one of them away"
            )
        results[result.package] = path, result
    return dict(sorted(results.items()))


def _choose_programs(
    folder: Path, results: dict[str, tuple[Path, PackageResult]], choose: Chooser
) -> dict[str, _Program]:
    """Return every selected program by its digest, sorted by package and file."""
    programs: dict[str, _Program] = {}

    def add(path: Path, built: BuiltModule | LinkedProgram, place: _Place) -> _Program:
        entry = programs.setdefault(built.sha256, _Program(path, built, result, []))
        if place not in entry.places:
            entry.places.append(place)
        return entry

    for package, result in results.values():
        for module in sorted(result.modules, key=lambda m: (m.file, m.sha256, m.command)):
            if choose(result, module):
                path = _find_file(package / MODULES, module.sha256)
                add(path, module, _Place(result.package, "module", module.file, module.command))
        for program in sorted(result.programs, key=lambda p: (p.name, p.sha256)):
            if choose(result, program):
                path = _find_file(package / PROGRAMS, program.sha256)
                kind = "library" if program.is_shared else "program"
                entry = add(path, program, _Place(result.package, kind, program.name, ()))
                entry.parts = entry.parts or program.modules
                is_tested = program.tests is OwnTests.PASSED and not program.is_shared
                if is_tested and program.tree and result.test_command:
                    tree = str((package / program.tree).relative_to(folder))
                    entry.test = entry.test or _test_row(program, result, tree)
                entry.language = _find_language(program, result)
    return programs


def _find_file(folder: Path, sha256: str) -> Path:
    """Return the file of that digest; its suffix depends on the compiler."""
    return next(folder.glob(f"{sha256}.*"), folder / sha256)


def _read_shapes(programs: Sequence[_Program], shapes: ShapeReader) -> None:
    """Read the functions of each program, package by package."""
    by_package: dict[str, list[_Program]] = {}
    for program in programs:
        by_package.setdefault(program.places[0].package, []).append(program)
    for group in by_package.values():
        for program, functions in zip(group, shapes([p.path for p in group]), strict=True):
            program.shapes = functions


def _write_packages(
    writer: CorpusWriter,
    programs: Sequence[_Program],
    results: dict[str, tuple[Path, PackageResult]],
) -> None:
    names = {place.package for program in programs for place in program.places}
    for number, package in enumerate(sorted(names), start=1):
        result = results[package][1]
        row = (package, result.version, result.source_sha256, result.license)
        origin = (split_of_package(package), result.compiler, result.level)
        writer.add_rows("package", [(number, *row, *origin)])


def _write_programs(writer: CorpusWriter, programs: Sequence[_Program], report: Report) -> None:
    total, read = sum(program.built.size for program in programs), 0
    names = _Names()
    for program in programs:
        contents = _check_contents(program)
        for place in program.places:
            writer.add(
                names.choose(place, program.built.sha256),
                contents,
                suffix=program.path.suffix,
                **_find_origin(program),
            )
        read += len(contents)
        report(read, total)


def _find_origin(program: _Program) -> dict[str, str]:
    built = program.built
    is_module = isinstance(built, BuiltModule)
    return {
        "license": (built.license if is_module else "") or program.result.license,
        "source": f"{program.result.package}={program.result.version}",
        "license_files": "debian/copyright",
        "language": built.language if is_module else program.language,
    }


class _Names:
    """The keys of programs: package and file, with a digest if a file gave several programs."""

    def __init__(self) -> None:
        self._digests: dict[str, str] = {}

    def choose(self, place: _Place, sha256: str) -> str:
        key = f"{place.package}/{place.file.lstrip('/')}"
        if self._digests.setdefault(key, sha256) != sha256:
            key = f"{key}~{sha256[:8]}"
        return key


def _check_contents(program: _Program) -> bytes:
    path, package = program.path, program.result.package
    try:
        contents = path.read_bytes()
    except OSError as error:
        raise DatasetInitError(
            f"cannot read {path}: {error.strerror}; build {package} again"
        ) from error
    if hashlib.sha256(contents).hexdigest() != program.built.sha256:
        raise DatasetInitError(f"{path} was altered; build {package} again")
    return contents


def _write_facts(
    writer: CorpusWriter,
    programs: Sequence[_Program],
    clusters: Sequence[bytes],
    splits: Sequence[str],
    summary: GatherReport,
) -> None:
    for program, cluster, split in zip(programs, clusters, splits, strict=True):
        number, kinds = _read_number(writer, program), program.kinds
        summary.modules += bool(kinds & PROGRAM_KINDS["module"])
        summary.programs += bool(kinds & ~PROGRAM_KINDS["module"])
        sizes = (program.built.instructions, program.built.functions)
        writer.add_rows("fact", [(number, kinds, split, cluster, *sizes)])
        writer.add_rows(
            "function",
            (
                (number, index, function.shape, function.instructions, function.is_library)
                for index, function in enumerate(program.shapes)
            ),
        )


def _write_links(writer: CorpusWriter, programs: Sequence[_Program], summary: GatherReport) -> None:
    numbers = writer.package_numbers()
    for program in programs:
        number = _read_number(writer, program)
        rows = {(p.package, p.kind, p.file, json.dumps(p.command)) for p in program.places}
        writer.add_rows(
            "place",
            (
                (number, numbers[package], PROGRAM_KINDS[kind], file, command)
                for package, kind, file, command in sorted(rows)
            ),
        )
        parts = {writer.find_number(part) for part in program.parts} - {None, number}
        writer.add_rows("part", ((number, part) for part in sorted(filter(None, parts))))
        if program.test:
            summary.tested += 1
            package, *columns = program.test
            writer.add_rows("test", [(number, numbers[package], *columns)])


def _test_row(program: LinkedProgram, result: PackageResult, tree: str) -> tuple[str, ...]:
    command, libraries = json.dumps(result.test_command), json.dumps(program.libraries)
    return result.package, program.name, result.test_folder, command, libraries, tree


def _find_language(program: LinkedProgram, result: PackageResult) -> str:
    """Return ``c++`` for a program with a C++ module, and ``c`` for one of C modules only."""
    languages = {m.language for m in result.modules if m.sha256 in program.modules}
    return max(languages, default="")


def _read_number(writer: CorpusWriter, program: _Program) -> int:
    number = writer.find_number(program.built.sha256)
    assert number is not None
    return number

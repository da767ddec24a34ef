# SPDX-License-Identifier: MIT
"""Make the corpus of a folder of built packages: one file, a function of that folder alone.

The same packages give the same bytes, on every machine that has the same SQLite and Zstandard.
What a compiler says of a module is asked once and kept by who answers, so that a gathering that
was interrupted is quick when it is begun again.
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
from compiler_gym.datasets.fetching import (
    CorpusWriter,
    Report,
    as_dataset_errors,
    corpus_path,
    hold,
    transfer_bar,
)
from compiler_gym.errors import DatasetInitError
from compiler_gym.files import replace_file
from compiler_gym.tools.corpus.packages.records import (
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
"""Returns the functions of each of some files of programs: a compiler's plug-in knows how."""

Chooser = Callable[[PackageResult, BuiltModule | LinkedProgram], bool]
"""Says whether a program of a package is taken."""


@dataclass(slots=True)
class GatherReport:
    """What a gathering found."""

    path: Path
    """The corpus file."""
    packages: int = 0
    """Packages that gave programs."""
    modules: int = 0
    programs: int = 0
    """Linked programs, shared libraries among them; those of one module count as both."""
    duplicates: int = 0
    """Places of programs whose bytes were there already."""
    clusters: int = 0
    """Programs that are not near duplicates of each other as a whole."""
    tested: int = 0
    """Linked programs that the tests of their package can be run on."""
    splits: Counter[str] = field(default_factory=Counter[str])
    """Number of programs that each split has."""

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
    """All that is known of one program, wherever it was found."""

    path: Path
    built: BuiltModule | LinkedProgram
    result: PackageResult
    places: list[_Place]
    shapes: Sequence[FunctionShape] = ()
    parts: tuple[str, ...] = ()
    """The digests of the modules that it was linked of."""
    test: tuple[str, ...] = ()
    """The package and the rest of the row of the table ``test``; empty where there is none."""
    language: str = ""

    @property
    def packages(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(place.package for place in self.places))

    @property
    def kinds(self) -> int:
        return sum({PROGRAM_KINDS[place.kind] for place in self.places})


def holds_packages(folder: Path) -> bool:
    """Return whether `folder` is one of built packages."""
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
    """Write the corpus `output`, called `name`, of the packages in `folder`; return what it has.

    Args:
        folder: What `compiler-gym datasets build` left; it is only read.
        output: The corpus file, which appears when it is whole.
        name: The name of the dataset.
        shapes: Tells the functions of programs.
        description: Description of the programs in one line.
        license: What is said of the licences of all; each program has its own besides.
        choose: Which programs are taken; splits are among those.
        report: Told the bytes that were read so far, and of how many.

    Raises:
        DatasetInitError: No package in `folder` gave a program, a program is not what its digest
            says, one package is there in two versions, or the file cannot be written.
    """
    if not holds_packages(folder):
        raise DatasetInitError(
            f"expected a folder of built packages, found none in {folder}: build it with "
            "`compiler-gym datasets build debian`"
        )
    results = _list_built_packages(folder)
    found = _choose_programs(folder, results, choose)
    if not found:
        raise DatasetInitError(f"no package in {folder} gave a program")
    programs = list(found.values())
    _read_shapes(programs, shapes)
    clusters = [cluster_digest(one.shapes, bytes.fromhex(one.built.sha256)) for one in programs]
    members = [
        SplitMember(one.packages, cluster, tuple({s.shape for s in one.shapes if s.counts}))
        for one, cluster in zip(programs, clusters, strict=True)
    ]
    splits = list(assign_splits(members))
    done = GatherReport(output, packages=len({p for one in programs for p in one.packages}))
    done.clusters, done.splits = len(set(clusters)), Counter(splits)
    done.duplicates = sum(len(one.places) - 1 for one in programs)
    with (
        as_dataset_errors(f"cannot write {output}"),
        replace_file(output) as partial,
        CorpusWriter(partial, name=name, description=description, license=license) as writer,
    ):
        _write_packages(writer, programs, results)
        _write_programs(writer, programs, report)
        _write_facts(writer, programs, clusters, splits, done)
        _write_links(writer, programs, done)
    return done


def gather_dataset(
    name: str,
    folder: Path,
    *,
    site_data_base: Path,
    shapes: ShapeReader,
    description: str = "",
) -> GatherReport:
    """Make the dataset `name` of the packages in `folder`, and return what it has.

    The folder stays where it is, and the dataset remembers where: the trees are there that
    linked programs are tested in. Raises `DatasetInitError` as `gather` does.
    """
    path = corpus_path(site_data_base, name)
    bar = transfer_bar(f"Gathering {folder.name}")
    with as_dataset_errors(f"cannot write {path}"), hold(path), bar as report:
        said = description or "Modules and linked programs of Debian's packages"
        license = "each package's own"
        done = gather(
            folder,
            path,
            name=name,
            shapes=shapes,
            description=said,
            license=license,
            report=report,
        )
        link = path.parent / f".{BUILT_LINK}.new"
        link.unlink(missing_ok=True)
        link.symlink_to(folder.resolve())
        link.replace(path.parent / BUILT_LINK)
    return done


def _list_built_packages(folder: Path) -> dict[str, tuple[Path, PackageResult]]:
    results: dict[str, tuple[Path, PackageResult]] = {}
    for place, result in read_results(folder):
        if result.outcome is not BuildOutcome.BUILT:
            continue
        if result.package in results:
            other = results[result.package][1].version
            raise DatasetInitError(
                f"{folder} has {result.package} in two versions, {other} and {result.version}: "
                f"expected one, move the folder of the other away"
            )
        results[result.package] = place, result
    return dict(sorted(results.items()))


def _choose_programs(
    folder: Path, results: dict[str, tuple[Path, PackageResult]], choose: Chooser
) -> dict[str, _Program]:
    """Return every program by its digest, in the order of packages and files."""
    found: dict[str, _Program] = {}

    def take(path: Path, built: BuiltModule | LinkedProgram, place: _Place) -> _Program:
        one = found.setdefault(built.sha256, _Program(path, built, result, []))
        if place not in one.places:
            one.places.append(place)
        return one

    for place, result in results.values():
        for module in sorted(result.modules, key=lambda m: (m.file, m.sha256, m.command)):
            if choose(result, module):
                path = _file_of_digest(place / MODULES, module.sha256)
                where = _Place(result.package, "module", module.file, module.command)
                take(path, module, where)
        for program in sorted(result.programs, key=lambda p: (p.name, p.sha256)):
            if choose(result, program):
                path = _file_of_digest(place / PROGRAMS, program.sha256)
                kind = "library" if program.is_shared else "program"
                one = take(path, program, _Place(result.package, kind, program.name, ()))
                one.parts = one.parts or program.modules
                is_tested = program.tests is OwnTests.PASSED and not program.is_shared
                if is_tested and program.tree and result.test_command:
                    tree = str((place / program.tree).relative_to(folder))
                    one.test = one.test or _how_tested(program, result, tree)
                one.language = _find_language(program, result)
    return found


def _file_of_digest(folder: Path, sha256: str) -> Path:
    """Return the file of that digest, whatever the suffix of the compiler's files is."""
    return next(folder.glob(f"{sha256}.*"), folder / sha256)


def _read_shapes(programs: Sequence[_Program], shapes: ShapeReader) -> None:
    """Ask for the functions of each program, package by package."""
    by_package: dict[str, list[_Program]] = {}
    for one in programs:
        by_package.setdefault(one.places[0].package, []).append(one)
    for some in by_package.values():
        for one, found in zip(some, shapes([p.path for p in some]), strict=True):
            one.shapes = found


def _write_packages(
    writer: CorpusWriter,
    programs: Sequence[_Program],
    results: dict[str, tuple[Path, PackageResult]],
) -> None:
    named = {place.package for one in programs for place in one.places}
    for number, package in enumerate(sorted(named), start=1):
        result = results[package][1]
        row = (package, result.version, result.source_sha256, result.license)
        made = (split_of_package(package), result.compiler, result.level)
        writer.add_rows("package", [(number, *row, *made)])


def _write_programs(writer: CorpusWriter, programs: Sequence[_Program], report: Report) -> None:
    total, read = sum(one.built.size for one in programs), 0
    names = _Names()
    for one in programs:
        contents = _check_contents(one)
        for place in one.places:
            writer.add(
                names.of(place, one.built.sha256),
                contents,
                suffix=one.path.suffix,
                **_origin_of_program(one),
            )
        read += len(contents)
        report(read, total)


def _origin_of_program(one: _Program) -> dict[str, str]:
    built = one.built
    is_module = isinstance(built, BuiltModule)
    return {
        "license": (built.license if is_module else "") or one.result.license,
        "source": f"{one.result.package}={one.result.version}",
        "license_files": "debian/copyright",
        "language": built.language if is_module else one.language,
    }


class _Names:
    """The keys of programs: package and file, and a digest where a file became several."""

    def __init__(self) -> None:
        self._taken: dict[str, str] = {}

    def of(self, place: _Place, sha256: str) -> str:
        key = f"{place.package}/{place.file.lstrip('/')}"
        if self._taken.setdefault(key, sha256) != sha256:
            key = f"{key}~{sha256[:8]}"
        return key


def _check_contents(one: _Program) -> bytes:
    try:
        contents = one.path.read_bytes()
    except OSError as error:
        raise DatasetInitError(
            f"cannot read {one.path}: {error.strerror}: build {one.result.package} again"
        ) from error
    if hashlib.sha256(contents).hexdigest() != one.built.sha256:
        raise DatasetInitError(f"{one.path} was altered: build {one.result.package} again")
    return contents


def _write_facts(
    writer: CorpusWriter,
    programs: Sequence[_Program],
    clusters: Sequence[bytes],
    splits: Sequence[str],
    done: GatherReport,
) -> None:
    for one, cluster, split in zip(programs, clusters, splits, strict=True):
        number, kinds = _read_number(writer, one), one.kinds
        done.modules += bool(kinds & PROGRAM_KINDS["module"])
        done.programs += bool(kinds & ~PROGRAM_KINDS["module"])
        sizes = (one.built.instructions, one.built.functions)
        writer.add_rows("fact", [(number, kinds, split, cluster, *sizes)])
        writer.add_rows(
            "function",
            (
                (number, place, function.shape, function.instructions, function.is_library)
                for place, function in enumerate(one.shapes)
            ),
        )


def _write_links(writer: CorpusWriter, programs: Sequence[_Program], done: GatherReport) -> None:
    numbers = writer.package_numbers()
    for one in programs:
        number = _read_number(writer, one)
        rows = {(p.package, p.kind, p.file, json.dumps(p.command)) for p in one.places}
        writer.add_rows(
            "place",
            (
                (number, numbers[package], PROGRAM_KINDS[kind], file, command)
                for package, kind, file, command in sorted(rows)
            ),
        )
        parts = {writer.find_number(part) for part in one.parts} - {None, number}
        writer.add_rows("part", ((number, part) for part in sorted(filter(None, parts))))
        if one.test:
            done.tested += 1
            package, *rest = one.test
            writer.add_rows("test", [(number, numbers[package], *rest)])


def _how_tested(program: LinkedProgram, result: PackageResult, tree: str) -> tuple[str, ...]:
    command, libraries = json.dumps(result.test_command), json.dumps(program.libraries)
    return result.package, program.name, result.test_folder, command, libraries, tree


def _find_language(program: LinkedProgram, result: PackageResult) -> str:
    """Return ``c++`` for what is linked of anything in C++."""
    languages = {one.language for one in result.modules if one.sha256 in program.modules}
    return max(languages, default="")


def _read_number(writer: CorpusWriter, one: _Program) -> int:
    number = writer.find_number(one.built.sha256)
    assert number is not None
    return number

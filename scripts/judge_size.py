# SPDX-License-Identifier: MIT
"""Judge the size plug-in on programs of built packages, against every rival.

    python -m scripts.judge_size measure BUILT ROWS --plugin FILE [--tests]
    python -m scripts.judge_size report ROWS... --output docs/results/size-plugin-judged.json

`measure` links every program and library of the packages in the folder BUILT in several ways and
appends a row for each to ROWS; what is there already is not measured again. The modules are those
of the front end, so that all methods of clang start from the same bitcode; `-O2` and GCC compile
the sources in the built tree. Libraries that are missing here stay undefined in every build.

With `--tests`, the package's own tests run with each linked program, and valgrind counts what the
program executes in them. A program that has none is asked for its help, and must answer the same.

`report` compares the rows. Means are geometric over packages, with bootstrapped intervals.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import subprocess
import tempfile
import tomllib
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any
from unittest.mock import patch

from compiler_gym.builds import CompilerCommand, measure_sizes, measure_unwinding
from compiler_gym.datasets import MeasuredRuns, PackageTest, RunSpec
from compiler_gym.envs.llvm.toolchain import OLD_C
from compiler_gym.errors import CompilerGymError, ObservationError, ProjectError
from compiler_gym.files import append_line, hash_file, scratch_directory, whole_lines
from compiler_gym.sandbox import RootedPlace, RunLimits, run_rooted
from compiler_gym.statistics import geometric_interval
from compiler_gym.tools.tune import BinaryPlan, policy_named
from compiler_gym.tools.tune.builds import Binary, Input, Unit, run_command
from compiler_gym.tools.tune.llvm.plugin import PLUGIN, PLUGIN_VARIABLE, without_plugin
from compiler_gym.tools.tune.llvm.plugin import SETTINGS as PLUGIN_SETTINGS
from compiler_gym_corpus.llvm.learning import FAIR, PLAIN, Bench, list_programs, open_corpus
from compiler_gym_corpus.llvm.packages import unit_compiler
from compiler_gym_corpus.packages import (
    BuildOutcome,
    BuiltPackage,
    LinkedProgram,
    PackageResult,
    lend_tree,
    read_results,
)

__all__ = ["Case", "Row", "cases", "compare", "measure"]

PACKED = "-Wl,-z,pack-relative-relocs"
RULES_ONLY, CHOICE_ONLY = "rules only", "choice only"
SETTINGS = {
    RULES_ONLY: "effort=0",
    CHOICE_ONLY: "rules=frame+stores+simple+unprepared",
}
"""How the plug-in is asked for one of its parts."""
TIMED = ("rival, packed", "policy, packed", "plug-in, packed")
"""The methods that are linked twice if that is short, because their times are compared."""
_SHORT = 1.5
_LOCK = Path(__file__).with_name("size_packages.toml")
_LINK = ("-Wl,--as-needed", "-Wl,--unresolved-symbols=ignore-all")
_LIBRARIES = ("-lm", "-lpthread", "-ldl", "-lrt")
_LIMITS = RunLimits(200, 0, 1 << 30, 512, 4 << 30, 4096)
_VALGRIND = Path("/usr/bin/valgrind.bin")
_COUNTER_LIBRARY = Path("/usr/libexec/valgrind")
_COUNTER = "/run/counter"
_COUNT = re.compile(rb"I\s+refs:\s+([\d,]+)")


@dataclass(frozen=True, slots=True)
class Row:
    """One program built by one method."""

    program: str
    package: str
    group: str
    method: str
    code: int = 0
    loaded: int = 0
    file: int = 0
    unwind: int = 0
    compiling: float = 0.0
    linking: float = 0.0
    """Processor seconds of the link; the smaller of two if it is short."""
    error: str = ""
    tests: str = ""
    """``passed``, ``failed``, ``useless``, or what the program answered when asked for help."""
    executed: int = 0
    """The instructions that the program executed in the tests; 0 if not counted."""
    plugin: str = ""
    """The digest of the plug-in."""
    plan: str = ""


@dataclass(frozen=True)
class Case:
    """One linked file of a package, with its tree unpacked for a while."""

    result: PackageResult
    program: LinkedProgram
    modules: Sequence[Path]
    tree: Path

    @property
    def name(self) -> str:
        """The package and the file."""
        return f"{self.result.package}/{self.program.name}"

    @cached_property
    def is_cxx(self) -> bool:
        """True if one of its sources is C++."""
        mine = set(self.program.modules)
        return any(one.language == "c++" for one in self.result.modules if one.sha256 in mine)

    @cached_property
    def words(self) -> list[str]:
        """The linker arguments besides the objects, without those that decide about size."""
        words = ["-shared"] if self.program.is_shared else []
        kept = ("-l", "-L", "-Wl,-soname", "-Wl,-rpath-link", "-rdynamic", "-Wl,-E", "-pthread")
        for word in self.program.libraries:
            if (
                word.startswith(("-L./", "-L."))
                or word.startswith(kept)
                or (word.endswith((".so", ".a")) and word.startswith("."))
                or (word.startswith("-Wl,") and ".so" in word)
            ):
                words.append(word)
        return [*words, *_LINK, *_LIBRARIES]

    def binary(self, folder: Path) -> Binary:
        """Return the program: one archive of its modules, of which it takes what it needs."""
        folder.mkdir(parents=True, exist_ok=True)
        units: list[Unit] = []
        for number, module in enumerate(self.modules):
            source = folder / f"{number}.bc"
            shutil.copyfile(module, source)
            command = CompilerCommand.parse(
                ["cc", "-c", str(source), "-o", f"{number}.o"], self.tree
            )
            units.append(Unit(command, command.sources[0]))
        name = "all.a" if not self.program.is_shared else "all.o"
        members = tuple((f"{number}.o", number) for number in range(len(units)))
        inputs = (
            (Input(name, folder / name, tuple(units), True, (1, 0), members),)
            if not self.program.is_shared
            else tuple(
                Input(f"{number}.o", folder / f"{number}.o", (unit,), at=(number + 1, 0))
                for number, unit in enumerate(units)
            )
        )
        compiler = "c++" if self.is_cxx else "cc"
        arguments = [compiler, *(one.word for one in inputs), *self.words, "-o", "linked"]
        link = CompilerCommand.parse(arguments, self.tree)
        return Binary("linked", folder / "linked", link, inputs, self.tree)


def cases(built: Path, scratch: Path, per_package: int) -> Iterator[tuple[PackageTest, list[Case]]]:
    """Yield the largest programs of each built package, with its test; small packages first."""
    results = sorted(read_results(built), key=lambda one: sum(m.size for m in one[1].modules))
    for folder, result in results:
        programs = sorted(result.programs, key=lambda one: (-one.instructions, one.name))
        if result.outcome is not BuildOutcome.BUILT or not programs:
            continue
        tree = scratch / "tree"
        shutil.rmtree(tree, ignore_errors=True)
        tree.mkdir(parents=True)
        archive = folder / "tree.tar.zst"
        if archive.is_file():
            subprocess.run(["tar", "--zstd", "-xf", archive, "-C", tree], check=False)
        test = PackageTest(
            result.package, result.version, "", result.test_folder, result.test_command, (),
            str(archive.relative_to(built)), "c",
        )  # fmt: skip
        yield (
            test,
            [
                Case(
                    result,
                    one,
                    [folder / "modules" / f"{digest}.bc" for digest in one.modules],
                    tree,
                )
                for one in programs[:per_package]
            ],
        )


def dataset_cases(named: str, scratch: Path) -> Iterator[tuple[Case, RunSpec | None]]:
    """Yield each program of a dataset as a case, with the way to run it."""
    dataset = open_corpus(named, scratch)
    for program in list_programs(dataset):
        (data,) = program.modules()
        module = scratch / f"{program.name.rpartition('/')[2]}.bc"
        module.write_bytes(data)
        name = program.name.partition("://")[2]
        run = dataset.benchmark(program.name).run
        linked = LinkedProgram(
            module.stem,
            module.stem,
            len(data),
            0,
            0,
            (module.stem,),
            tuple(run.link if run else ()),
        )
        package = PackageResult(name, "", "", "", BuildOutcome.BUILT)
        yield Case(package, linked, [module], scratch), run


def plans(case: Case, parts: Sequence[str]) -> dict[str, BinaryPlan]:
    """Return the plan of each method of clang."""
    plain = without_plugin(policy_named("size").plan)
    both = replace(plain, plugin=(PLUGIN,))
    methods = {"-Oz": PLAIN, "rival": FAIR, "policy": plain, "plug-in": both}
    if PLUGIN_VARIABLE not in os.environ:
        return {
            **{name: plan for name, plan in methods.items() if name != "plug-in"},
            **{f"{name}, packed": _packed(methods[name]) for name in ("rival", "policy")},
        }
    for part in parts:
        own = () if part in SETTINGS else (part,)
        methods[f"plug-in, {part}"] = replace(both, linker=(*both.linker, *own))
    packed = {f"{name}, packed": _packed(methods[name]) for name in ("rival", "policy", "plug-in")}
    return {**methods, **packed}


def _packed(plan: BinaryPlan) -> BinaryPlan:
    return replace(plan, linker=(*plan.linker, PACKED))


def measure(
    case: Case, group: str, have: set[str], parts: Sequence[str], keep: Path, only: str = ""
) -> Iterator[Row]:
    """Yield a row for each method that is not among `have`, and keep the linked files in `keep`."""
    empty = Row(case.name, case.result.package, group, "")
    plugin = (
        hash_file(Path(os.environ[PLUGIN_VARIABLE]))[:12] if PLUGIN_VARIABLE in os.environ else ""
    )
    with scratch_directory("judging") as name:
        folder = Path(name)
        bench = Bench(case.binary(folder / "modules"), folder)
        for method, plan in plans(case, parts).items():
            if method in have or only not in method:
                continue
            row = replace(
                empty, method=method, plan=plan.name, plugin=plugin if plan.plugin else ""
            )
            part = SETTINGS.get(method.removeprefix("plug-in, "))
            try:
                with patch.dict(os.environ, {} if part is None else {PLUGIN_SETTINGS: part}):
                    linked, compiling, first = bench.build(plan)
                    is_short = first < _SHORT and method in TIMED
                    second = bench.build(plan)[2] if is_short else first
                yield _measured(row, linked, compiling, min(first, second))
                shutil.copy(linked, keep / _file_name(method))
            except ProjectError as error:
                yield replace(row, error=_shown(error))
        for method, build in (("-O2", _build_o2), ("GCC -Os -flto", _build_gcc)):
            if not case.result.modules or method in have or only not in method:
                continue
            row = replace(empty, method=method)
            try:
                linked, compiling, linking = build(case, folder)
                yield _measured(row, linked, compiling, linking)
                shutil.copy(linked, keep / _file_name(method))
            except (ProjectError, OSError) as error:
                yield replace(row, error=_shown(error))


def _measured(row: Row, linked: Path, compiling: float, linking: float) -> Row:
    sizes = measure_sizes(linked)
    return replace(
        row, code=sizes.text, loaded=sizes.loaded, file=sizes.total,
        unwind=measure_unwinding(linked), compiling=round(compiling, 3), linking=round(linking, 3),
    )  # fmt: skip


def _file_name(method: str) -> str:
    return re.sub(r"\W+", "-", method).strip("-")


def _shown(error: Exception) -> str:
    lines = str(error).splitlines()
    return next((line for line in lines if "error" in line), lines[-1])[:300]


def _build_o2(case: Case, folder: Path) -> tuple[Path, float, float]:
    compilers = ("clang-22", "clang++-22")
    return _build_sources(case, folder, compilers, ["-O2"], ["-O2", "-fuse-ld=lld-22"])


def _build_gcc(case: Case, folder: Path) -> tuple[Path, float, float]:
    flags = ["-Os", "-flto"]
    return _build_sources(case, folder, ("gcc", "g++"), flags, [*flags, "-Wl,--gc-sections"])


def _build_sources(
    case: Case, folder: Path, compilers: tuple[str, str], flags: list[str], linking: list[str]
) -> tuple[Path, float, float]:
    """Compile the sources of a program in its tree and link them."""
    objects = folder / compilers[0]
    objects.mkdir()
    by_digest = {one.sha256: one for one in case.result.modules}
    paths: list[str] = []
    started = _processor_time()
    for number, digest in enumerate(case.program.modules):
        module = by_digest[digest]
        output = objects / f"{number}.o"
        command = CompilerCommand.parse(list(module.command), case.tree / module.folder)
        words = [
            word
            for word in command.flags
            if not re.match(r"-(O|g|flto|W|fno-fat|f(ffat)-lto)", word)
        ]
        more = [str(case.tree / word[2:]) for word in words if word.startswith("-I./")]
        forgiven = OLD_C if compilers[0] != "gcc" else ()
        source = str(case.tree / module.file)
        run_command(
            [compilers[module.language == "c++"], *words, *(f"-I{one}" for one in more), "-w",
             *forgiven, *flags, "-c", source, "-o", str(output)],
            case.tree / module.folder,
        )  # fmt: skip
        paths.append(str(output))
    compiling, started = _processor_time() - started, _processor_time()
    output = objects / "linked"
    lazy = case.program.is_shared
    if not lazy:
        archive = objects / "all.a"
        run_command(
            ["gcc-ar" if compilers[0] == "gcc" else "llvm-ar-22", "rcs", str(archive), *paths],
            objects,
        )
        paths = [str(archive)]
    run_command(
        [compilers[case.is_cxx], *linking, *paths, *case.words, "-s", "-o", str(output)], case.tree
    )
    return output, compiling, _processor_time() - started


def _processor_time() -> float:
    import resource

    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


@dataclass
class Trial:
    """Runs the tests of a package with one of its programs replaced, and counts instructions."""

    package: BuiltPackage
    test: PackageTest
    counter: Path
    program: LinkedProgram
    has_tests: bool
    original: bytes = field(default=b"")

    def run(self, linked: Path | None) -> tuple[str, int]:
        """Return how the tests or the call end with `linked`, and the executed instructions.

        With None, the program is replaced by one that never works.
        """
        path = Path(os.path.realpath(self.package.tree / self.program.name))
        original, status = path.read_bytes(), path.stat()
        counts = self.counter / "counts"
        shutil.rmtree(counts, ignore_errors=True)
        counts.mkdir()
        try:
            is_counted = linked is not None and not self.program.is_shared
            if linked is None:
                contents = b"#!/bin/sh\nexit 99\n"
            elif is_counted:
                real = self.counter / path.name
                shutil.copy(linked, real)
                contents = (
                    f"#!/bin/sh\nVALGRIND_LIB={_COUNTER}/valgrind exec {_COUNTER}/valgrind.bin "
                    f"--tool=cachegrind --cache-sim=no --cachegrind-out-file=/dev/null "
                    f'--log-file={_COUNTER}/counts/%p {_COUNTER}/{shlex.quote(path.name)} "$@"\n'
                ).encode()
            else:
                contents = linked.read_bytes()
            path.unlink()
            path.write_bytes(contents)
            path.chmod(0o755)
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
            directory = os.path.normpath(f"{self.package.inside}/{self.test.folder}")
            if self.has_tests:
                code, output = self._step(self.test.command, directory)
                said = "passed" if code == 0 else "failed"
            else:
                code, output = self._step(
                    [f"{self.package.inside}/{self.program.name}", "--help"], self.package.inside
                )
                said = f"{code} {re.sub(rb'0x[0-9a-f]+', b'', output)[:300]!r}"
        finally:
            path.unlink(missing_ok=True)
            path.write_bytes(original)
            path.chmod(0o755)
            os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
        texts = (file.read_bytes() for file in counts.iterdir())
        found = [match[1] for text in texts if (match := _COUNT.search(text))]
        return said, sum(int(count.replace(b",", b"")) for count in found)

    def _step(self, command: Sequence[str], directory: str) -> tuple[int, bytes]:
        with tempfile.TemporaryFile() as output:
            also = {_COUNTER: self.counter}
            report = run_rooted(
                command,
                RootedPlace(self.package.root, self.package.work, directory, also),
                limits=_LIMITS if self.has_tests else replace(_LIMITS, seconds=20),
                environment={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": "/nonexistent",
                             "LC_ALL": "C.UTF-8", "TZ": "UTC"},
                output=output.fileno(),
            )  # fmt: skip
            output.seek(0)
            code = -1 if report.stopped_by is not None else report.exit_status
            return code or 0, output.read()


USELESS = "useless"
TESTED = ("rival, packed", "policy, packed", "plug-in, packed")


def try_programs(
    built: Path,
    test: PackageTest,
    found: Sequence[Case],
    files: Callable[[Case], Path],
    have: set[tuple[str, str]],
) -> Iterator[tuple[str, str, str, int]]:
    """Yield program, method, verdict and executed instructions for each linked program.

    Those in `have`, pairs of a program and a method, are not run again.
    """
    wanted = [
        (case, [one for one in TESTED if (files(case) / _file_name(one)).is_file()])
        for case in found
        if not case.program.is_shared or case.program.tests.value == "passed"
    ]
    if all((case.name, one) in have for case, methods in wanted for one in methods):
        return
    with ExitStack() as stack:
        package = stack.enter_context(lend_tree(built, test, unit_compiler.packages))
        counter = Path(stack.enter_context(scratch_directory("counter")))
        shutil.copy(_VALGRIND, counter)
        shutil.copytree(_COUNTER_LIBRARY, counter / "valgrind")
        for case, methods in wanted:
            has_tests = case.program.tests.value == "passed" and (case.name, USELESS) not in have
            trial = Trial(package, test, counter, case.program, has_tests)
            if has_tests and trial.run(None)[0] == "passed":
                yield case.name, USELESS, "the tests do not run it", 0
                trial.has_tests = False
            if trial.has_tests or not case.program.is_shared:
                for method in methods:
                    if (case.name, method) not in have:
                        yield case.name, method, *trial.run(files(case) / _file_name(method))


def _count_runs(
    case: Case, run: RunSpec, folder: Path, have: set[tuple[str, str]]
) -> Iterator[Any]:
    """Yield the same as `try_programs` for a program of a dataset, which has its own inputs."""
    for method in TESTED:
        linked = folder / _file_name(method)
        if linked.is_file() and (case.name, method) not in have:
            try:
                yield case.name, method, "passed", MeasuredRuns(run).instructions(linked)
            except ObservationError as error:
                yield case.name, method, f"failed: {_shown(error)}", 0


def _measure_all(options: argparse.Namespace) -> None:
    if options.plugin:
        os.environ[PLUGIN_VARIABLE] = str(options.plugin.resolve())
    have = defaultdict[str, set[str]](set)
    for line in whole_lines(options.rows):
        if "method" in line and (options.again not in line["method"] or not options.again):
            have[line["program"]].add(line["method"])
    tried = {
        (line["program"], line["trial"])
        for line in whole_lines(options.rows)
        if "trial" in line and (not options.again or options.again not in line["trial"])
    }
    keep = options.keep or options.rows.with_suffix("")

    def place(case: Case) -> Path:
        folder = keep / case.name.replace("/", "%")
        folder.mkdir(parents=True, exist_ok=True)
        return folder

    def build(case: Case) -> None:
        mine = have[case.name]
        for row in measure(case, options.group, mine, options.part, place(case), options.only):
            append_line(options.rows, asdict(row), sync=False)
            print(f"{case.name}  {row.method} {row.error}", flush=True)

    def write(trials: Iterator[tuple[str, str, str, int]]) -> None:
        for program, method, said, executed in trials:
            line = {"program": program, "trial": method, "tests": said, "executed": executed}
            append_line(options.rows, line, sync=False)
            print(f"{program}  {method}", flush=True)

    with scratch_directory("trees") as name:
        if not options.built.is_dir():
            for case, run in dataset_cases(str(options.built), Path(name)):
                build(case)
                if options.tests and run is not None:
                    write(_count_runs(case, run, place(case), tried))
            return
        for test, found in cases(options.built, Path(name), options.per_package):
            for case in found:
                build(case)
            if options.tests:
                try:
                    write(try_programs(options.built, test, found, place, tried))
                except (CompilerGymError, OSError) as error:
                    print(f"{test.package}: no tests: {error}", flush=True)


COMPARED = {
    "code": ("code",),
    "loaded": ("loaded",),
    "file": ("file",),
    "unwind": ("unwind",),
    "linking": ("linking",),
    "building": ("compiling", "linking"),
    "executed": ("executed",),
}
"""What is compared, and the fields that are added for it."""


def read_rows(paths: Iterable[Path]) -> dict[str, dict[str, Row]]:
    """Return the newest row of each method by program, with the verdict and count of its trial."""
    rows = defaultdict[str, dict[str, Row]](dict)
    for path in paths:
        trials: dict[tuple[str, str], dict[str, Any]] = {}
        for line in whole_lines(path):
            if "trial" in line:
                trials[line["program"], line["trial"]] = line
            else:
                rows[line["program"]][line["method"]] = Row(**line)
        for (program, method), line in trials.items():
            if row := rows[program].get(method):
                said = line["tests"]
                rows[program][method] = replace(row, tests=said, executed=line["executed"])
    return rows


def compare(rows: dict[str, dict[str, Row]], method: str, rival: str) -> dict[str, Any]:
    """Return the ratios of `method` to `rival` in every respect, with intervals over packages."""
    pairs = [
        (found[method], found[rival])
        for found in rows.values()
        if method in found and rival in found and found[method].code and found[rival].code
    ]
    result: dict[str, Any] = {"method": method, "rival": rival, "programs": len(pairs)}
    for name, fields in COMPARED.items():
        ratios: dict[str, float] = {}
        packages = defaultdict[str, list[float]](list)
        for ours, theirs in pairs:
            # What a program executes that only says how to call it is all in the loader.
            if name == "executed" and "passed" not in (ours.tests, theirs.tests):
                continue
            before = sum(getattr(theirs, one) for one in fields)
            after = sum(getattr(ours, one) for one in fields)
            if before and after:
                ratios[ours.program] = after / before
                packages[ours.package].append(after / before)
        means = [geometric_interval(values) for values in packages.values()]
        interval = geometric_interval([one.mean for one in means if one is not None])
        if interval is not None:
            worst = max(ratios, key=lambda program: ratios[program])
            result[name] = {
                **{key: round(value, 5) for key, value in asdict(interval).items()},
                "programs": len(ratios), "packages": len(packages),
                "larger": sum(ratio > 1 for ratio in ratios.values()),
                "best": round(min(ratios.values()), 5),
                "worst": round(ratios[worst], 5), "worst_program": worst,
            }  # fmt: skip
    result["tests"] = {
        "same": sum(ours.tests == theirs.tests for ours, theirs in pairs if theirs.tests),
        "differ": [ours.program for ours, theirs in pairs
                   if theirs.tests and ours.tests and ours.tests != theirs.tests],
    }  # fmt: skip
    return result


def _report(options: argparse.Namespace) -> None:
    groups = tomllib.loads(_LOCK.read_text())["groups"]
    rows = read_rows(options.rows)
    if options.group:
        # Spares that replaced no package do not count.
        rows = {name: found for name, found in rows.items()
                if name.partition("/")[0] in groups[options.group]}  # fmt: skip
    methods = {method for found in rows.values() for method in found}
    comparisons = [
        compare(rows, method, rival)
        for rival in ("rival", "rival, packed", "policy", "policy, packed")
        for method in sorted(methods)
        if method != rival and (method.endswith("packed") == rival.endswith("packed"))
    ]
    document = {
        "comparisons": comparisons,
        "programs": {
            program: {
                method: {key: value for key, value in asdict(row).items()
                         if value and key not in ("program", "method", "plan")}
                for method, row in sorted(found.items())
            }
            for program, found in sorted(rows.items())
        },
    }  # fmt: skip
    options.output.write_text(json.dumps(document, indent=1, sort_keys=True) + "\n")
    for one in comparisons:
        print(_table_row(one))


def _table_row(one: dict[str, Any]) -> str:
    def cell(name: str) -> str:
        if name not in one:
            return "-"
        mean, low, high = (100 * (one[name][key] - 1) for key in ("mean", "low", "high"))
        return f"{mean:+.1f} [{low:+.1f}, {high:+.1f}]"

    sizes = " | ".join(cell(name) for name in ("loaded", "code", "file", "unwind"))
    linking = f"{one['linking']['mean']:.2f}" if "linking" in one else "-"
    larger = f"{one['loaded']['larger']}/{one['programs']}" if "loaded" in one else "-"
    return (
        f"| {one['method']} | {one['rival']} | {sizes} | {larger} | {linking} | "
        f"{cell('executed')} |"
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure or report."""
    parser = argparse.ArgumentParser(prog="python -m scripts.judge_size", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    verbs = parser.add_subparsers(dest="verb", required=True)
    one = verbs.add_parser("measure")
    one.add_argument("built", type=Path)
    one.add_argument("rows", type=Path)
    one.add_argument("--plugin", type=Path, help="without it, only the other methods")
    one.add_argument("--group", default="train")
    one.add_argument("--per-package", type=int, default=2)
    one.add_argument(
        "--part", action="append", default=[], help="a part of the plug-in, or a switch"
    )
    one.add_argument(
        "--again", default="", help="measure methods with this text in their name again"
    )
    one.add_argument("--only", default="", help="measure only methods with this text")
    one.add_argument("--keep", type=Path, help="where linked files are kept; beside ROWS")
    one.add_argument("--tests", action="store_true")
    two = verbs.add_parser("report")
    two.add_argument("rows", nargs="+", type=Path)
    two.add_argument("--output", type=Path, required=True)
    two.add_argument("--group", default="", help="a group of the lock; all rows without it")
    options = parser.parse_args(arguments)
    (_measure_all if options.verb == "measure" else _report)(options)


if __name__ == "__main__":
    main()

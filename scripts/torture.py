# SPDX-License-Identifier: MIT
"""Run GCC 12's own run tests through the size policy, the recipe and `tune --recipe`.

python -m scripts.torture gcc.c-torture/execute gcc.dg/torture --way policy --way recipe

The tests come from Debian's gcc-12-source and stay in build/torture. A test counts if `clang -O2`
builds it and it exits with status 0. A way that fails to build it, or whose program ends otherwise,
differs; a difference that plain `clang -Oz -flto` has too is clang's, every other one is ours. Why
a plan was not used is counted apart. An interrupted run resumes. Exit status 1 if we differ.
"""

import argparse
import contextlib
import json
import os
import re
import signal
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

__all__ = ["WAYS", "Outcome", "Result", "Test", "fetch", "find_tests", "main", "run_test"]

WAYS = ("policy", "recipe", "tune")
_FOLDERS = ("gcc.c-torture/execute", "gcc.dg/torture", "g++.dg/torture")
_BUILDING, _TUNING, _RUNNING = 120.0, 300.0, 20.0
_PASSED = "exit 0"
_NOT_OURS = re.compile(
    r"-O|-f(dump|lto|no-lto|tree|no-tree|ipa|no-ipa|no-early|sched|no-sched|ira|check)"
    r"|-save-temps|--param|-mtune"
)
"""Options of a test that GCC alone knows or that choose a level."""
_TORTURE = ("-std=gnu89", "-Wno-error=implicit-function-declaration", "-Wno-implicit-int")


@dataclass(frozen=True, slots=True)
class Test:
    """A program of the suite: its name, sources and options for a compiler."""

    name: str
    sources: tuple[Path, ...]
    options: tuple[str, ...]

    @property
    def is_cxx(self) -> bool:
        """True if a C++ compiler has to build it."""
        return self.sources[0].suffix == ".C"

    def command(self, program: str) -> list[str]:
        """Return what follows the compiler in a command that builds `program`."""
        return ["-w", *self.options, *map(str, self.sources), "-o", program, "-lm"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """The end of a build and of the program, and why the plan was not used."""

    end: str
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Result:
    """A test built in one way; `others` is its end when built in further ways."""

    test: str
    way: str
    base: str
    end: str = ""
    reason: str = ""
    others: Mapping[str, str] = field(default_factory=dict[str, str])

    @property
    def verdict(self) -> str:
        """Return ``not counted``, ``same``, ``clang's`` or ``ours``."""
        if self.base != _PASSED:
            return "not counted"
        if self.end == _PASSED:
            return "same"
        return "ours" if self.others.get("clang -Oz -flto") == _PASSED else "clang's"


def fetch(cache: Path) -> Path:
    """Return the folder of GCC's test suite below `cache`, fetched from Debian if missing."""
    root = cache / "gcc" / "testsuite"
    if not root.exists():
        cache.mkdir(parents=True, exist_ok=True)
        subprocess.run(["apt-get", "download", "-qq", "gcc-12-source"], cwd=cache, check=True)
        (package,) = cache.glob("gcc-12-source_*.deb")
        subprocess.run(["dpkg", "-x", package, cache / "package"], check=True)
        (archive,) = (cache / "package").rglob("gcc-12.*.tar.*")
        unpack = ["tar", "-xf", archive, "-C", cache, "--strip-components=1", "--wildcards"]
        subprocess.run([*unpack, "*/gcc/testsuite/*"], check=True)
    return root


def find_tests(root: Path, folder: str) -> list[Test]:
    """Return the run tests at or below `folder` of the suite at `root`."""
    paths = sorted(path for path in (root / folder).rglob("*.[cC]"))
    return [test for path in paths if (test := _read_test(root, path))]


def _read_test(root: Path, path: Path) -> Test | None:
    text = path.read_text("latin-1")
    is_torture = "gcc.c-torture/execute" in path.as_posix()
    is_lto = path.parent.name == "lto" and path.stem.endswith("_0")
    is_part = path.stem.endswith("-lib") or path.parent.name == "lib"
    if is_part or not (is_torture or is_lto or re.search(r"dg-do\s+run", text)):
        return None
    sources = [path]
    if is_lto:
        sources = sorted(path.parent.glob(f"{path.stem[:-1]}[0-9]{path.suffix}"))
    if path.parent.name == "builtins":
        sources += [path.with_name(f"{path.stem}-lib.c"), path.parent / "lib" / "main.c"]
    sources += [path.parent / name for name in _directive(text, "dg-additional-sources")]
    options = _directive(text, "dg-options") + _directive(text, "dg-additional-options")
    kept = [word for word in options if not _NOT_OURS.match(word)]
    first = [*_TORTURE] if is_torture else []
    name = path.relative_to(root).as_posix()
    return Test(name, tuple(sources), (*first, f"-I{path.parent}", *kept))


def _directive(text: str, name: str) -> list[str]:
    """Return the options in each directive `name` in a test's `text`."""
    return [word for said in re.findall(rf'{name}\s+"([^"]*)"', text) for word in said.split()]


def run_test(test: Test, ways: Sequence[str], driver: Path) -> list[Result]:
    """Build and run `test` in `ways`; where it fails, in others that show the cause."""
    clang = "clang++-22" if test.is_cxx else "clang-22"
    ours = str(driver.with_name("compiler-gym-cxx") if test.is_cxx else driver)
    policy = [ours, "--policy", "size", "--no-never-larger"]
    commands = {"policy": policy, "recipe": [ours, "--recipe", "small"]}
    others = {
        "clang -Oz": [clang, "-Oz"],
        "clang -Oz -flto": [clang, "-Oz", "-flto", "-fuse-ld=lld"],
        "no plug-in": [*policy, "--no-plugin"],
        "recipe": commands["recipe"],
    }
    base = _build_and_run([clang, "-O2"], test).end
    if base != _PASSED:
        return [Result(test.name, way, base) for way in ways]
    results: list[Result] = []
    for way in ways:
        build = partial(_tune, driver) if way == "tune" else partial(_build_and_run, commands[way])
        outcome = build(test)
        if outcome.end != _PASSED:
            outcome = build(test)  # A time limit may only say that the machine was busy.
        blame: dict[str, str] = {}
        if outcome.end != _PASSED:
            blame = {name: _build_and_run(words, test).end for name, words in others.items()}
        results.append(Result(test.name, way, base, outcome.end, outcome.reason, blame))
    return results


def _build_and_run(compiler: Sequence[str], test: Test) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        status, said = _run([*compiler, *test.command("program")], folder, _BUILDING)
        if status != 0:
            return Outcome(_failure("build", status, said))
        status, _ = _run([f"{folder}/program"], folder, _RUNNING)
        return Outcome(_failure("run", status, ""), _reason(said))


def _tune(driver: Path, test: Test) -> Outcome:
    with tempfile.TemporaryDirectory() as folder:
        build = 'exec ${%s} "$@"' % ("CXX:-c++" if test.is_cxx else "CC:-cc")
        words = [str(driver.with_name("compiler-gym")), "tune", "--recipe", "--output", "tuned"]
        words += ["--", "sh", "-c", build, "sh", *test.command("program")]
        status, said = _run(words, folder, _TUNING)
        if status != 0:
            return Outcome(_failure("tune", status, said))
        status, _ = _run([f"{folder}/tuned/bin/program"], folder, _RUNNING)
        reasons = re.findall(r"the recipe does not .*|.*linked without.*", said)
        return Outcome(_failure("run", status, ""), (reasons or [""])[0].strip()[:160])


def _run(words: Sequence[str], folder: str, seconds: float) -> tuple[int | None, str]:
    """Return the status, None after `seconds`, and the messages of a command, children killed."""
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(
            words, cwd=folder, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
            start_new_session=True,
        )  # fmt: skip
        try:
            status = process.wait(seconds)
        except subprocess.TimeoutExpired:
            status = None
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        said.seek(0)
        return status, said.read(200_000).decode(errors="replace")


def _failure(action: str, status: int | None, said: str) -> str:
    if status is None:
        return f"{action} hangs"
    if action == "run":
        return f"exit {status}"
    lines = [line for line in said.splitlines() if "error" in line.lower()] or said.splitlines()
    return f"{action} fails: {(lines or ['?'])[0].strip()[:160]}"


def _reason(said: str) -> str:
    """Return why the driver did without its plan or parts, without names of files."""
    for line in said.splitlines():
        if line.startswith("compiler-gym c") and "loaded bytes" not in line:
            return re.sub(r"^compiler-gym c\w+: ([^ :]+: )?", "", line)[:160]
    return ""


def _print_summary(results: Sequence[Result]) -> bool:
    """Print counts, reasons and differences; return True if none is ours."""
    for way in WAYS:
        rows = [result for result in results if result.way == way]
        verdicts = Counter(row.verdict for row in rows)
        if not rows:
            continue
        ours, theirs = verdicts["ours"], verdicts["clang's"]
        counted = verdicts["same"] + ours + theirs
        print(
            f"{way}: {counted} counted, {verdicts['same']} same, {ours + theirs} differ:"
            f" {ours} ours, {theirs} clang's"
        )
        for reason, count in Counter(row.reason for row in rows if row.reason).most_common():
            print(f"  without the plan, {count}: {reason}")
        for row in rows:
            if row.verdict in ("ours", "clang's"):
                print(f"  {row.verdict}: {row.test}: {row.end}; {dict(row.others)}")
    return not any(result.verdict == "ours" for result in results)


def _read_results(path: Path) -> Iterator[Result]:
    if path.exists():
        for line in path.read_text().splitlines():
            yield Result(**json.loads(line))


def main(arguments: Sequence[str] | None = None) -> None:
    """Run the tests of the folders that no earlier run has, and print the summary of all."""
    parser = argparse.ArgumentParser(prog="python -m scripts.torture", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("folders", nargs="*", default=_FOLDERS)
    parser.add_argument("--way", action="append", choices=WAYS, help="[default: policy and recipe]")
    parser.add_argument("--every", type=int, default=1, help="run every Nth test only")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--driver", type=Path, default=Path(".venv/bin/compiler-gym-cc"))
    parser.add_argument("--cache", type=Path, default=Path("build/torture"))
    parser.add_argument("--output", type=Path, help="[default: results.jsonl in the cache]")
    parser.add_argument("--fresh", action="store_true", help="forget the results of earlier runs")
    options = parser.parse_args(arguments)
    root, driver = fetch(options.cache).resolve(), options.driver.absolute()
    output = options.output or options.cache / "results.jsonl"
    if options.fresh:
        output.unlink(missing_ok=True)
    ways = options.way or ["policy", "recipe"]
    tests = [test for folder in options.folders for test in find_tests(root, folder)]
    tests = list({test.name: test for test in tests}.values())[:: options.every]
    results = {(row.test, row.way): row for row in _read_results(output)}

    def run_missing(test: Test) -> list[Result]:
        return run_test(test, [way for way in ways if (test.name, way) not in results], driver)

    with ThreadPoolExecutor(options.jobs) as pool, output.open("a") as file:
        missing = [test for test in tests if any((test.name, way) not in results for way in ways)]
        for rows in pool.map(run_missing, missing):
            file.writelines(f"{json.dumps(asdict(row))}\n" for row in rows)
            file.flush()
            results |= {(row.test, row.way): row for row in rows}
    names = {test.name for test in tests}
    chosen = [row for row in results.values() if row.test in names and row.way in ways]
    raise SystemExit(0 if _print_summary(chosen) else 1)


if __name__ == "__main__":
    main()

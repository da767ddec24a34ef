#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Build the bundled programs: bitcode, expected outputs, and the checks before a commit.

    build.py bitcode sha        write programs/sha/sha.bc
    build.py expected sha       write programs/sha/expected.json from a -O0 build
    build.py check sha          compare every optimisation level, compiler and sanitizer
    build.py cases sha DIR      write the inputs of every case under DIR

`--all` stands for every program. This is a maintainer's tool: it needs clang-22, gcc and
valgrind, and it is not shipped.
"""

import argparse
import json
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from _cases import SIZES, Case, Outcome, Program, run

__all__ = ["SANITIZERS", "check", "compile_program", "instruction_count", "write_bitcode"]

ROOT = Path(__file__).resolve().parent
CLANG = "clang-22"
BITCODE_FLAGS = [
    *("-O2", "-Xclang", "-disable-llvm-passes", "-std=c11", "-g0", "-fno-ident"),
    *("--target=x86_64-pc-linux-gnu", "-march=x86-64", "-ffp-contract=off", "-emit-llvm", "-c"),
]
WARNINGS = ["-std=c11", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off"]
SANITIZERS = ["-O1", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
MEMORY_SANITIZER = ["-O1", "-g", "-fsanitize=memory", "-fsanitize-memory-track-origins"]
SANITIZER_ENVIRONMENT = {
    "ASAN_OPTIONS": "exitcode=99:detect_stack_use_after_return=1",
    "UBSAN_OPTIONS": "exitcode=99:print_stacktrace=1",
    "MSAN_OPTIONS": "exitcode=99",
}


def compile_program(
    program: Program, output: Path, *, compiler: str = CLANG, flags: Sequence[str] = ("-O1",)
) -> Path:
    """Compile and link `program` from source to `output`, with warnings as errors."""
    sources = [str(program.folder / source) for source in program.sources]
    _execute([compiler, *WARNINGS, *flags, *sources, "-o", str(output), *program.link])
    return output


def write_bitcode(program: Program, output: Path) -> None:
    """Write the unoptimised bitcode of `program`, the same bytes on every machine."""
    with tempfile.TemporaryDirectory() as scratch:
        objects = [f"{scratch}/{number}.bc" for number in range(len(program.sources))]
        for source, target in zip(program.sources, objects, strict=True):
            # A relative path inside the folder keeps source_filename free of this machine.
            _execute([CLANG, *BITCODE_FLAGS, source, "-o", target], cwd=program.folder)
        if len(objects) == 1:
            shutil.copyfile(objects[0], output)
        else:
            _execute(["llvm-link-22", *objects, "-o", str(output)])


def instruction_count(bitcode: Path) -> int:
    """Return how many IR instructions `bitcode` holds."""
    text = _execute(["llvm-dis-22", str(bitcode), "-o", "-"]).stdout
    bodies = re.findall(r"^define [^\n]*\{\n(.*?)^\}", text, re.DOTALL | re.MULTILINE)
    lines = (line for body in bodies for line in body.splitlines())
    # An instruction is indented by two; the arms of a switch by four, its end is a bracket.
    return sum(1 for line in lines if re.match(r"  [^ \]]", line))


def write_expected(program: Program) -> None:
    """Write `expected.json` from a -O0 build."""
    with tempfile.TemporaryDirectory() as scratch:
        binary = compile_program(program, Path(scratch) / program.name, flags=["-O0"])
        recorded = {
            size: [
                {"input": case.digest(), **run([str(binary)], case).to_json()}
                for case in program.cases(size)
            ]
            for size in SIZES
        }
    (program.folder / "expected.json").write_text(_layout(recorded))


def _layout(recorded: dict[str, list[dict[str, object]]]) -> str:
    blocks = []
    for size, entries in recorded.items():
        lines = ",\n".join(f"    {json.dumps(entry)}" for entry in entries)
        blocks.append(f'  "{size}": [\n{lines}\n  ]')
    return "{\n" + ",\n".join(blocks) + "\n}\n"


def mismatches(
    program: Program, command: Sequence[str], sizes: Sequence[str], *, timeout: float = 60.0
) -> list[str]:
    """Return a line for each case of `sizes` on which `command` does not give what is recorded."""
    found = []
    for size in sizes:
        expected = program.expected(size)
        for index, (case, want) in enumerate(zip(program.cases(size), expected, strict=True)):
            label = f"{program.name} {size}/{index}"
            try:
                got = run(command, case, timeout=timeout, environment=SANITIZER_ENVIRONMENT)
            except subprocess.TimeoutExpired:
                found.append(f"{label} took more than {timeout} s")
                continue
            if got != want:
                found.append(_describe(label, case, want, got))
    return found


def _describe(label: str, case: Case, want: Outcome, got: Outcome) -> str:
    errors = got.stderr.decode(errors="replace")[-4000:]
    return f"{label} {' '.join(case.argv)}:\n  expected {want}\n  found    {got}\n{errors}"


def check(program: Program) -> list[str]:
    """Compare every build of `program` with `expected.json`; print a line for each build."""
    builds: list[tuple[str, list[str], Sequence[str]]] = [
        *((CLANG, [level], SIZES) for level in ("-O0", "-O1", "-O2", "-O3", "-Oz")),
        ("gcc", ["-O2"], SIZES),
        (CLANG, SANITIZERS, SIZES),
        (CLANG, MEMORY_SANITIZER, ("test", "small")),
    ]
    found: list[str] = []
    with tempfile.TemporaryDirectory() as scratch:
        binary = Path(scratch) / program.name
        for compiler, flags, sizes in builds:
            compile_program(program, binary, compiler=compiler, flags=flags)
            wrong = mismatches(program, [str(binary)], sizes)
            print(f"  {compiler} {' '.join(flags)}: {len(wrong)} mismatches", flush=True)
            found += wrong
        compile_program(program, binary, flags=["-O2"])
        found += _valgrind(program, binary)
        for size in SIZES:
            print(f"  {size}: {_median_milliseconds(program, binary, size):.1f} ms at -O2")
    fresh = Path(tempfile.gettempdir()) / f"{program.name}.fresh.bc"
    write_bitcode(program, fresh)
    if not program.bitcode.exists() or fresh.read_bytes() != program.bitcode.read_bytes():
        found.append(f"{program.name}.bc differs from a fresh build")
    print(f"  {instruction_count(fresh)} IR instructions")
    fresh.unlink()
    return found


def _valgrind(program: Program, binary: Path) -> list[str]:
    command = ["valgrind", "-q", "--error-exitcode=98", "--leak-check=full", str(binary)]
    indices = [i for i, want in enumerate(program.expected("test")) if want.exit == 0]
    case, want = program.case("test", indices[0]), program.expected("test")[indices[0]]
    got = run(command, case)
    print(f"  valgrind: {'clean' if got == want else 'NOT CLEAN'}")
    return [] if got == want else [_describe("valgrind", case, want, got)]


def _median_milliseconds(program: Program, binary: Path, size: str) -> float:
    times = []
    for case in program.cases(size):
        with tempfile.TemporaryDirectory() as name:
            case.write(Path(name))
            command = [str(binary), *case.argv]
            start = _children_seconds()
            subprocess.run(command, cwd=name, input=case.stdin, capture_output=True, check=False)
            times.append(1000 * (_children_seconds() - start))
    return statistics.median(times)


def _children_seconds() -> float:
    # Processor time, because the wall clock of a busy machine says little.
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def write_cases(program: Program, folder: Path) -> None:
    """Write every case's files and its command line under `folder`."""
    for size in SIZES:
        for index, case in enumerate(program.cases(size)):
            target = folder / program.name / size / str(index)
            target.mkdir(parents=True, exist_ok=True)
            case.write(target)
            (target / "stdin").write_bytes(case.stdin)
            (target / "argv.json").write_text(json.dumps(case.argv))


def _execute(
    command: Sequence[str], *, cwd: Path | None = None
) -> "subprocess.CompletedProcess[str]":
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stderr}")
    return done


def _selected(names: Sequence[str], everything: bool) -> list[Program]:
    folders = sorted(path.parent for path in ROOT.glob("*/program.toml"))
    return [Program.load(f) for f in folders if everything or f.name in names]


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command on the chosen programs; return 1 if a check found something."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("command", choices=["bitcode", "expected", "check", "cases"])
    parser.add_argument("names", nargs="*", help="programs; for `cases`, the folder comes last")
    parser.add_argument("--all", action="store_true", help="every program")
    options = parser.parse_args(arguments)
    target = Path(options.names.pop()) if options.command == "cases" else ROOT
    chosen = _selected(options.names, options.all)
    unknown = set(options.names) - {program.name for program in chosen}
    if unknown or not chosen:
        parser.error(f"no such program: {', '.join(sorted(unknown)) or 'none named'}")
    actions: dict[str, Callable[[Program], object]] = {
        "bitcode": lambda program: write_bitcode(program, program.bitcode),
        "expected": write_expected,
        "cases": lambda program: write_cases(program, target),
    }
    failures: list[str] = []
    for program in chosen:
        print(f"{program.name}: {options.command}", flush=True)
        if options.command == "check":
            failures += check(program)
        else:
            actions[options.command](program)
    print("\n".join(failures), end="\n" if failures else "")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())

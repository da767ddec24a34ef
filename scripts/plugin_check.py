# SPDX-License-Identifier: MIT
"""Compare random programs with and without the size plug-in, and find the wrong rewrite.

python -m scripts.plugin_check build/size/native/linker/compiler_gym_size.so --seeds 2000
python -m scripts.plugin_check build/size/native/linker/compiler_gym_size.so --assembly

Each program prints a checksum. It is compiled once, for one of several sets of flags, and linked
twice with the machine verifier on; both programs must print the same. csmith writes the programs,
or with `--assembly` this project's generator, which uses inline assembly. A program is useless if
it does not compile or end in time. One with assembly that differs is ambiguous if clang's own
builds at -O0 and -O2 differ, too.

For any other program that differs, the number of rewrites is halved until the rewrite that breaks
it is found, which takes a link for each bit of their number. Exit status 1 if a program differs or
does not link.
"""

import argparse
import contextlib
import os
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from compiler_gym.tools.tune.llvm.rewrites import find_rewrite, read_counts
from scripts.assembly_programs import write_program

__all__ = ["VARIANTS", "Case", "link", "run"]

_SECONDS, _COMPILING = 4.0, 120.0
_FINE = frozenset({"same", "useless", "ambiguous"})
_OUTLINE = "-Wl,-mllvm,-enable-machine-outliner=always"
_IPRA = "-Wl,-mllvm,-enable-ipra"
_FRAMES = ("-fno-omit-frame-pointer", "-momit-leaf-frame-pointer")
VARIANTS: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...] = (
    (_FRAMES, (_OUTLINE,)),
    (("-fno-inline", *_FRAMES), ()),
    (("-fno-inline",), (_OUTLINE,)),
    (("-fno-omit-frame-pointer", "-g"), ()),
    (("-fno-asynchronous-unwind-tables", "-fno-inline", *_FRAMES), (_IPRA, _OUTLINE)),
    (_FRAMES, (_IPRA,)),
    (("-march=x86-64-v3", *_FRAMES), (_OUTLINE,)),
    (("-fsigned-char", "-mno-red-zone", "-fstack-protector-all"), ()),
)
"""Flags for compiling and for linking, of which each program gets one set in turn."""


@dataclass(frozen=True, slots=True)
class Case:
    """A program to link with and without the plug-in."""

    module: Path
    flags: tuple[str, ...]
    plugin: Path
    driver: str = "clang-22"
    checks: tuple[str, ...] = ("-Wl,-mllvm,-verify-machineinstrs",)


def link(case: Case, switches: str | None, output: Path) -> str:
    """Link `case`, with the plug-in unless `switches` is None; return messages if it fails."""
    command = [case.driver, "-Oz", "-flto", "-fuse-ld=lld-22", *case.flags, *case.checks]
    environment = dict(os.environ)
    if switches is not None:
        command.append(f"-Wl,--load-pass-plugin={case.plugin}")
        environment["COMPILER_GYM_SIZE"] = switches
    done = subprocess.run(
        [*command, str(case.module), "-o", str(output)],
        env=environment,
        capture_output=True,
        check=False,
        text=True,
        timeout=_COMPILING,
    )
    return done.stderr[-2000:] if done.returncode else ""


def run(program: Path) -> str | None:
    """Return what `program` prints and how it ends, or None if it takes too long twice."""
    for _ in range(2):
        with contextlib.suppress(subprocess.TimeoutExpired):
            done = subprocess.run([program], capture_output=True, check=False, timeout=_SECONDS)
            break
    else:
        return None
    return f"{done.returncode} {done.stdout.decode(errors='replace')}"


def write_csmith(seed: int, folder: Path) -> Path:
    """Write the program by csmith of this seed."""
    source = folder / f"{seed}.c"
    made = ["csmith", "--seed", str(seed), "--output", str(source)]
    subprocess.run(made, check=True, capture_output=True, timeout=_COMPILING, cwd=folder)
    return source


def write_assembly(seed: int, folder: Path) -> Path:
    """Write the program with inline assembly of this seed; one in four throws exceptions."""
    has_exceptions = seed // len(VARIANTS) % 4 == 3
    source = folder / f"{seed}{'.cpp' if has_exceptions else '.c'}"
    source.write_text(write_program(seed, has_exceptions))
    return source


def find_answers(compiler: Sequence[str], source: Path) -> set[str | None]:
    """Return what `source` prints without the linker's passes, for each level that compiles it."""
    answers = set[str | None]()
    program = source.with_suffix(".reference")
    # With frame pointers, clang refuses assembly that clobbers them if a variable is in memory.
    for level in (("-O0", "-fomit-frame-pointer"), ("-O2",)):
        compiled = [*compiler, *level, str(source), "-o", str(program)]
        if subprocess.run(compiled, capture_output=True, check=False).returncode == 0:
            answers.add(run(program))
    return answers


def check(seed: int, plugin: Path, folder: Path, counts: Counter[str], assembly: bool) -> str:
    """Return ``same``, ``useless`` or ``ambiguous`` for the program of `seed`, or what differs."""
    source = (write_assembly if assembly else write_csmith)(seed, folder)
    module = source.with_suffix(".o")
    driver = "clang++-22" if source.suffix == ".cpp" else "clang-22"
    compiler = [driver, "-w", "-I/usr/include/csmith"]
    compiling, linking = VARIANTS[seed % len(VARIANTS)]
    compiled = [*compiler, "-Oz", "-flto", *compiling, "-c", str(source), "-o", str(module)]
    if subprocess.run(compiled, check=not assembly, capture_output=assembly).returncode:
        return "useless"
    case, plain, small = Case(module, linking, plugin, driver), folder / "plain", folder / "small"
    unchecked = replace(case, checks=())
    if link(unchecked, None, plain) or (expected := run(plain)) is None:
        return "useless"
    statistics = folder / "statistics"
    message = link(case, f"stats={statistics}", small)
    if message and link(case, None, plain):  # the verifier refuses clang's own code
        case = unchecked
        message = link(case, f"stats={statistics}", small)
    if message:
        return f"does not link: {message}"
    counts.update(read_counts(statistics))
    if run(small) == expected:
        source.unlink()
        module.unlink()
        return "same"
    if assembly and find_answers(compiler, source) != {expected}:
        return "ambiguous"

    def is_broken(limit: int) -> bool:
        switches = f"stats={statistics},limit={limit}"
        return bool(link(case, switches, small)) or run(small) != expected

    number, place = find_rewrite(is_broken, statistics)
    return f"differs from rewrite {number}: {place}"


def main(arguments: Sequence[str] | None = None) -> None:
    """Check as many programs as requested, and print those that differ."""
    parser = argparse.ArgumentParser(prog="python -m scripts.plugin_check", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("plugin", type=Path)
    parser.add_argument("--seeds", type=int, default=500)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--assembly", action="store_true", help="programs with inline assembly")
    parser.add_argument("--keep", type=Path, help="folder for programs that differ")
    options = parser.parse_args(arguments)
    verdicts, counts = Counter[str](), Counter[str]()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for seed in range(options.first, options.first + options.seeds):
            verdict = check(seed, options.plugin.resolve(), folder, counts, options.assembly)
            verdicts[verdict.partition(" ")[0]] += 1
            if verdict not in _FINE:
                print(f"seed {seed}: {verdict}", flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common()))
    for rule, count in counts.most_common():
        print(f"{rule}\t{count}")
    raise SystemExit(bool(set(verdicts) - _FINE))


if __name__ == "__main__":
    main()

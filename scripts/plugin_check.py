# SPDX-License-Identifier: MIT
"""Compare random programs by csmith with and without the size plug-in, and find the wrong rewrite.

python -m scripts.plugin_check build/size/native/linker/compiler_gym_size.so --seeds 2000

Each program prints a checksum. It is compiled once, for one of several sets of flags, and linked
twice with the machine verifier on; both programs must print the same. For one that does not, the
number of rewrites is halved until the rewrite that breaks it is found, which takes a link for each
bit of their number. Exit status 1 if a program differs or does not link.
"""

import argparse
import contextlib
import os
import subprocess
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from compiler_gym.tools.tune.llvm.size_plugin import find_rewrite, read_counts

__all__ = ["VARIANTS", "Case", "link", "run"]

_SECONDS, _COMPILING = 4.0, 120.0
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


def link(case: Case, switches: str | None, output: Path) -> str:
    """Link `case`, with the plug-in unless `switches` is None; return messages if it fails."""
    command = ["clang-22", "-Oz", "-flto", "-fuse-ld=lld-22", *case.flags, str(case.module)]
    environment = dict(os.environ)
    if switches is not None:
        command += ["-Wl,-mllvm,-verify-machineinstrs", f"-Wl,--load-pass-plugin={case.plugin}"]
        environment["COMPILER_GYM_SIZE"] = switches
    done = subprocess.run(
        [*command, "-o", str(output)],
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


def check(seed: int, plugin: Path, folder: Path, counts: Counter[str]) -> str:
    """Return ``same`` or ``useless`` for the program of `seed`, or what differs."""
    source, module = folder / f"{seed}.c", folder / f"{seed}.o"
    made = ["csmith", "--seed", str(seed), "--output", str(source)]
    subprocess.run(made, check=True, capture_output=True, timeout=_COMPILING, cwd=folder)
    compiling, linking = VARIANTS[seed % len(VARIANTS)]
    compiled = ["clang-22", "-Oz", "-flto", "-w", "-I/usr/include/csmith", *compiling]
    subprocess.run([*compiled, "-c", str(source), "-o", str(module)], check=True)
    case, plain, small = Case(module, linking, plugin), folder / "plain", folder / "small"
    if link(case, None, plain) or (expected := run(plain)) is None:
        return "useless"
    statistics = folder / "statistics"
    if message := link(case, f"stats={statistics}", small):
        return f"does not link: {message}"
    counts.update(read_counts(statistics))
    if run(small) == expected:
        source.unlink()
        module.unlink()
        return "same"

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
    parser.add_argument("--keep", type=Path, help="folder for programs that differ")
    options = parser.parse_args(arguments)
    verdicts, counts = Counter[str](), Counter[str]()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for seed in range(options.first, options.first + options.seeds):
            verdict = check(seed, options.plugin.resolve(), folder, counts)
            verdicts[verdict.partition(" ")[0]] += 1
            if verdict not in ("same", "useless"):
                print(f"seed {seed}: {verdict}", flush=True)
    print(", ".join(f"{count} {verdict}" for verdict, count in verdicts.most_common()))
    for rule, count in counts.most_common():
        print(f"{rule}\t{count}")
    raise SystemExit(bool(set(verdicts) - {"same", "useless"}))


if __name__ == "__main__":
    main()

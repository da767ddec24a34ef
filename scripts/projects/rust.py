# SPDX-License-Identifier: MIT
"""Measure what `compiler-gym-cc` saves on Rust programs, as ``docs/results/rust.json`` records.

python -m scripts.projects.rust /tmp/rust                 every program of rust.toml
python -m scripts.projects.rust /tmp/rust hexyl --tests

Needs rustc-web and cargo-web of Debian 12, valgrind, and the packages with the crates.
"""

import argparse
import hashlib
import json
import os
import re
import resource
import shlex
import shutil
import subprocess
import sys
import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from scripts.projects.measuring import sizes

_HERE = Path(__file__).parent
_RESULTS = _HERE.parents[1] / "docs" / "results" / "rust.json"
_CRATES = Path("/usr/share/cargo/registry")
_PROFILE = {"OPT_LEVEL": "z", "LTO": "fat", "CODEGEN_UNITS": "1", "PANIC": "abort",
            "STRIP": "true", "DEBUG": "0"}  # fmt: skip
_CLANG = "clang-22"
_LLD = ("-fuse-ld=lld", "-Wl,--icf=safe")
_PACKED = "-Wl,-z,pack-relative-relocs"
_OURS = str(Path(sys.executable).with_name("compiler-gym-cc"))
_ONCE, _UNPACKED, _MINSIZE = "--no-never-larger", "--old-loaders", "--minsize"
_WITHOUT = "--no-plugin"
RIVALS: Mapping[str, Sequence[str]] = {
    "rival": (_CLANG, "$@", *_LLD),
    "rival, packed": (_CLANG, "$@", *_LLD, _PACKED),
}
"""The links of the code that rustc generates: what a stock linker can do for size."""
OURS: Mapping[str, Sequence[str]] = {
    "policy": (_OURS, "$@", _ONCE, _UNPACKED, _WITHOUT),
    "policy, packed": (_OURS, "$@", _ONCE, _WITHOUT),
    "minsize": (_OURS, "$@", _ONCE, _UNPACKED, _MINSIZE, _WITHOUT),
    "minsize, packed": (_OURS, "$@", _MINSIZE, _WITHOUT),
    "plug-in, packed": (_OURS, "$@", _ONCE, _MINSIZE),
}
"""The links of the bitcode that rustc passes with -Clinker-plugin-lto. One of them compares, as all
do by default, so that its time is that of a user; the others save time here."""
_COUNTED = ("rival", "policy", "minsize", "plug-in, packed")
_TESTED = {
    "rival": (f"-Clinker={_CLANG}", *(f"-Clink-arg={word}" for word in _LLD)),
    "minsize, packed": (f"-Clinker={_OURS}", "-Clinker-plugin-lto", f"-Clink-arg={_MINSIZE}"),
}
_SUMMARY = re.compile(r"^summary: (\d+)", re.M)


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """One program of ``rust.toml``, which describes the fields."""

    name: str
    role: str
    source: str
    run: str
    binary: str = ""
    features: str = ""
    prepare: str = "true"

    @property
    def features_words(self) -> list[str]:
        """Return the arguments of cargo for the features."""
        return ["--features", self.features] if self.features else []


@dataclass(slots=True)
class Outcome:
    """What was measured of one build of a program."""

    text: int
    loaded: int
    total: int
    seconds: float
    """Processor time of the last call of rustc: link-time optimisation, code and link."""
    instructions: int
    """Instructions that the program's run executes."""
    output: str
    """A digest of what the run prints."""
    said: str = ""
    """What the linker said."""


def programs() -> list[Program]:
    """Return the programs of the table."""
    rows = tomllib.loads((_HERE / "rust.toml").read_text())
    return [Program(name=name, **row) for name, row in rows.items()]


def fetch(program: Program, into: Path) -> Path:
    """Return the folder with the sources of `program`, made if it is not there."""
    folder = into / program.name / "source"
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    if (_CRATES / program.source).is_dir():
        shutil.copytree(_CRATES / program.source, folder)
    else:
        command = ["apt-get", "source", "-q", program.source]
        subprocess.run(command, cwd=folder.parent, check=True)
        next(path for path in folder.parent.iterdir() if path.is_dir()).rename(folder)
    for name in ("Cargo.lock", ".cargo-checksum.json"):  # of versions that Debian does not have
        (folder / name).unlink(missing_ok=True)
    subprocess.run(["sh", "-ec", program.prepare], cwd=folder, check=True)
    return folder


def cargo(folder: Path, *words: str, flags: str = "") -> "subprocess.CompletedProcess[str]":
    """Run cargo offline with Debian's crates; its output is in the result, not checked."""
    profile = {f"CARGO_PROFILE_RELEASE_{name}": value for name, value in _PROFILE.items()}
    sources = {"source.crates-io.replace-with": "debian", "source.debian.directory": str(_CRATES)}
    options = [word for key, value in sources.items() for word in ("--config", f'{key}="{value}"')]
    variables = os.environ | profile | {"CARGO_NET_OFFLINE": "true"}
    if flags:
        variables["RUSTFLAGS"] = flags
    return subprocess.run(
        ["/usr/bin/cargo", *options, *words], cwd=folder, capture_output=True, text=True,
        check=False, env=variables | {"RUSTC": "/usr/bin/rustc"},
    )  # fmt: skip


def build(
    program: Program,
    folder: Path,
    links: Mapping[str, Sequence[str]],
    flags: Sequence[str],
    into: Path,
) -> Mapping[str, tuple[float, str]]:
    """Compile `program` once and link it in all ways of `links` to files in `into`.

    Returns for each the processor time of the last call of rustc (link-time optimisation and one
    link) and the messages. The crates that it uses are built before, and once for all builds.
    """
    linker = into / f"linker-{time.time_ns()}"  # a new name, so that cargo links again
    linker.write_text(_write_linker(links, into))
    linker.chmod(0o755)
    binary = program.binary or program.name
    words = ["rustc", "--release", "--bin", binary, *program.features_words]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = cargo(folder, *words, "--", f"-Clinker={linker}", *flags)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{program.name}: {done.stderr[-3000:]}")
    said = {name: _name_file(into, f"{name}.said").read_text() for name in links}
    times = {name: sum(map(float, text.split()[-2:])) for name, text in said.items()}
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    rustc = spent - sum(times.values())
    lines = {name: "\n".join(re.findall("compiler-gym cc.*", text)) for name, text in said.items()}
    return {name: (rustc + times[name], lines[name]) for name in links}


def _name_file(into: Path, name: str) -> Path:
    return into / name.replace(", ", "-")


def _write_linker(links: Mapping[str, Sequence[str]], into: Path) -> str:
    """Return a script that links for rustc in several ways, and times them."""
    lines = ["#!/bin/bash -e", "TIMEFORMAT='%U %S'", 'for w; do [ "$l" = -o ] && o=$w; l=$w; done']
    for name, words in links.items():
        link = shlex.join(words).replace("'$@'", '"$@"')
        lines += [f"{{ time {link}; }} 2> {shlex.quote(str(_name_file(into, f'{name}.said')))}"]
        lines += [f'cp "$o" {shlex.quote(str(_name_file(into, name)))}']
    return "\n".join(lines) + "\n"


def run(program: Program, file: Path, into: Path, *, counted: bool) -> tuple[str, int]:
    """Return a digest of what the run of `file` prints, and its instructions if `counted`."""
    scratch = into / program.name / "scratch"
    shutil.rmtree(scratch, ignore_errors=True)
    scratch.mkdir()
    counts = scratch / "counts"
    counts.mkdir()
    tool = f"valgrind -q --tool=cachegrind --cache-sim=no --cachegrind-out-file={counts}/%p "
    variables = os.environ | {"TREE": str(_CRATES), "RUN": f"{tool if counted else ''}{file}"}
    command = ["bash", "-ec", program.run]
    done = subprocess.run(command, cwd=scratch, env=variables, capture_output=True, check=False)
    if not done.stdout:
        raise SystemExit(f"{program.name}: its run prints nothing: {done.stderr[-2000:]!r}")
    found = [_SUMMARY.search(path.read_text()) for path in counts.iterdir()]
    total = sum(int(match[1]) for match in found if match)
    return hashlib.sha256(done.stdout).hexdigest()[:16], total


def measure(program: Program, into: Path) -> dict[str, object]:
    """Return the outcome of each build of `program`."""
    folder, kept = fetch(program, into), into / program.name / "built"
    kept.mkdir(exist_ok=True)
    build(program, folder, {"crates": (_CLANG, "$@")}, (), kept)  # which no build pays for
    built = {**build(program, folder, RIVALS, (), kept)}
    built |= build(program, folder, OURS, ("-Clinker-plugin-lto",), kept)
    row: dict[str, object] = {"role": program.role}
    for name, (seconds, said) in built.items():
        output, _ = run(program, _name_file(kept, name), into, counted=False)
        counted = name in _COUNTED
        instructions = run(program, _name_file(kept, name), into, counted=True)[1] if counted else 0
        size = sizes(_name_file(kept, name))
        outcome = Outcome(
            size.text,
            size.loaded,
            size.total,
            round(seconds, 2),
            instructions,
            output,
            said,
        )
        row[name] = asdict(outcome)
        print(program.name, name, outcome, flush=True)
    return row


def test(program: Program, into: Path) -> dict[str, str]:
    """Return the results of the program's own tests for two builds."""
    folder = fetch(program, into)
    return {name: _test(program, folder, flags) for name, flags in _TESTED.items()}


def _test(program: Program, folder: Path, flags: Sequence[str]) -> str:
    """Return the last verdicts of the program's own tests, built with `flags`."""
    words = ["test", "--release", "--no-fail-fast", *program.features_words]
    done = cargo(folder, *words, "--target-dir", "target-tests", flags=" ".join(flags))
    verdicts = re.findall(r"test result: \w+\. (\d+) passed; (\d+) failed", done.stdout)
    counts = [tuple(map(int, pair)) for pair in verdicts]
    if not counts:
        return f"not built: {done.stderr[-300:]}"
    passed, failed = (sum(column) for column in zip(*counts, strict=True))
    return f"{passed} passed, {failed} failed"


def main() -> None:
    """Measure the programs that were asked for, and store each result at once."""
    words = argparse.ArgumentParser(prog="python -m scripts.projects.rust", description=__doc__)
    words.formatter_class = argparse.RawDescriptionHelpFormatter
    words.add_argument("into", type=Path)
    words.add_argument("names", nargs="*")
    words.add_argument("--tests", action="store_true", help="run their own tests instead")
    given = words.parse_args()
    for program in programs():
        if given.names and program.name not in given.names:
            continue
        into = given.into.resolve()
        row = {"tests": test(program, into)} if given.tests else measure(program, into)
        print(program.name, row.get("tests", ""), flush=True)
        rows = json.loads(_RESULTS.read_text()) if _RESULTS.exists() else {}
        rows[program.name] = rows.get(program.name, {}) | row
        _RESULTS.write_text(json.dumps(rows, indent=1) + "\n")


if __name__ == "__main__":
    main()

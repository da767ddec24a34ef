# SPDX-License-Identifier: MIT
"""Measure what `compiler-gym-cc` saves on Rust programs, as ``docs/results/rust.json`` records.

python -m scripts.projects.rust /tmp/rust                 every program of rust.toml
python -m scripts.projects.rust /tmp/rust hexyl --no-tests

Needs rustc-web and cargo-web of Debian 12, valgrind, and the packages with the crates.
"""

import argparse
import hashlib
import json
import os
import re
import resource
import shutil
import subprocess
import sys
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
_LLD = ("-Clinker=clang-22", "-Clink-arg=-fuse-ld=lld", "-Clink-arg=-Wl,--icf=safe")
_PACKED = "-Clink-arg=-Wl,-z,pack-relative-relocs"
_OURS = (
    f"-Clinker={Path(sys.executable).with_name('compiler-gym-cc')}",
    "-Clinker-plugin-lto",
    "-Wlinker-messages",
)
BUILDS: Mapping[str, Sequence[str]] = {
    "rival": _LLD,
    "rival, packed": (*_LLD, _PACKED),
    "policy": (*_OURS, "-Clink-arg=--old-loaders"),
    "policy, minsize": (*_OURS, "-Clink-arg=--old-loaders", "-Clink-arg=--minsize"),
    "policy, minsize, packed": (*_OURS, "-Clink-arg=--minsize"),
}
"""The flags for rustc of each build; all have the same profile, in which the rival has whatever
stable Rust and a stock linker can do for size."""
_TESTED = "policy, minsize, packed"
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


def build(program: Program, folder: Path, flags: Sequence[str]) -> tuple[Path, float, str]:
    """Build `program`; return its file, the processor time of its last step, and messages.

    The crates that it uses are built before, and once for all builds.
    """
    binary = program.binary or program.name
    words = ["rustc", "--release", "--bin", binary, *program.features_words]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = cargo(folder, *words, "--", *flags)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{program.name}: {' '.join(flags)}: {done.stderr[-3000:]}")
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    said = re.findall(r"compiler-gym c.*", done.stderr)
    return folder / "target" / "release" / binary, spent, "\n".join(said)


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


def measure(program: Program, into: Path, *, is_tested: bool) -> dict[str, object]:
    """Return the outcome of each build of `program`, and whether its own tests pass."""
    folder = fetch(program, into)
    build(program, folder, ("-Clinker=clang-22",))  # the crates, which no build pays for
    row: dict[str, object] = {"role": program.role}
    for name, flags in BUILDS.items():
        file, seconds, said = build(program, folder, flags)
        kept = into / program.name / name.replace(", ", "-")
        shutil.copy(file, kept)
        output, _ = run(program, kept, into, counted=False)
        _, instructions = run(program, kept, into, counted=True)
        size = sizes(kept)
        outcome = Outcome(
            size.text, size.loaded, size.total, round(seconds, 2), instructions, output, said
        )
        row[name] = asdict(outcome)
        print(program.name, name, outcome, flush=True)
    if is_tested:
        row["tests"] = {name: _test(program, folder, BUILDS[name]) for name in ("rival", _TESTED)}
        print(program.name, row["tests"], flush=True)
    return row


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
    words.add_argument("--no-tests", action="store_true")
    given = words.parse_args()
    for program in programs():
        if given.names and program.name not in given.names:
            continue
        row = measure(program, given.into.resolve(), is_tested=not given.no_tests)
        rows = json.loads(_RESULTS.read_text()) if _RESULTS.exists() else {}
        _RESULTS.write_text(json.dumps(rows | {program.name: row}, indent=1) + "\n")


if __name__ == "__main__":
    main()

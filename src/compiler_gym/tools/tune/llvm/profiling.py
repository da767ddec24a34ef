# SPDX-License-Identifier: MIT
"""Profile a program with a training run, or read a profile from production.

Clang reads instrumentation profiles (``.profdata``) with ``-fprofile-use`` and sample profiles
(``.afdo``) with ``-fprofile-sample-use``; the suffix distinguishes the two.
"""

import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from compiler_gym.envs.llvm.toolchain import require_tool
from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune import RunCommand
from compiler_gym.tools.tune.llvm.linking import SAMPLED, Linker, profile_flags, run

_INDEXED, _RAW, _PERF = b"\xfflprofi\x81", b"\x81rforpl\xff", b"PERFILE2"
"""The first bytes of indexed profiles, of raw profiles and of perf's records."""
_TRAINED, _GIVEN = "training", "given"
_SHOWN = 300
_COUNT = re.compile(r'^(!\d+) = !\{!"function_entry_count", i64 (-?\d+)', re.MULTILINE)
_FUNCTION = re.compile(r"^define (?:.* !prof (!\d+))?", re.MULTILINE)
_UNKNOWN = "-1"
"""The count of a function without samples."""


@dataclass(slots=True)
class Profiler:
    """Makes profiles of one binary in its folder."""

    linker: Linker
    notes: list[str] = field(default_factory=list[str])
    """Notes for the user."""

    def train_profile(self, by: RunCommand) -> Path | None:
        """Return a profile of the command `by`, or None with a note if profiling fails."""
        output = self.linker.folder / _TRAINED / "program.profdata"
        raw = output.with_name("raw")
        shutil.rmtree(raw, ignore_errors=True)
        raw.mkdir(parents=True)
        flags = ["-O3", "-flto", "-fprofile-update=prefer-atomic", f"-fprofile-generate={raw}"]
        try:
            path = self.linker.link(_TRAINED, self.linker.compile(f"{_TRAINED}-o", flags), flags)
            outcome = by.run(path)
            profiles = sorted(raw.glob("*.profraw"))
            has_failed = by.has_failed(outcome)
            if has_failed or not profiles:
                why = f"exited with status {outcome.status}" if has_failed else (
                    "wrote no profile; it must run the program that was built, and that program "
                    "must end with exit()"
                )  # fmt: skip
                raise ProjectError(f"{by.text} {why}")
            _merge(profiles, output)
        except ProjectError as error:
            self.notes.append(f"no {_TRAINED} profile: {str(error)[-_SHOWN:]}")
            return None
        return output

    def read_profile(self, file: Path, built: Path) -> Path:
        """Return the profile `file` from production, converted for clang if necessary.

        `built` is the project's own build, needed to interpret perf's records. Raises
        `ProjectError` if the profile cannot be read or does not match this program.
        """
        folder = self.linker.folder / _GIVEN
        folder.mkdir(parents=True, exist_ok=True)
        try:
            with file.open("rb") as stream:
                magic = stream.read(8)
        except OSError as error:
            raise ProjectError(f"cannot read the profile {file}: {error.strerror}") from error
        is_counted = magic in (_INDEXED, _RAW)
        output = folder / f"program{'.profdata' if is_counted else SAMPLED}"
        if is_counted:
            _merge([file], output)
        elif magic == _PERF:
            _convert(file, built, output)
        else:
            shutil.copy(file, output)
        self._require_match(file, output)
        return output

    def _require_match(self, file: Path, profile: Path) -> None:
        """Note how much of the program `profile` covers; raise `ProjectError` if nothing."""
        flags = ["-O3", "-flto", *profile_flags(str(profile))]
        try:
            objects = self.linker.compile(f"{_GIVEN}-o", flags)
        except ProjectError as error:
            raise ProjectError(
                f"clang cannot use the profile {file}; it must come from llvm-profdata, AutoFDO "
                f"or perf record -b: {str(error)[-_SHOWN:]}"
            ) from error
        matched, functions = 0, 0
        for path in objects.values():
            hits, count = _count_matches(path)
            matched, functions = matched + hits, functions + count
        if not matched:
            raise ProjectError(
                f"the profile {file} matches none of this program's {functions:,} functions; "
                "record it again with a build of the same sources, or use --train to run the "
                "program"
            )
        self.notes.append(f"the profile {file.name} covers {matched:,} of {functions:,} functions")
        if matched < functions:
            self.notes[-1] += "; the others never ran, or their sources differ"


def _merge(files: Sequence[Path], output: Path) -> None:
    tool = require_tool(
        "llvm-profdata", "to learn from a run", error=ProjectError, any_version=True
    )
    run([tool, "merge", *map(str, files), "-o", str(output)], output.parent)


def _convert(file: Path, built: Path, output: Path) -> None:
    """Convert perf's records to an AutoFDO profile."""
    tool = shutil.which("create_llvm_prof")
    if tool is None:
        raise ProjectError(
            f"create_llvm_prof not found; it is needed to read perf's {file}. Install it with "
            "`apt install autofdo`, or give a profile of AutoFDO or llvm-profdata"
        )
    command = [tool, f"--binary={built}", f"--profile={file}", f"--out={output}"]
    try:
        run(command, output.parent)
    except ProjectError as error:
        raise ProjectError(
            f"create_llvm_prof cannot read {file}; record it with `perf record -b` and a build "
            f"with -g: {str(error)[-_SHOWN:]}"
        ) from error


def _count_matches(bitcode: Path) -> tuple[int, int]:
    """Return the number of functions with a profile in an object, and the number of all."""
    tool = require_tool("llvm-dis", "to look for a profile", error=ProjectError)
    result = subprocess.run([tool, str(bitcode), "-o", "-"], capture_output=True, check=False)
    text = result.stdout.decode(errors="replace")
    counts = dict(_COUNT.findall(text))
    functions = _FUNCTION.findall(text)
    return sum(counts.get(name, _UNKNOWN) != _UNKNOWN for name in functions), len(functions)

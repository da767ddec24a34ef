# SPDX-License-Identifier: MIT
"""What runs of a program say of it: a profile of our own training run, or one from production.

Indexed profiles of counters (``.profdata``) are used by ``-fprofile-use``, profiles by sampling
(``.afdo``) by ``-fprofile-sample-use``: the suffix says which it is.
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

__all__ = ["Profiler", "profiles_in"]

_INDEXED, _RAW, _PERF = b"\xfflprofi\x81", b"\x81rforpl\xff", b"PERFILE2"
"""How files of llvm-profdata, of a run and of perf begin."""
_TRAINED, _CALLS, _GIVEN = "training", "calls", "given"
_SHOWN = 300
_COUNT = re.compile(r'^(!\d+) = !\{!"function_entry_count", i64 (-?\d+)', re.MULTILINE)
_FUNCTION = re.compile(r"^define (?:.* !prof (!\d+))?", re.MULTILINE)
_UNKNOWN = "-1"
"""The count of a function that no sample is of."""


@dataclass(slots=True)
class Profiler:
    """Makes profiles of one binary in its folder."""

    linker: Linker
    notes: list[str] = field(default_factory=list[str])
    """What the user should be told."""

    def train_profile(self, by: RunCommand, used: Path | None = None) -> Path | None:
        """Return a profile of the command `by`; None, with a note, where there is none.

        With `used`, the profile also knows who called, on top of that profile.
        """
        name = _TRAINED if used is None else _CALLS
        output = self.linker.folder / name / "program.profdata"
        raw = output.with_name("raw")
        shutil.rmtree(raw, ignore_errors=True)
        raw.mkdir(parents=True)
        flags = ["-O3", "-flto", "-fprofile-update=prefer-atomic"]
        flags += [] if used is None else [f"-fprofile-use={used}"]
        flags.append(f"-f{'' if used is None else 'cs-'}profile-generate={raw}")
        try:
            path = self.linker.link(name, self.linker.compile(f"{name}-o", flags), flags)
            ended = by.run(path)
            made = sorted(raw.glob("*.profraw"))
            has_failed = by.has_failed(ended)
            if has_failed or not made:
                said = f"ended with status {ended.status}" if has_failed else "ended well"
                why = "" if has_failed else (
                    ": it runs another file, or ends without exit(), so that nothing is written"
                )  # fmt: skip
                raise ProjectError(f"{by.text} {said} and left {len(made)} profiles{why}")
            _merge([*([] if used is None else [used]), *made], output)
        except ProjectError as error:
            self.notes.append(f"no profile of {name}: {str(error)[-_SHOWN:]}")
            return None
        return output

    def read_profile(self, file: Path, built: Path) -> Path:
        """Return the profile `file` from production, as clang reads it.

        `built` is the project's own build, which perf's records are looked up in. Raises
        `ProjectError` where it cannot be read, or nothing in it is of this program.
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
        """Say how much of the program `profile` is of; raise `ProjectError` where nothing is."""
        flags = ["-O3", "-flto", *profile_flags(str(profile))]
        try:
            objects = self.linker.compile(f"{_GIVEN}-o", flags)
        except ProjectError as error:
            raise ProjectError(
                f"clang cannot use the profile {file}: expected one of llvm-profdata, of AutoFDO "
                f"or of perf record -b: {str(error)[-_SHOWN:]}"
            ) from error
        matched, functions = 0, 0
        for path in objects.values():
            found, count = _count_matches(path)
            matched, functions = matched + found, functions + count
        if not matched:
            raise ProjectError(
                f"nothing in the profile {file} is of this program, of {functions:,} functions: "
                "expected a profile of a build of the same sources: make it again, or let "
                "--train run the program"
            )
        self.notes.append(f"{matched:,} of {functions:,} functions are in the profile {file.name}")
        if matched < functions:
            self.notes[-1] += ": of the others it knows nothing, or it is of other sources"


def profiles_in(folder: Path) -> list[str]:
    """Return where a tuning that writes to `folder` puts its profiles."""
    names = [f"{name}/program.profdata" for name in (_TRAINED, _CALLS, _GIVEN)]
    return [str(folder / name) for name in (*names, f"{_GIVEN}/program{SAMPLED}")]


def _merge(files: Sequence[Path], output: Path) -> None:
    tool = require_tool(
        "llvm-profdata", "to learn from a run", error=ProjectError, any_version=True
    )
    run([tool, "merge", *map(str, files), "-o", str(output)], output.parent)


def _convert(file: Path, built: Path, output: Path) -> None:
    """Make AutoFDO's profile of what perf recorded."""
    tool = shutil.which("create_llvm_prof")
    if tool is None:
        raise ProjectError(
            f"{file} is of perf: needs create_llvm_prof to read it: install it with "
            "`apt install autofdo`, or give a profile of AutoFDO or llvm-profdata"
        )
    words = [tool, f"--binary={built}", f"--profile={file}", f"--out={output}"]
    try:
        run(words, output.parent)
    except ProjectError as error:
        raise ProjectError(
            f"create_llvm_prof cannot read {file}: expected what `perf record -b` wrote of this "
            f"program, built with -g: {str(error)[-_SHOWN:]}"
        ) from error


def _count_matches(bitcode: Path) -> tuple[int, int]:
    """Return how many functions of an object a profile is of, and how many there are."""
    tool = require_tool("llvm-dis", "to look for a profile", error=ProjectError)
    done = subprocess.run([tool, str(bitcode), "-o", "-"], capture_output=True, check=False)
    text = done.stdout.decode(errors="replace")
    counts = dict(_COUNT.findall(text))
    named = _FUNCTION.findall(text)
    return sum(counts.get(name, _UNKNOWN) != _UNKNOWN for name in named), len(named)

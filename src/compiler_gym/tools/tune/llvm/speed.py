# SPDX-License-Identifier: MIT
"""Tune for speed with LLVM: build with a profile, and keep it if it is significantly faster.

The profile is nearly all that a search for speed gains, so there is no search. The build with the
profile and the baseline run alternately, and at the end one of the two is the result. Clang reads
instrumentation profiles (``.profdata``) with ``-fprofile-use`` and sample profiles (``.afdo``) with
``-fprofile-sample-use``; the suffix distinguishes the two.
"""

import math
import re
import shutil
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from compiler_gym.envs.llvm.toolchain import require_tool
from compiler_gym.errors import ProjectError
from compiler_gym.tools.tune import BinaryPlan, Found, RunCommand, Tried, TuningSubject
from compiler_gym.tools.tune.llvm.linker import SAMPLED, Linker, profile_flags, run
from compiler_gym.tools.tune.llvm.plans import FastPlan
from compiler_gym.tools.tune.runs import as_speed
from compiler_gym.validation import Comparison, compare_fastest

_INDEXED, _RAW, _PERF = b"\xfflprofi\x81", b"\x81rforpl\xff", b"PERFILE2"
"""The first bytes of indexed profiles, of raw profiles and of perf's records."""
_TRAINED, _GIVEN = "training", "given"
_SHOWN = 300
_COUNT = re.compile(r'^(!\d+) = !\{!"function_entry_count", i64 (-?\d+)', re.MULTILINE)
_FUNCTION = re.compile(r"^define (?:.* !prof (!\d+))?", re.MULTILINE)
_UNKNOWN = "-1"
"""The count of a function without samples."""
FAIR_FAST = "clang -O3 -flto, --icf=safe"
_OWN = "your flags"
_ROUNDS, _FEWEST, _MOST_ROUNDS = 10, 2, 60
_COMPARED_SECONDS = 4.0
"""The time to spend on short runs of one build."""
_SHARE = 0.5
"""The share of the remaining time for the comparison; the rest is for tests of the result."""


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
                why = (
                    f"exited with status {outcome.status}"
                    if has_failed
                    else (
                        "wrote no profile; it must run the program that was built, and that "
                        "program must end with exit()"
                    )
                )
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


@dataclass
class ProfileTrial:
    """A comparison of one binary, built with a profile, with the baseline."""

    linker: Linker
    subject: TuningSubject
    none: BinaryPlan
    """The plan of the baseline."""
    rivals: Mapping[str, Path]
    """The builds to compare with, the baseline last."""
    notes: list[str] = field(default_factory=list[str])

    def judge(self) -> Found:
        """Return the build with a profile if it is significantly faster, otherwise the baseline."""
        fair, tried = list(self.rivals.values())[-1], 0
        wall = self._time_baseline(fair)
        profile = self._profile()
        plan, path, speed = self.none, fair, Comparison(1.0, 1.0, 1.0)
        if profile is not None:
            profiled, tried = replace(self.none, profile=str(profile)), 1
            built = FastPlan(profiled).link(self.linker)
            speed = self._compare(fair, built, self._count_rounds(wall))
            if _is_faster(speed):
                plan, path = profiled, built
            else:
                self.notes.append(
                    f"the build with a profile is {speed.speedup:.3f} times as fast as the "
                    "baseline, not significantly faster: the result is the baseline"
                )
                speed = Comparison(1.0, 1.0, 1.0)
        return Found(
            plan,
            path,
            self.rivals,
            self.subject.measure.of(fair),
            tried,
            speed=as_speed(speed),
            notes=tuple(self.notes),
            rival_plan=self.none,
        )

    @property
    def _run(self) -> RunCommand:
        assert self.subject.run is not None
        return self.subject.run

    def _time_baseline(self, fair: Path) -> float:
        """Return the seconds of a run of the baseline; raise `ProjectError` if it fails."""
        began = time.monotonic()
        outcome = self._run.run(fair)
        if self._run.has_failed(outcome):
            raise ProjectError(
                f"the run exited with status {outcome.status} for the build with {FAIR_FAST}, but "
                f"with {self._run.expected} for the project's own build: {self._run.text}\n"
                f"{outcome.tail}"
            )
        self.subject.watch("profile", Tried((), outcome.seconds))
        return max(time.monotonic() - began, 1e-3)

    def _profile(self) -> Path | None:
        """Return the profile of the training run or from production; None if there is none."""
        profiler = Profiler(self.linker, self.notes)
        if self.subject.profile is not None:
            return profiler.read_profile(self.subject.profile, self.linker.binary.path)
        run = self.subject.train or self._run
        if self.subject.allowance.is_over:
            self.notes.append(f"no time was left for the training run {run.text}: increase --time")
            return None
        path = profiler.train_profile(run)
        if path is not None:
            self.notes.append(f"profiled run: {run.text}")
        return path

    def _count_rounds(self, wall: float) -> int:
        """Return the number of rounds for a run of `wall` seconds; short runs are repeated."""
        seconds = self.subject.allowance.seconds_left * _SHARE
        fitting = seconds / (wall * (2 + (_OWN in self.rivals)))
        wanted = min(max(_ROUNDS, _COMPARED_SECONDS / wall), _MOST_ROUNDS)
        rounds = int(max(min(wanted, fitting), _FEWEST))
        if rounds < _ROUNDS:
            self.notes.append(
                f"a run takes {wall:.3g} s, so builds are compared in {rounds} rounds instead of "
                f"{_ROUNDS}: use a shorter run, or increase --time"
            )
        return rounds

    def _compare(self, fair: Path, built: Path, rounds: int) -> Comparison:
        """Return the comparison of `built` with `fair`; note that the user's flags are faster."""
        own = [self.rivals[_OWN]] if _OWN in self.rivals else []
        times = self._run.alternate([fair, built, *own], rounds)
        result = compare_fastest(times[0], times[1])
        best = times[1] if _is_faster(result) else times[0]
        if own and (against := compare_fastest(times[2], best)).high < 1:
            self.notes.append(
                f"your own flags are faster: {1 / against.speedup:.3f} times as fast as this "
                "build; keep your own build"
            )
        return result


def _is_faster(result: Comparison) -> bool:
    """Return whether a build is significantly faster; too few runs have no interval."""
    return (result.low if math.isfinite(result.high) else result.speedup) > 1

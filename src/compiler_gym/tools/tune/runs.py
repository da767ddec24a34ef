# SPDX-License-Identifier: MIT
"""Run the user's command with different binaries, and compare their speed.

Runs alternate and only processor time counts, so that a slow minute of the machine affects all
binaries alike. Output and exit status must stay the same, unless they also differ between two runs
of the original binary.
"""

import hashlib
import math
import shlex
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from compiler_gym.errors import ProjectError
from compiler_gym.sandbox import Printed, build_variables, run_in_own_session
from compiler_gym.validation import Comparison, compare_fastest

_SECONDS = 600.0
_SHOWN = 4000
_MOST_LOGGED = 64 << 20
_MOST_PRINTED = 1 << 30
_LIMIT_PASSED = 124
"""The status of tests that exceeded a limit, the same as that of ``timeout``."""
FEWEST_CONFIRMING = 5
"""The minimum number of rounds that confirm a result: fewer have no confidence interval."""


class _LimitError(ProjectError):
    """A command took too long or printed too much."""


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """One run of a command."""

    status: int
    output: str
    """The SHA-256 of its standard output."""
    seconds: float
    """The processor time of the command and all its child processes."""
    tail: str
    """The last lines of its output and the path of its log, for messages."""


@dataclass(frozen=True, slots=True)
class RunCommand:
    """A command of the user, run in the tree with a given binary."""

    text: str
    cwd: Path
    place: Path
    """The path where the command looks for the binary."""
    expected: int = 0
    """The exit status with the project's own build, which every build must have."""

    def has_failed(self, outcome: RunOutcome) -> bool:
        """Return whether the exit status of a run differs from the project's own build."""
        return outcome.status != self.expected

    def run(self, binary: Path, *, log: Path | None = None) -> RunOutcome:
        """Run the command with `binary`, log its output to `log`, and return the outcome."""
        put(binary, self.place)
        return _run(self.text, self.cwd, log=log)

    def alternate(self, binaries: Sequence[Path], rounds: int) -> list[list[float]]:
        """Run all binaries in every round, and return the processor seconds of each binary.

        A failing run counts as infinitely long, so that a crash is never fast.
        """
        times: list[list[float]] = [[] for _ in binaries]
        for _ in range(rounds):
            for binary, seconds in zip(binaries, times, strict=True):
                outcome = self.run(binary)
                seconds.append(math.inf if self.has_failed(outcome) else outcome.seconds)
        return times


def run_check(
    text: str,
    cwd: Path,
    *,
    log: Path | None = None,
    poll: Callable[[], None] = lambda: None,
    wrap: Callable[[Sequence[str]], Sequence[str]] = lambda words: words,
    seconds: float = _SECONDS,
    variables: Mapping[str, str] = MappingProxyType({}),
) -> RunOutcome:
    """Run a command that tests the build in `cwd`, and return the outcome; fail after `seconds`.

    `variables` are added to the environment. The output goes to the file `log`. `poll` is called
    regularly; if it raises, the command is stopped. `wrap` turns the shell's command into the one
    to run.
    """
    try:
        return _run(text, cwd, poll, wrap, log=log, seconds=seconds, variables=variables)
    except _LimitError as error:
        return RunOutcome(_LIMIT_PASSED, "", seconds, str(error))


def put(binary: Path, place: Path) -> None:
    """Copy `binary` to `place` with a new time stamp, so that make keeps it.

    The file is replaced atomically, or rewritten if it has several names, such as those of cargo.
    """
    partial = place.with_name(f".{place.name}.partial")
    try:
        partial.unlink(missing_ok=True)  # a copy would write through a symlink
        if place.is_file() and not place.is_symlink() and place.stat().st_nlink > 1:
            shutil.copyfile(binary, place)
            return
        shutil.copy(binary, partial)
        partial.chmod(0o755)
        partial.replace(place)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise ProjectError(f"cannot copy a binary to {place}: {error.strerror}") from error


def _run(
    text: str,
    cwd: Path,
    poll: Callable[[], None] = lambda: None,
    wrap: Callable[[Sequence[str]], Sequence[str]] = lambda words: words,
    *,
    log: Path | None = None,
    seconds: float = _SECONDS,
    variables: Mapping[str, str] = MappingProxyType({}),
) -> RunOutcome:
    digest, printed = hashlib.sha256(), Printed(_SHOWN)
    if log is not None:
        log.unlink(missing_ok=True)  # open would write through a symlink
    file = None if log is None else log.open("xb")

    def take_errors(part: bytes) -> None:
        printed.add(part)
        if printed.count > _MOST_PRINTED:
            raise _LimitError(
                f"{shlex.quote(text)} printed more than {_MOST_PRINTED >> 20:,} MiB: use a "
                "command that prints less"
            )
        if file is not None and printed.count <= _MOST_LOGGED:
            file.write(part)

    def take(part: bytes) -> None:
        digest.update(part)
        take_errors(part)

    # Ctrl-C must reach only the tuning: a test that it stops would seem to fail.
    try:
        process = run_in_own_session(
            wrap(["/bin/sh", "-c", text]),
            cwd=cwd,
            environment={**build_variables(), "PWD": str(cwd), **variables},
            takes=take,
            takes_errors=take_errors,
            seconds=seconds,
            poll=poll,
        )
    except subprocess.TimeoutExpired:
        raise _LimitError(
            f"{shlex.quote(text)} did not finish within {seconds:g} s: use a shorter command"
        ) from None
    except OSError as error:
        raise ProjectError(f"cannot run {shlex.quote(text)}: {error.strerror}") from error
    finally:
        if file is not None:
            file.close()
    details = [printed.last_lines(), "" if log is None else f"The whole output is in {log}"]
    return RunOutcome(
        process.status, digest.hexdigest(), process.cpu_seconds, "\n".join(filter(None, details))
    )


def compare_in_turns(
    run: RunCommand, baseline: Path, candidate: Path, rounds: int
) -> tuple[Comparison, float]:
    """Return the comparison of `candidate` with `baseline`, and the mean seconds of the latter."""
    before, after = run.alternate([baseline, candidate], rounds)
    return compare_fastest(before, after), sum(before) / len(before)


def as_speed(result: Comparison, prefix: str = "") -> dict[str, float]:
    """Return `result` as reports store it: ``speedup``, ``low`` and ``high``, after `prefix`.

    Too few runs have no interval: then ``low`` and ``high`` are absent.
    """
    speed = {"speedup": result.speedup}
    if math.isfinite(result.high):
        speed |= {"low": result.low, "high": result.high}
    return {f"{prefix}{name}": value for name, value in speed.items()}

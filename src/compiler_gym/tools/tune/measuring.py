# SPDX-License-Identifier: MIT
"""Run the user's own command with one binary or another in its place, and compare.

Runs alternate, so that a slow minute of the machine is everybody's. Output and exit status
must be the same; what differs between two runs of the untouched binary is the command's own.
"""

import hashlib
import math
import shlex
import shutil
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from compiler_gym.errors import ProjectError
from compiler_gym.sandbox import Printed, build_variables, run_in_own_session

__all__ = ["RunCommand", "RunOutcome", "run_check"]

_SECONDS = 600.0
_SHOWN = 4000
_MOST_LOGGED = 64 << 20
_MOST_PRINTED = 1 << 30
_LIMIT_PASSED = 124
"""The status of tests that passed a limit, as that of ``timeout``."""


class _LimitError(ProjectError):
    """A command took too long or printed too much."""


@dataclass(frozen=True, slots=True)
class RunOutcome:
    """One run of a command."""

    status: int
    output: str
    """SHA-256 of what it printed to standard output."""
    seconds: float
    """Processor time, of the command and all that it started."""
    tail: str
    """The last lines of what it printed, and where all of it is, for messages."""


@dataclass(frozen=True, slots=True)
class RunCommand:
    """A command line of the user's, run in the tree with a binary put in its place."""

    text: str
    cwd: Path
    place: Path
    """Where the command looks for the binary."""
    expected: int = 0
    """The exit status with the project's own build, which every other build has to give."""

    def has_failed(self, outcome: RunOutcome) -> bool:
        """Return whether a run did not end as with the project's own build."""
        return outcome.status != self.expected

    def run(self, binary: Path, *, log: Path | None = None) -> RunOutcome:
        """Return one run with `binary`; the file `log` takes what it prints."""
        put(binary, self.place)
        return _run(self.text, self.cwd, log=log)

    def alternate(self, binaries: Sequence[Path], rounds: int) -> list[list[float]]:
        """Return the processor seconds of each binary, one after the other in every round.

        A run that fails takes infinitely long, because a crash is never fast.
        """
        times: list[list[float]] = [[] for _ in binaries]
        for _ in range(rounds):
            for binary, found in zip(binaries, times, strict=True):
                outcome = self.run(binary)
                found.append(math.inf if self.has_failed(outcome) else outcome.seconds)
        return times


def run_check(
    text: str,
    cwd: Path,
    *,
    log: Path | None = None,
    poll: Callable[[], None] = lambda: None,
    wrap: Callable[[Sequence[str]], Sequence[str]] = lambda words: words,
    seconds: float = _SECONDS,
) -> RunOutcome:
    """Return one run of a command that tests the build in `cwd`; it fails after `seconds`.

    The file `log` takes what it prints. `poll` is called now and then, and may raise: then the
    command is ended. `wrap` makes the command that is run of that of the shell.
    """
    try:
        return _run(text, cwd, poll, wrap, log=log, seconds=seconds)
    except _LimitError as error:
        return RunOutcome(_LIMIT_PASSED, "", seconds, str(error))


def put(binary: Path, place: Path) -> None:
    """Put a copy of `binary` at `place`, whole, newer than what it was made of."""
    partial = place.with_name(f".{place.name}.partial")
    try:
        partial.unlink(missing_ok=True)  # a copy would be written through a link
        shutil.copy(binary, partial)
        partial.chmod(0o755)
        partial.replace(place)
    except OSError as error:
        partial.unlink(missing_ok=True)
        raise ProjectError(f"cannot put a binary at {place}: {error.strerror}") from error


def _run(
    text: str,
    cwd: Path,
    poll: Callable[[], None] = lambda: None,
    wrap: Callable[[Sequence[str]], Sequence[str]] = lambda words: words,
    *,
    log: Path | None = None,
    seconds: float = _SECONDS,
) -> RunOutcome:
    digest, printed = hashlib.sha256(), Printed(_SHOWN)
    if log is not None:
        log.unlink(missing_ok=True)  # it may be a link, which would be written through
    kept = None if log is None else log.open("xb")

    def take_errors(part: bytes) -> None:
        printed.add(part)
        if printed.count > _MOST_PRINTED:
            raise _LimitError(
                f"{shlex.quote(text)} printed more than {_MOST_PRINTED >> 20:,} MiB: let it print "
                "less"
            )
        if kept is not None and printed.count <= _MOST_LOGGED:
            kept.write(part)

    def take(part: bytes) -> None:
        digest.update(part)
        take_errors(part)

    # A Ctrl-C is for the tuning: a test that it ends has not failed.
    try:
        ended = run_in_own_session(
            wrap(["/bin/sh", "-c", text]), cwd=cwd,
            environment=build_variables() | {"PWD": str(cwd)}, takes=take,
            takes_errors=take_errors, seconds=seconds, poll=poll,
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        raise _LimitError(
            f"no end within {seconds:g} s: {shlex.quote(text)}: give a shorter command"
        ) from None
    except OSError as error:
        raise ProjectError(f"cannot run {shlex.quote(text)}: {error.strerror}") from error
    finally:
        if kept is not None:
            kept.close()
    told = [printed.last_lines(), "" if log is None else f"The whole output is in {log}"]
    return RunOutcome(
        ended.status, digest.hexdigest(), ended.cpu_seconds, "\n".join(filter(None, told))
    )

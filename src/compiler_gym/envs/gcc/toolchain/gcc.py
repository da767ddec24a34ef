# SPDX-License-Identifier: MIT
"""One GCC: a name on PATH, a path, or a Docker image; how to run it and who it is.

Nothing is run before it is asked for. What the compiler compiles, and with which
options, is the business of others.
"""

import hashlib
import os
import re
import resource
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Protocol

from compiler_gym.errors import EnvironmentNotSupported, ServiceError
from compiler_gym.files import hash_file
from compiler_gym.registration import ExternalTool
from compiler_gym.service import run_child

__all__ = ["DEFAULT_GCC", "Gcc", "Runner", "read_first_lines"]

DEFAULT_GCC = "gcc"
"""What is used where no compiler is named: the first ``gcc`` on PATH."""

OLDEST = 5
"""The oldest major version whose options are understood."""

_QUERY_SECONDS = 30.0
_MOST_ANSWERED = 16 << 20
_VERSION = re.compile(r"\s(\d+)\.(\d+)(?:\.(\d+))?")
_FOREIGN_VARIABLES = (
    *("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "COMPILER_PATH", "LIBRARY_PATH"),
    *("GCC_EXEC_PREFIX", "GCC_COMPARE_DEBUG", "DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES"),
)
"""Variables that would make a result depend on the shell it was computed in."""

Completed = subprocess.CompletedProcess[bytes]


class Runner(Protocol):
    """Runs the programs of one installation of GCC."""

    def __call__(
        self,
        words: Sequence[str],
        *,
        timeout: float,
        cwd: Path | None = None,
        setup: Callable[[], None] | None = None,
    ) -> Completed:
        """Run `words` in `cwd`; raise `subprocess.TimeoutExpired` after `timeout` seconds."""
        ...

    def identity(self) -> str:
        """Return a text that changes when the compiler is replaced."""
        ...


class Gcc:
    """A GCC by its name.

    >>> Gcc("gcc-12").bin
    'gcc-12'
    """

    def __init__(self, bin: str | Path = DEFAULT_GCC, *, is_boxed: bool = False) -> None:
        self.bin = str(bin)
        """A name on PATH, a path, or ``docker:`` and the name of an image."""
        self.is_boxed = is_boxed
        """True if it compiles in a sandbox, as it does for programs that somebody else wrote.

        A source, or its inline assembly, may read any file that the compiler can."""
        self._runner: Runner | None = None

    def __call__(self, *args: str, timeout: float = _QUERY_SECONDS, cwd: Path | None = None) -> str:
        """Return what the compiler prints for `args`.

        Raises `TimeoutError` when it takes longer than `timeout` seconds and
        `ServiceError` when it fails.
        """
        try:
            done = self.run(args, timeout=timeout, cwd=cwd)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"{self.bin} did not finish within {timeout:g} s") from None
        if done.returncode:
            raise ServiceError(f"{self.bin} {' '.join(args)} failed: {read_first_lines(done)}")
        return done.stdout.decode(errors="replace")

    def run(
        self,
        args: Sequence[str],
        *,
        timeout: float,
        cwd: Path | None = None,
        setup: Callable[[], None] | None = None,
    ) -> Completed:
        """Run the compiler with `args` and return how that ended.

        Raises `subprocess.TimeoutExpired`, and `EnvironmentNotSupported` if there
        is no such compiler. `setup` runs in the child of a local compiler.
        """
        runner = self.runner()
        name = "gcc" if self.is_docker else str(self.path())
        return runner([name, *args], timeout=timeout, cwd=cwd, setup=setup)

    @property
    def is_docker(self) -> bool:
        """True if the compiler lives in a Docker image."""
        return self.bin.startswith("docker:")

    @property
    def program(self) -> str:
        """How a command line spells the compiler."""
        return "gcc" if self.is_docker else self.bin

    def path(self) -> Path:
        """Return where the compiler is; raise `EnvironmentNotSupported` if it is nowhere."""
        found = shutil.which(os.path.expanduser(self.bin)) if self.bin else None
        if found is not None:
            return Path(found).absolute()
        if self.bin and os.path.exists(os.path.expanduser(self.bin)):
            raise EnvironmentNotSupported(
                f"gcc_bin is {self.bin!r}, which is no program that may be executed"
            )
        raise EnvironmentNotSupported(
            f"expected GCC as {self.bin!r}, found no such program: install it with "
            "`apt install gcc`, or name another with gcc_bin=..., for example 'gcc-12', "
            "'/usr/bin/gcc' or 'docker:gcc:12'"
        )

    def runner(self) -> Runner:
        """Return what runs the compiler's programs, made on first use."""
        if self._runner is None:
            self._runner = self._make_runner()
        return self._runner

    def version_text(self) -> str:
        """Return the first line of ``--version``; raise `EnvironmentNotSupported` if it is no GCC.

        The reason is in the error: missing, failing, too old, or clang in disguise.
        """
        text = self.ask("--version")
        first = text.splitlines()[0].strip() if text.strip() else ""
        if "clang" in text.lower():
            raise EnvironmentNotSupported(
                f"{self.bin} is clang under another name ({first!r}): name a GCC with gcc_bin=..."
            )
        if "Free Software Foundation" not in text:
            raise EnvironmentNotSupported(f"{self.bin} is no GCC: its --version is {first!r}")
        major = major_version(first)
        if major is None or major < OLDEST:
            raise EnvironmentNotSupported(
                f"{self.bin} is {first!r}: expected GCC {OLDEST} or newer"
            )
        return first

    def identity(self) -> str:
        """Return 32 hexadecimal digits that change when the compiler is replaced."""
        # Without its first word, which is only the name it was called by.
        facts = (self.version_text().partition(" ")[2], self.runner().identity())
        return hashlib.sha256("\0".join(facts).encode()).hexdigest()[:32]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Gcc) and self.bin == other.bin

    def __hash__(self) -> int:
        return hash(self.bin)

    def __repr__(self) -> str:
        return f"Gcc({self.bin!r})"

    def answer(self, *args: str) -> Completed:
        """Return how the compiler, of which nothing is known yet, answers `args`.

        Raises `EnvironmentNotSupported` when it cannot be run, takes too long or
        prints without end. That it fails is for the caller to judge.
        """
        asked = f"{self.bin} {' '.join(args[:2])}"
        try:
            done = self._run_bounded(args)
        except subprocess.TimeoutExpired:
            raise EnvironmentNotSupported(
                f"{asked} does not answer within {_QUERY_SECONDS:g} s"
            ) from None
        except OSError as error:
            if isinstance(error, EnvironmentNotSupported):
                raise
            raise EnvironmentNotSupported(f"{self.bin} cannot be run: {error}") from error
        if max(len(done.stdout), len(done.stderr)) >= _MOST_ANSWERED:
            raise EnvironmentNotSupported(
                f"{asked} prints more than {_MOST_ANSWERED >> 20} MiB: expected what GCC prints"
            )
        return done

    def _run_bounded(self, args: Sequence[str]) -> Completed:
        """Run the compiler with output to files: what prints for ever fills no memory."""
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:

            def redirect() -> None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (_MOST_ANSWERED, _MOST_ANSWERED))
                os.dup2(output.fileno(), 1)
                os.dup2(errors.fileno(), 2)

            done = self.run(args, timeout=_QUERY_SECONDS, setup=redirect)
            printed, said = (_read_rest(file) for file in (output, errors))
        # A Docker image is no child of this process, so its output comes as it is.
        return Completed(args, done.returncode, printed or done.stdout, said or done.stderr)

    def ask(self, *args: str) -> str:
        """Return what the compiler, of which nothing is known yet, prints for `args`.

        Raises `EnvironmentNotSupported` when it fails, as `answer` does when it cannot be run.
        """
        done = self.answer(*args)
        if done.returncode:
            raise EnvironmentNotSupported(
                f"{self.bin} {' '.join(args)} ends with status {done.returncode}: "
                f"{read_first_lines(done)}"
            )
        return done.stdout.decode(errors="replace")

    def _make_runner(self) -> Runner:
        if not self.is_docker:
            return _Local(self)
        from compiler_gym.envs.gcc.toolchain.docker import DockerRunner

        return DockerRunner(self.bin.removeprefix("docker:"))


@dataclass(frozen=True, slots=True)
class _Local:
    """Runs programs of this machine, which end with this process."""

    gcc: Gcc

    def __call__(
        self,
        words: Sequence[str],
        *,
        timeout: float,
        cwd: Path | None = None,
        setup: Callable[[], None] | None = None,
    ) -> Completed:
        def prepare() -> None:
            _clean_environment()
            if setup is not None:
                setup()

        return run_child(words, timeout=timeout, cwd=cwd, setup=prepare)

    def identity(self) -> str:
        """Return what the driver holds and which compiler proper it calls."""
        driver = self.gcc.path().resolve()
        named = self.gcc.ask("-print-prog-name=cc1").strip()
        facts = [hash_file(driver)]
        if os.path.isabs(named):
            try:
                proper = os.stat(named)
            except OSError as error:
                raise EnvironmentNotSupported(
                    f"{self.gcc.bin} compiles with {named}, which is missing: install it whole"
                ) from error
            facts += [os.path.realpath(named), str(proper.st_size), str(proper.st_mtime_ns)]
        return "\0".join(facts)


def usual_version() -> str:
    """Return the version of the GCC that is used where none is named."""
    return Gcc().version_text()


def external_tools() -> list[ExternalTool]:
    """Return the GCC that is used where none is named."""
    path = shutil.which(DEFAULT_GCC)
    version, problem = "", ""
    if path is not None:
        try:
            version = usual_version().rpartition(" ")[2]
        except (ServiceError, TimeoutError) as error:
            problem = str(error)
    enables = "gcc-v0, and tune --compiler gcc"
    return [ExternalTool(DEFAULT_GCC, enables, "gcc", path, version, problem)]


def major_version(first_line: str) -> int | None:
    """Return the major version in the first line of ``--version``.

    >>> major_version("gcc (Debian 12.2.0-14+deb12u1) 12.2.0")
    12
    """
    outside = re.sub(r"\([^()]*\)", " ", first_line)
    match = _VERSION.search(outside) or _VERSION.search(first_line)
    return int(match[1]) if match else None


def _clean_environment() -> None:
    for name in _FOREIGN_VARIABLES:
        os.environ.pop(name, None)
    # Messages in English, help on one line, and no time of day in a program.
    os.environ.update(LC_ALL="C", LANGUAGE="C", COLUMNS="4096", SOURCE_DATE_EPOCH="0")


def _read_rest(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


def read_first_lines(done: Completed) -> str:
    """Return the first lines of what a compiler said when it failed."""
    words = done.stderr.decode(errors="replace").strip().splitlines()
    return "\n".join(words[:5]) or "it printed nothing"

# SPDX-License-Identifier: MIT
"""One GCC, given as a name on PATH, a path or a Docker image: running and identifying it.

Nothing is run before it is needed. The programs and options are chosen elsewhere.
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
"""The default compiler: the first ``gcc`` on PATH."""

OLDEST = 5
"""The oldest supported major version."""

_QUERY_SECONDS = 30.0
_MOST_ANSWERED = 16 << 20
_VERSION = re.compile(r"\s(\d+)\.(\d+)(?:\.(\d+))?")
_FOREIGN_VARIABLES = (
    *("CPATH", "C_INCLUDE_PATH", "CPLUS_INCLUDE_PATH", "COMPILER_PATH", "LIBRARY_PATH"),
    *("GCC_EXEC_PREFIX", "GCC_COMPARE_DEBUG", "DEPENDENCIES_OUTPUT", "SUNPRO_DEPENDENCIES"),
)
"""Environment variables that would make results depend on the user's shell."""

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
    """A GCC, identified by its name.

    >>> Gcc("gcc-12").bin
    'gcc-12'
    """

    def __init__(self, bin: str | Path = DEFAULT_GCC, *, is_boxed: bool = False) -> None:
        self.bin = str(bin)
        """A name on PATH, a path, or ``docker:`` and the name of an image."""
        self.is_boxed = is_boxed
        """True if it compiles in a sandbox, which is used for programs that are not the user's.

        A source or its inline assembly could otherwise read any file that the compiler can read."""
        self._runner: Runner | None = None

    def __call__(self, *args: str, timeout: float = _QUERY_SECONDS, cwd: Path | None = None) -> str:
        """Return the compiler's output for `args`.

        Raises `TimeoutError` if it takes longer than `timeout` seconds, and `ServiceError` if it
        fails.
        """
        try:
            result = self.run(args, timeout=timeout, cwd=cwd)
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"{self.bin} did not finish within {timeout:g} s") from None
        if result.returncode:
            raise ServiceError(f"{self.bin} {' '.join(args)} failed: {read_first_lines(result)}")
        return result.stdout.decode(errors="replace")

    def run(
        self,
        args: Sequence[str],
        *,
        timeout: float,
        cwd: Path | None = None,
        setup: Callable[[], None] | None = None,
    ) -> Completed:
        """Run the compiler with `args` and return the completed process.

        Raises `subprocess.TimeoutExpired`, and `EnvironmentNotSupported` if there is no such
        compiler. `setup` runs in the child process of a local compiler.
        """
        runner = self.runner()
        name = "gcc" if self.is_docker else str(self.path())
        return runner([name, *args], timeout=timeout, cwd=cwd, setup=setup)

    @property
    def is_docker(self) -> bool:
        """True if the compiler is in a Docker image."""
        return self.bin.startswith("docker:")

    @property
    def program(self) -> str:
        """The compiler's name in command lines."""
        return "gcc" if self.is_docker else self.bin

    def path(self) -> Path:
        """Return the compiler's path; raise `EnvironmentNotSupported` if it does not exist."""
        location = shutil.which(os.path.expanduser(self.bin)) if self.bin else None
        if location is not None:
            return Path(location).absolute()
        if self.bin and os.path.exists(os.path.expanduser(self.bin)):
            raise EnvironmentNotSupported(
                f"gcc_bin is {self.bin!r}, which is not an executable program"
            )
        raise EnvironmentNotSupported(
            f"GCC not found: {self.bin!r} is not a program; install it with `apt install gcc`, or "
            "name another one with gcc_bin=..., for example 'gcc-12', '/usr/bin/gcc' or "
            "'docker:gcc:12'"
        )

    def runner(self) -> Runner:
        """Return the runner of the compiler's programs, created on first use."""
        if self._runner is None:
            self._runner = self._make_runner()
        return self._runner

    def version_text(self) -> str:
        """Return the first line of ``--version``; raise `EnvironmentNotSupported` if it is not GCC.

        The error contains the reason: missing, failing, too old, or clang under another name.
        """
        text = self.ask("--version")
        first = text.splitlines()[0].strip() if text.strip() else ""
        if "clang" in text.lower():
            raise EnvironmentNotSupported(
                f"{self.bin} is clang under another name ({first!r}); name a GCC with gcc_bin=..."
            )
        if "Free Software Foundation" not in text:
            raise EnvironmentNotSupported(f"{self.bin} is not GCC: its --version is {first!r}")
        major = major_version(first)
        if major is None or major < OLDEST:
            raise EnvironmentNotSupported(
                f"{self.bin} is {first!r}, but GCC {OLDEST} or newer is needed"
            )
        return first

    def identity(self) -> str:
        """Return 32 hexadecimal digits that change when the compiler is replaced."""
        # Drop the first word, which is only the name used to call it.
        facts = (self.version_text().partition(" ")[2], self.runner().identity())
        return hashlib.sha256("\0".join(facts).encode()).hexdigest()[:32]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Gcc) and self.bin == other.bin

    def __hash__(self) -> int:
        return hash(self.bin)

    def __repr__(self) -> str:
        return f"Gcc({self.bin!r})"

    def answer(self, *args: str) -> Completed:
        """Return the completed run of a compiler that may not be GCC at all.

        Raises `EnvironmentNotSupported` if it cannot be run, takes too long or prints too much.
        The caller must check the exit status.
        """
        command = f"{self.bin} {' '.join(args[:2])}"
        try:
            result = self._run_bounded(args)
        except subprocess.TimeoutExpired:
            raise EnvironmentNotSupported(
                f"{command} did not finish within {_QUERY_SECONDS:g} s"
            ) from None
        except OSError as error:
            if isinstance(error, EnvironmentNotSupported):
                raise
            raise EnvironmentNotSupported(f"cannot run {self.bin}: {error}") from error
        if max(len(result.stdout), len(result.stderr)) >= _MOST_ANSWERED:
            raise EnvironmentNotSupported(
                f"{command} prints more than {_MOST_ANSWERED >> 20} MiB, so it cannot be GCC"
            )
        return result

    def _run_bounded(self, args: Sequence[str]) -> Completed:
        """Run the compiler with its output in size-limited files, to protect memory."""
        with tempfile.TemporaryFile() as output, tempfile.TemporaryFile() as errors:

            def redirect() -> None:
                resource.setrlimit(resource.RLIMIT_FSIZE, (_MOST_ANSWERED, _MOST_ANSWERED))
                os.dup2(output.fileno(), 1)
                os.dup2(errors.fileno(), 2)

            result = self.run(args, timeout=_QUERY_SECONDS, setup=redirect)
            stdout, stderr = (_read_rest(file) for file in (output, errors))
        # A container is not a child of this process, so its output is not in the files.
        return Completed(args, result.returncode, stdout or result.stdout, stderr or result.stderr)

    def ask(self, *args: str) -> str:
        """Return the output of a compiler that may not be GCC at all.

        Raises `EnvironmentNotSupported` if it fails, and in the cases of `answer`.
        """
        result = self.answer(*args)
        if result.returncode:
            raise EnvironmentNotSupported(
                f"{self.bin} {' '.join(args)} exited with status {result.returncode}: "
                f"{read_first_lines(result)}"
            )
        return result.stdout.decode(errors="replace")

    def _make_runner(self) -> Runner:
        if not self.is_docker:
            return _Local(self)
        from compiler_gym_gcc.toolchain.docker import DockerRunner

        return DockerRunner(self.bin.removeprefix("docker:"))


@dataclass(frozen=True, slots=True)
class _Local:
    """Runs programs on this machine; they end with this process."""

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
        """Return the hash of the driver and the identity of the compiler proper (cc1)."""
        driver = self.gcc.path().resolve()
        cc1 = self.gcc.ask("-print-prog-name=cc1").strip()
        facts = [hash_file(driver)]
        if os.path.isabs(cc1):
            try:
                stat = os.stat(cc1)
            except OSError as error:
                raise EnvironmentNotSupported(
                    f"{self.gcc.bin} needs {cc1}, which is missing; reinstall the compiler"
                ) from error
            facts += [os.path.realpath(cc1), str(stat.st_size), str(stat.st_mtime_ns)]
        return "\0".join(facts)


def usual_version() -> str:
    """Return the version of the default GCC."""
    return Gcc().version_text()


def external_tools() -> list[ExternalTool]:
    """Return the default GCC as a tool."""
    path = shutil.which(DEFAULT_GCC)
    version, problem = "", ""
    if path is not None:
        try:
            version = usual_version().rpartition(" ")[2]
        except (ServiceError, TimeoutError) as error:
            problem = str(error)
    enables = "gcc-v0"
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
    # Messages in English, help on one line, and a fixed time of day in programs.
    os.environ.update(LC_ALL="C", LANGUAGE="C", COLUMNS="4096", SOURCE_DATE_EPOCH="0")


def _read_rest(file: IO[bytes]) -> bytes:
    file.seek(0)
    return file.read()


def read_first_lines(done: Completed) -> str:
    """Return the first lines of a compiler's error output."""
    lines = done.stderr.decode(errors="replace").strip().splitlines()
    return "\n".join(lines[:5]) or "it printed nothing"

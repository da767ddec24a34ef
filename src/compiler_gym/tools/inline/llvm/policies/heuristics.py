# SPDX-License-Identifier: MIT
"""A function in C, or in a shared object of any language, as a policy of the inliner.

It is somebody else's code: it is compiled and run in the sandbox, in a process of its own for
each compilation. What goes wrong there is a `PolicyError`, and never ends this process.
"""

import os
import select
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from compiler_gym.envs.llvm.toolchain import clang_command
from compiler_gym.errors import (
    PolicyCrashedError,
    PolicyError,
    PolicyLoadError,
    PolicyTimeoutError,
)
from compiler_gym.files import KeptDirectory, scratch_directory
from compiler_gym.sandbox import RunLimits, Workplace, choose_tier, run_boxed, run_tool_boxed
from compiler_gym.tools.inline.llvm.observations import INLINE_FEATURES
from compiler_gym.tools.inline.llvm.policies.deciding import FeaturePolicy

__all__ = ["SUFFIXES", "Heuristic", "heuristic_policy", "interface_text"]

SUFFIXES = (".c", ".so")
"""What the names of heuristics' files end with."""

_HERE = "compiler_gym.tools.inline.llvm.policies"
_SECONDS = 1
"""That one decision may take; a decision of LLVM's takes microseconds."""
_SLACK = 10.0
"""Seconds beyond that, after which a process is ended that does not end itself."""
_COMPILATION_SECONDS = 3600.0
_COMPILING_SECONDS = 60.0
_MOST_QUOTED = 1000
_ANSWER = 8


def interface_text() -> str:
    """Return the text of ``inline_call.h``: what a heuristic is given, and what it has to be."""
    fields = "\n".join(f"  int64_t {name};" for name in INLINE_FEATURES)
    return f"""\
// What LLVM knows of a call that its inliner decides about, in its order; the last is what it
// would decide itself: 1 to inline the call, 0 to leave it.
#ifndef INLINE_CALL_H
#define INLINE_CALL_H
#define INLINE_CALL_SECONDS {_SECONDS}
#include <stdint.h>

#ifdef __cplusplus
extern "C" {{
#endif

struct inline_call {{
{fields}
}};

int should_inline(const struct inline_call* call);

#ifdef __cplusplus
}}
#endif
#endif
"""


class Heuristic:
    """A program that answers with the function ``should_inline`` of a file.

    Args:
        path: A source in C, which may include ``inline_call.h``, or a shared object.
        defines: Macros of the preprocessor, for a source.

    Raises:
        PolicyLoadError: It cannot be read or compiled, or has no such function.
        BenchmarkInitError: No clang is installed.
        SandboxError: This machine cannot make the sandbox that was asked for.
    """

    def __init__(self, path: Path, defines: Mapping[str, str] | None = None) -> None:
        if path.suffix not in SUFFIXES:
            raise PolicyLoadError(
                f"{path} is no heuristic: expected a name that ends with {' or '.join(SUFFIXES)}"
            )
        self.path = path
        self._kept = KeptDirectory("heuristic")
        self._compile(self._kept.path, dict(defines or {}))

    @contextmanager
    def begin(self) -> Generator[Any]:
        """Start the program, and yield what decides until the end of one compilation."""
        folder = self._kept.path
        process = _Process(folder / "heuristic", folder / "given.so")
        try:
            yield process.decide
        finally:
            process.close()

    def _compile(self, folder: Path, defines: Mapping[str, str]) -> None:
        given = folder / f"given{self.path.suffix}"
        try:
            shutil.copyfile(self.path, given)
        except OSError as error:
            raise PolicyLoadError(f"cannot read {self.path}: {error.strerror}") from error
        given.chmod(0o755)
        (folder / "inline_call.h").write_text(interface_text())
        (folder / "runner.c").write_bytes(files(_HERE).joinpath("runner.c").read_bytes())
        macros = [f"-D{name}={value}" for name, value in defines.items()]
        rule = [given.name] if given.suffix == ".c" else [f'-DINLINE_CALL_LIBRARY="{given}"']
        command = [*clang_command(), "-O2", *macros, "runner.c", *rule, "-o", "heuristic", "-lm"]
        try:
            done = run_tool_boxed(command, folder=folder, seconds=_COMPILING_SECONDS)
        except subprocess.TimeoutExpired:
            raise PolicyLoadError(
                f"{self.path} cannot be compiled: that takes more than {_COMPILING_SECONDS:g} s"
            ) from None
        if done.returncode:
            errors = done.stderr.decode(errors="replace")
            raise self._refusal(errors or f"clang printed nothing; status {done.returncode}")
        if given.suffix == ".so":
            folder.chmod(0o711)  # in the sandbox ``limits`` another user opens it
            self._try_to_load(given)

    def _try_to_load(self, library: Path) -> None:
        process = _Process(library.with_name("heuristic"), library)
        process.close()
        if (why := process.failure()) is not None:
            raise self._refusal(str(why))

    def _refusal(self, said: str) -> PolicyLoadError:
        return PolicyLoadError(
            f"{self.path} is no heuristic: expected a function "
            f"int should_inline(const struct inline_call*), found\n{said.strip()[-_MOST_QUOTED:]}"
        )


def heuristic_policy(path: Path, defines: Mapping[str, str] | None = None) -> FeaturePolicy:
    """Return the policy that the file `path` is; raise what `Heuristic` does."""
    return FeaturePolicy(Heuristic(path, defines).begin)


class _Process:
    """One run of the program: questions go in and answers come out until it is closed."""

    def __init__(self, program: Path, library: Path) -> None:
        self._program = program
        self._libraries = [library] if library.exists() else []
        self._tier = choose_tier()
        reads, self._asks = os.pipe()
        self._answers, writes = os.pipe()
        self._stopped, self._stop = os.pipe()
        self._theirs = (reads, writes)
        self._ended: object = None
        self._said = b""
        self._thread = threading.Thread(target=self._run, name="heuristic", daemon=True)
        self._thread.start()

    def decide(self, features: NDArray[np.int64]) -> int:
        """Return what the function says about a call."""
        answer = b""
        try:
            os.write(self._asks, features.astype(np.int64).tobytes())
            while len(answer) < _ANSWER:
                answer += self._part(_ANSWER - len(answer))
        except BrokenPipeError:
            raise self._end() from None
        return int.from_bytes(answer, "little", signed=True)

    def close(self) -> None:
        """End the program, which has nothing to read any more; a second time does nothing."""
        if self._stop < 0:
            return
        os.close(self._asks)
        self._thread.join(_SLACK)
        os.write(self._stop, b"x")
        self._thread.join()
        for descriptor in (self._answers, self._stopped, self._stop):
            os.close(descriptor)
        self._stop = -1

    def _part(self, size: int) -> bytes:
        if not select.select([self._answers], [], [], _SECONDS + _SLACK)[0]:
            os.write(self._stop, b"x")
            raise _took_too_long()
        part = os.read(self._answers, size)
        if not part:
            raise self._end()
        return part

    def _end(self) -> PolicyError:
        self._thread.join()
        return self.failure() or PolicyCrashedError("the heuristic ended with status 0")

    def failure(self) -> PolicyError | None:
        """Return why the program ended, unless because it had nothing to read any more."""
        if isinstance(self._ended, BaseException):
            return PolicyCrashedError(f"the heuristic cannot be run: {self._ended}")
        said = self._said.decode(errors="replace").strip()
        ended: Any = self._ended
        if ended.exit_status == -signal.SIGALRM or ended.stopped_by == "time":
            return _took_too_long()
        if ended.exit_status == 0:
            return None
        how = (
            f"by signal {signal.Signals(-ended.exit_status).name}"
            if ended.exit_status < 0
            else f"with status {ended.exit_status}"
        )
        limit = f", beyond its limit of {ended.stopped_by}" if ended.stopped_by else ""
        return PolicyCrashedError(f"the heuristic ended {how}{limit}{': ' if said else ''}{said}")

    def _run(self) -> None:
        with tempfile.TemporaryFile() as errors, scratch_directory("heuristic-run") as folder:
            try:
                self._ended = run_boxed(
                    [str(self._program)],
                    Workplace(Path(folder), visible=[self._program, *self._libraries]),
                    sandbox=self._tier,
                    limits=RunLimits(_COMPILATION_SECONDS),
                    environment={},
                    streams=(*self._theirs, errors.fileno()),
                    stop=self._stopped,
                )
            except BaseException as error:  # told to the thread that asks
                self._ended = error
            finally:
                for descriptor in self._theirs:
                    os.close(descriptor)
            errors.seek(0)
            self._said = errors.read()[-_MOST_QUOTED:]


def _took_too_long() -> PolicyTimeoutError:
    return PolicyTimeoutError(
        f"the heuristic took more than {_SECONDS} s for one decision: expected microseconds, as "
        "LLVM's own takes"
    )

# SPDX-License-Identifier: MIT
"""Inlining policies from a C function, or from a shared object in any language.

The code is untrusted, so it is compiled and run in the sandbox, in a separate process for each
compilation. Failures there raise `PolicyError` and never end this process.
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
from compiler_gym_inline.llvm.observations import INLINE_FEATURES
from compiler_gym_inline.llvm.policies.deciding import FeaturePolicy

__all__ = ["SUFFIXES", "Heuristic", "heuristic_policy", "interface_text"]

SUFFIXES = (".c", ".so")
"""The suffixes of heuristic files."""

_HERE = "compiler_gym_inline.llvm.policies"
_SECONDS = 1
"""Time limit for one decision; LLVM's own decisions take microseconds."""
_SLACK = 10.0
"""Additional seconds after which a process is killed if it does not end itself."""
_COMPILATION_SECONDS = 3600.0
_COMPILING_SECONDS = 60.0
_MOST_QUOTED = 1000
_ANSWER = 8


def interface_text() -> str:
    """Return the text of ``inline_call.h``: the input and the signature of a heuristic."""
    fields = "\n".join(f"  int64_t {name};" for name in INLINE_FEATURES)
    return f"""\
// LLVM's features of a call, in its own order; the last is the decision that LLVM itself would
// make: 1 to inline the call, 0 otherwise.
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
    """A program that decides with the function ``should_inline`` of a file.

    Args:
        path: A C source file, which may include ``inline_call.h``, or a shared object.
        defines: Preprocessor macros for a source file.

    Raises:
        PolicyLoadError: The file cannot be read or compiled, or has no such function.
        BenchmarkInitError: clang is not installed.
        SandboxError: This machine does not support the requested sandbox.
    """

    def __init__(self, path: Path, defines: Mapping[str, str] | None = None) -> None:
        if path.suffix not in SUFFIXES:
            raise PolicyLoadError(
                f"{path} is not a heuristic; its name must end with {' or '.join(SUFFIXES)}"
            )
        self.path = path
        self._directory = KeptDirectory("heuristic")
        self._compile(self._directory.path, dict(defines or {}))

    @contextmanager
    def begin(self) -> Generator[Any]:
        """Start the program for one compilation, and yield its decision function."""
        folder = self._directory.path
        process = _Process(folder / "heuristic", folder / "given.so")
        try:
            yield process.decide
        finally:
            process.close()

    def _compile(self, folder: Path, defines: Mapping[str, str]) -> None:
        source = folder / f"given{self.path.suffix}"
        try:
            shutil.copyfile(self.path, source)
        except OSError as error:
            raise PolicyLoadError(f"cannot read {self.path}: {error.strerror}") from error
        source.chmod(0o755)
        (folder / "inline_call.h").write_text(interface_text())
        (folder / "runner.c").write_bytes(files(_HERE).joinpath("runner.c").read_bytes())
        macros = [f"-D{name}={value}" for name, value in defines.items()]
        inputs = [source.name] if source.suffix == ".c" else [f'-DINLINE_CALL_LIBRARY="{source}"']
        command = [*clang_command(), "-O2", *macros, "runner.c", *inputs, "-o", "heuristic", "-lm"]
        try:
            result = run_tool_boxed(command, folder=folder, seconds=_COMPILING_SECONDS)
        except subprocess.TimeoutExpired:
            raise PolicyLoadError(
                f"compiling {self.path} takes more than {_COMPILING_SECONDS:g} s; simplify it"
            ) from None
        if result.returncode:
            errors = result.stderr.decode(errors="replace")
            raise self._make_refusal(errors or f"clang printed nothing; status {result.returncode}")
        if source.suffix == ".so":
            folder.chmod(0o711)  # in the sandbox ``limits`` another user opens it
            self._try_to_load(source)

    def _try_to_load(self, library: Path) -> None:
        process = _Process(library.with_name("heuristic"), library)
        process.close()
        if (why := process.failure()) is not None:
            raise self._make_refusal(str(why))

    def _make_refusal(self, output: str) -> PolicyLoadError:
        return PolicyLoadError(
            f"{self.path} is not a heuristic with a function int should_inline(const struct "
            f"inline_call*):\n{output.strip()[-_MOST_QUOTED:]}"
        )


def heuristic_policy(path: Path, defines: Mapping[str, str] | None = None) -> FeaturePolicy:
    """Return the policy in the file `path`; raise like `Heuristic`."""
    return FeaturePolicy(Heuristic(path, defines).begin)


class _Process:
    """One run of the program, which answers questions over pipes until it is closed."""

    def __init__(self, program: Path, library: Path) -> None:
        self._program = program
        self._libraries = [library] if library.exists() else []
        self._tier = choose_tier()
        reads, self._asks = os.pipe()
        self._answers, writes = os.pipe()
        self._stopped, self._stop = os.pipe()
        self._ends = (reads, writes)
        self._outcome: object = None
        self._output = b""
        self._thread = threading.Thread(target=self._run, name="heuristic", daemon=True)
        self._thread.start()

    def decide(self, features: NDArray[np.int64]) -> int:
        """Return the function's answer for a call."""
        answer = b""
        try:
            os.write(self._asks, features.astype(np.int64).tobytes())
            while len(answer) < _ANSWER:
                answer += self._part(_ANSWER - len(answer))
        except BrokenPipeError:
            raise self._end() from None
        return int.from_bytes(answer, "little", signed=True)

    def close(self) -> None:
        """End the program by closing its input; a second call does nothing."""
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
            raise _make_timeout()
        part = os.read(self._answers, size)
        if not part:
            raise self._end()
        return part

    def _end(self) -> PolicyError:
        self._thread.join()
        return self.failure() or PolicyCrashedError("the heuristic ended with status 0")

    def failure(self) -> PolicyError | None:
        """Return the reason why the program failed, or None if it ended normally."""
        if isinstance(self._outcome, BaseException):
            return PolicyCrashedError(f"cannot run the heuristic: {self._outcome}")
        text = self._output.decode(errors="replace").strip()
        outcome: Any = self._outcome
        if outcome.exit_status == -signal.SIGALRM or outcome.stopped_by == "time":
            return _make_timeout()
        if outcome.exit_status == 0:
            return None
        how = (
            f"by signal {signal.Signals(-outcome.exit_status).name}"
            if outcome.exit_status < 0
            else f"with status {outcome.exit_status}"
        )
        limit = f", beyond its limit of {outcome.stopped_by}" if outcome.stopped_by else ""
        return PolicyCrashedError(f"the heuristic ended {how}{limit}{': ' if text else ''}{text}")

    def _run(self) -> None:
        with tempfile.TemporaryFile() as errors, scratch_directory("heuristic-run") as folder:
            try:
                self._outcome = run_boxed(
                    [str(self._program)],
                    Workplace(Path(folder), visible=[self._program, *self._libraries]),
                    sandbox=self._tier,
                    limits=RunLimits(_COMPILATION_SECONDS),
                    environment={},
                    streams=(*self._ends, errors.fileno()),
                    stop=self._stopped,
                )
            except BaseException as error:  # reported to the thread that asks
                self._outcome = error
            finally:
                for descriptor in self._ends:
                    os.close(descriptor)
            errors.seek(0)
            self._output = errors.read()[-_MOST_QUOTED:]


def _make_timeout() -> PolicyTimeoutError:
    return PolicyTimeoutError(
        f"the heuristic took more than {_SECONDS} s for one decision; LLVM's own decisions take "
        "microseconds"
    )

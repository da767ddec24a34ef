# SPDX-License-Identifier: MIT
"""A process for the GPU: CUDA contexts do not survive a fork, and environments are forked.

NVIDIA's driver also reserves far more address space than a worker may use. So a worker starts a
process with the driver when it first needs the GPU, and a fork of the worker starts its own.
"""

import os
import pickle
import resource
import subprocess
import sys
from collections.abc import Callable
from typing import Any, TypeVar

from compiler_gym.errors import CompilerGymError, SessionError
from compiler_gym.service import bind_to_parent

__all__ = ["call_on_card"]

T = TypeVar("T")


def call_on_card(function: Callable[..., T], *arguments: Any) -> T:
    """Call `function` of a module with `arguments` in the GPU process, and return its result.

    The function, its arguments and its result are pickled. Re-raises an error of this library;
    raises `SessionError` if the process ends instead of answering.
    """
    global _process
    if _process is not None and _process.owner != os.getpid():
        _process = _process.leave()
    if _process is None:
        _process = _CardProcess()
    try:
        return _process.call(function, arguments)
    except SessionError:
        # After a kernel reads a bad address, every later call in its context fails.
        _process.close()
        _process = None
        raise


class _CardProcess:
    """The GPU process of one worker, which ends with it."""

    def __init__(self) -> None:
        self.owner = owner = os.getpid()

        def prepare() -> None:
            bind_to_parent(owner)
            _, hard = resource.getrlimit(resource.RLIMIT_AS)
            resource.setrlimit(resource.RLIMIT_AS, (hard, hard))

        self._child = subprocess.Popen(
            [sys.executable, "-c", f"from {__name__} import serve; serve()"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            preexec_fn=prepare,
        )

    def call(self, function: Callable[..., T], arguments: tuple[Any, ...]) -> T:
        """Call `function` in the process and return its result."""
        assert self._child.stdin is not None
        assert self._child.stdout is not None
        try:
            pickle.dump((function, arguments), self._child.stdin, protocol=5)
            self._child.stdin.flush()
            result, error = pickle.load(self._child.stdout)
        except (OSError, EOFError, pickle.UnpicklingError) as broken:
            status = self.close()
            raise SessionError(
                f"the process that uses the GPU ended with status {status}"
            ) from broken
        if error is not None:
            raise error
        return result

    def leave(self) -> None:
        """Close this fork's ends of the pipes; the process keeps serving the original worker."""
        for pipe in (self._child.stdin, self._child.stdout):
            assert pipe is not None
            pipe.close()
        self._child.returncode = 0  # not a child of this process, so nothing to wait for

    def close(self) -> int:
        """End the process and return its exit status."""
        self._child.kill()
        self._child.communicate()
        return self._child.returncode


_process: _CardProcess | None = None


def serve() -> None:
    """Answer calls from standard input until it ends."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    while True:
        try:
            function, arguments = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        answer: tuple[Any, CompilerGymError | None]
        try:
            answer = function(*arguments), None
        except CompilerGymError as error:
            answer = None, error
        pickle.dump(answer, answers, protocol=5)
        answers.flush()

# SPDX-License-Identifier: MIT
"""Request verdicts from the judge's process, which starts on demand.

The caller is the trainer and is trusted. The agent's `Decisions` are not: with any content,
the result is a `Verdict`.
"""

import atexit
import json
import os
import secrets
import select
import shlex
import subprocess
import tempfile
import threading
import time
from functools import cache
from typing import Any, Self

from compiler_gym.errors import CompilerGymWarning, ServiceError, warn_of_the_caller
from compiler_gym.files import KeptDirectory
from compiler_gym_agents.judging.confinement import ENVIRONMENT, PROCESS, confine_judge, plain
from compiler_gym_agents.task import AgentTask, Decisions, Verdict

__all__ = ["Judge", "judge"]

_SECONDS = 300.0
_START_SECONDS = 120.0
_MOST_BYTES = 1 << 20
"""The maximum length of an answer, in bytes."""


class Judge:
    """A judge that stays warm: its process starts with the first request and ends with `close`.

    Thread-safe; requests run one at a time. A fork of this process starts its own judge.

    Args:
        seconds: The time limit of one verdict. Decisions that take longer are worth nothing.
    """

    def __init__(self, *, seconds: float = _SECONDS) -> None:
        self.seconds = seconds
        self.box = ""
        """The isolation of the process: ``namespaces``, or ``process`` if they are unavailable."""
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._home: KeptDirectory | None = None
        self._lock = threading.Lock()

    def __call__(self, task: AgentTask, decisions: Decisions) -> Verdict:
        """Return the verdict on `decisions` for `task`.

        Decisions never raise an error: if they cannot be replayed, or take too long, the reward is
        0. Raises `ServiceError` if the judge cannot be started, or this machine lacks a requirement
        of the task.
        """
        if not isinstance(decisions, Decisions):  # pyright: ignore[reportUnnecessaryIsInstance]  # an agent's
            return Verdict.refuse(task.id, f"a {type(decisions).__name__} is not Decisions")
        nonce = secrets.token_hex(16)
        request = {"nonce": nonce, "task": task.dict(), "decisions": decisions.dict()}
        with self._lock:
            try:
                line = self._ask((json.dumps(request) + "\n").encode())
            except BaseException:
                self._end()  # a late answer would be read as the next one
                raise
            try:
                answer: dict[str, Any] = json.loads(line)
                if answer["nonce"] != nonce:
                    raise ValueError("an answer to another request")
                if "trouble" in answer:
                    raise ServiceError(f"{task.id} cannot be judged here: {answer['trouble']}")
                fields: dict[str, Any] = {**answer["verdict"], "box": self.box}
                return Verdict(**fields)
            except (ValueError, KeyError, TypeError) as error:
                self._end()
                reason = "it took too long or crashed" if not line else f"invalid answer: {error}"
                return Verdict.refuse(task.id, f"the judge did not return a verdict: {reason}")

    def _ask(self, request: bytes) -> bytes:
        """Return the line that answers `request`; empty if there is none in time."""
        process = self._running()
        assert process.stdin is not None
        try:
            process.stdin.write(request)
            process.stdin.flush()
        except OSError:
            return b""
        return _next_line(process, self.seconds)

    def _running(self) -> "subprocess.Popen[bytes]":
        if self._process is not None and self._owner == os.getpid():
            if self._process.poll() is None:
                return self._process
            self._end()
        command, self.box = confine_judge()
        try:
            return self._start(command)
        except ServiceError as error:
            if self.box == PROCESS:
                raise
            self.box = PROCESS
            process = self._start(plain())
            warn_of_the_caller(
                f"the judge did not start in namespaces and runs as a plain process: {error}",
                CompilerGymWarning,
            )
            return process

    def _start(self, command: list[str]) -> "subprocess.Popen[bytes]":
        """Start the judge and return its process; raise `ServiceError` with its last line."""
        with tempfile.TemporaryFile() as errors:
            try:
                self._process = subprocess.Popen(
                    command,
                    stdin=subprocess.PIPE,
                    stdout=subprocess.PIPE,
                    stderr=errors,
                    env=self._variables(),
                    cwd="/",
                    start_new_session=True,
                )
            except OSError as error:
                raise ServiceError(f"cannot start the judge: {error}") from error
            self._owner = os.getpid()
            if _next_line(self._process, _START_SECONDS):
                return self._process
            status = self._process.poll()
            self._end()
            errors.seek(0)
            printed = errors.read().decode(errors="replace").strip().splitlines()
        reason = printed[-1] if printed else f"it printed nothing (status {status})"
        raise ServiceError(
            f"the judge does not start: {reason}; to see why, run `{shlex.join(command)}`"
        )

    def _variables(self) -> dict[str, str]:
        """Return the judge's variables. Its home is in memory, or else a new folder."""
        if self.box != PROCESS:
            return dict(ENVIRONMENT)
        self._home = KeptDirectory("judge")
        return {**ENVIRONMENT, "HOME": str(self._home.path), "TMPDIR": str(self._home.path)}

    def close(self) -> None:
        """End the process. The next request starts another."""
        with self._lock:
            self._end()

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout):
            if stream is not None:
                stream.close()
        self._home = None  # deletes its folder

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *args: object) -> None:
        self.close()


def _next_line(process: "subprocess.Popen[bytes]", seconds: float) -> bytes:
    """Return the next line of a process; empty if there is none in time."""
    assert process.stdout is not None
    deadline, line = time.monotonic() + seconds, b""
    while not line.endswith(b"\n") and len(line) < _MOST_BYTES:
        remaining = deadline - time.monotonic()
        if remaining <= 0 or not select.select([process.stdout], [], [], remaining)[0]:
            return b""
        part = os.read(process.stdout.fileno(), 1 << 16)
        if not part:
            return b""
        line += part
    return line


def judge(task: AgentTask, decisions: Decisions) -> Verdict:
    """Return the verdict on `decisions` for `task`, from a judge that this process keeps warm.

    See `Judge`.
    """
    return _share()(task, decisions)


@cache
def _share() -> Judge:
    shared = Judge()
    atexit.register(shared.close)
    return shared

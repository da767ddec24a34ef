# SPDX-License-Identifier: MIT
"""Asks the judge's process, and starts it when it is needed.

Whoever calls this is believed: it is the trainer. What an agent hands over is `Decisions`, and
whatever is in them, the answer is a `Verdict`.
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
from compiler_gym.tools.agents.judging.confinement import ENVIRONMENT, PROCESS, confine_judge, plain
from compiler_gym.tools.agents.task import AgentTask, Decisions, Verdict

__all__ = ["Judge", "judge"]

_SECONDS = 300.0
_START_SECONDS = 120.0
_MOST_BYTES = 1 << 20
"""The longest answer that is read."""


class Judge:
    """A judge that stays warm: its process starts with the first question and ends with `close`.

    Threads may share one; questions are answered one after the other. A process that was forked
    from its owner starts another.

    Args:
        seconds: The time that one verdict may take. Decisions that take longer are worth nothing.
    """

    def __init__(self, *, seconds: float = _SECONDS) -> None:
        self.seconds = seconds
        self.box = ""
        """What keeps the process apart: ``namespaces``, or ``process`` where there are none."""
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0
        self._home: KeptDirectory | None = None
        self._lock = threading.Lock()

    def __call__(self, task: AgentTask, decisions: Decisions) -> Verdict:
        """Return what `decisions` are worth for `task`.

        Nothing in them raises an error: what cannot be replayed, or takes too long, is worth 0.
        Raises `ServiceError` where the judge cannot be started, or this machine lacks what the
        task needs.
        """
        if not isinstance(decisions, Decisions):  # pyright: ignore[reportUnnecessaryIsInstance]  # an agent's
            return Verdict.refuse(task.id, f"a {type(decisions).__name__}: expected Decisions")
        nonce = secrets.token_hex(16)
        asked = {"nonce": nonce, "task": task.dict(), "decisions": decisions.dict()}
        with self._lock:
            try:
                line = self._ask((json.dumps(asked) + "\n").encode())
            except BaseException:
                self._end()  # an answer that nobody waits for would be the next one's
                raise
            try:
                answer: dict[str, Any] = json.loads(line)
                if answer["nonce"] != nonce:
                    raise ValueError("an answer to something else")
                if "trouble" in answer:
                    raise ServiceError(f"{task.id} cannot be judged here: {answer['trouble']}")
                told: dict[str, Any] = {**answer["verdict"], "box": self.box}
                return Verdict(**told)
            except (ValueError, KeyError, TypeError) as error:
                self._end()
                why = "it took too long or ended" if not line else f"no verdict: {error}"
                return Verdict.refuse(task.id, f"the judge gave no verdict: {why}")

    def _ask(self, request: bytes) -> bytes:
        """Return the line that answers `request`; nothing where there is none in time."""
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
                f"the judge runs as a plain process, because it did not start in namespaces: "
                f"{error}",
                CompilerGymWarning,
            )
            return process

    def _start(self, command: list[str]) -> "subprocess.Popen[bytes]":
        """Start the judge and return its process; raise `ServiceError` with what it printed."""
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
                raise ServiceError(f"the judge cannot be started: {error}") from error
            self._owner = os.getpid()
            if _next_line(self._process, _START_SECONDS):
                return self._process
            status = self._process.poll()
            self._end()
            errors.seek(0)
            printed = errors.read().decode(errors="replace").strip().splitlines()
        why = printed[-1] if printed else f"it printed nothing (status {status})"
        raise ServiceError(f"the judge does not start: {why}: try `{shlex.join(command)}`")

    def _variables(self) -> dict[str, str]:
        """Return the judge's variables. Its home is in memory, or a new folder of its own."""
        if self.box != PROCESS:
            return dict(ENVIRONMENT)
        self._home = KeptDirectory("judge")
        return {**ENVIRONMENT, "HOME": str(self._home.path), "TMPDIR": str(self._home.path)}

    def close(self) -> None:
        """End the process. The next question starts another."""
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
        self._home = None  # its folder goes with it

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *args: object) -> None:
        self.close()


def _next_line(process: "subprocess.Popen[bytes]", seconds: float) -> bytes:
    """Return the next line of a process; nothing where there is none in time."""
    assert process.stdout is not None
    deadline, line = time.monotonic() + seconds, b""
    while not line.endswith(b"\n") and len(line) < _MOST_BYTES:
        left = deadline - time.monotonic()
        if left <= 0 or not select.select([process.stdout], [], [], left)[0]:
            return b""
        part = os.read(process.stdout.fileno(), 1 << 16)
        if not part:
            return b""
        line += part
    return line


def judge(task: AgentTask, decisions: Decisions) -> Verdict:
    """Return what `decisions` are worth for `task`, by a judge that the process keeps warm.

    See `Judge`.
    """
    return _share()(task, decisions)


@cache
def _share() -> Judge:
    shared = Judge()
    atexit.register(shared.close)
    return shared

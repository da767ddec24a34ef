# SPDX-License-Identifier: MIT
"""The LLVM session with a stopwatch on its passes, and one that forks itself plainly."""

import json
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from compiler_gym.envs.llvm.session import LlvmSession
from compiler_gym.service import SessionSource
from compiler_gym.session import ActionSpaceSpec, BenchmarkSpec

if TYPE_CHECKING:
    from compiler_gym.core import CompilerEnv

RUN_SECONDS = "benchmarks.run_seconds"
"""The parameter that returns the seconds of each pass since it was last asked for, as JSON."""


class TimedModule:
    """A module whose `run` is timed; everything else is the module's own."""

    def __init__(self, module: Any) -> None:
        self.seconds: list[float] = []
        for name in dir(module):
            if not name.startswith("_") and name != "run":
                setattr(self, name, getattr(module, name))
        self._run = module.run

    def run(self, pipeline: str) -> bool:
        started = time.perf_counter()
        changed = self._run(pipeline)
        self.seconds.append(time.perf_counter() - started)
        return changed


class TimedLlvmSession(LlvmSession):
    def __init__(
        self, working_dir: Path, action_space: ActionSpaceSpec, benchmark: BenchmarkSpec
    ) -> None:
        super().__init__(working_dir, action_space, benchmark)
        self._timed = TimedModule(self.program.module)
        self.program.module = self._timed  # type: ignore[assignment]  # as a module, but for run()

    def handle_session_parameter(self, key: str, value: str) -> str | None:
        if key == RUN_SECONDS:
            seconds, self._timed.seconds = self._timed.seconds, []
            return json.dumps(seconds)
        return super().handle_session_parameter(key, value)


BARE_FORK = "benchmarks.bare_fork_seconds"
"""The parameter that forks the worker plainly for so many seconds and returns the least time."""


class ForkingLlvmSession(LlvmSession):
    def handle_session_parameter(self, key: str, value: str) -> str | None:
        if key == BARE_FORK:
            return repr(_bare_fork_seconds(float(value)))
        return super().handle_session_parameter(key, value)


def bare_fork_seconds(twin: "CompilerEnv", env: "CompilerEnv", seconds: float) -> float:
    """Return the least time until a plain fork of a worker in the state of `env`'s answers.

    `twin` is another environment like it, whose worker is made to do as `env`'s did.
    """
    source = SessionSource("benchmarks.timed_session:ForkingLlvmSession")
    twin.episode.sessions = replace(twin.episode.sessions, source=source)
    twin.reset(benchmark=env.benchmark)
    twin.multistep(env.actions)
    return float(twin.send_param(BARE_FORK, str(seconds)))


def _bare_fork_seconds(seconds: float) -> float:
    """Return the least time from a fork of this process to the first byte of its copy."""
    times: list[float] = []
    while len(times) < 3 or sum(times) < seconds:
        reading, writing = os.pipe()
        started = time.perf_counter()
        pid = os.fork()
        if pid == 0:
            os.write(writing, b"x")
            os._exit(0)
        os.read(reading, 1)
        times.append(time.perf_counter() - started)
        os.close(reading)
        os.close(writing)
        os.waitpid(pid, 0)
    return min(times)

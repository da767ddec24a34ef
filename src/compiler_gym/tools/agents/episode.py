# SPDX-License-Identifier: MIT
"""One agent and one task: a number of calls, a trace of them, and decisions for a judge."""

import json
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

from compiler_gym.files import append_line
from compiler_gym.registration import make
from compiler_gym.tools.agents.calling import Tool
from compiler_gym.tools.agents.judging.judge import judge
from compiler_gym.tools.agents.task import AgentTask, Decisions, Verdict
from compiler_gym.tools.agents.texts import cut
from compiler_gym.tools.agents.toolbox import Toolbox

__all__ = ["AgentEpisode"]

_LONGEST_TRACED = 20_000
"""The most characters of a call's arguments that a trace keeps."""
_LONGEST_NAME = 100
_OVER = "error (SessionNotFound): the episode is over\nnext: say what you did; no tool answers now"


class AgentEpisode:
    """What an agent does for a task. Safe to call from several threads: one waits.

    It is over once the agent submits or has made all its calls; what is applied then counts. What
    is measured here does not: the judge, in another process, gets `decisions` alone.

    >>> from compiler_gym.tools.agents import find_task
    >>> with AgentEpisode(find_task("fewer-instructions/cbench-v1/crc32")) as episode:
    ...     _ = episode.call("apply", {"actions": ["-Oz"]})
    ...     _ = episode.call("submit")
    ...     episode.done, episode.decisions.commandline.split()[0]
    (True, 'opt')

    Args:
        task: The task.
        trace: A file to which the task, every call and the verdict are appended, each as a line
            of JSON; None writes none.
        judge: Says what decisions are worth; by default the warm judge of this process.

    Raises:
        CompilerGymError: The environment or the program of the task cannot be had.
    """

    def __init__(
        self,
        task: AgentTask,
        *,
        trace: str | Path | None = None,
        judge: Callable[[AgentTask, Decisions], Verdict] = judge,
    ) -> None:
        self.task = task
        self._judge = judge
        self._trace = None if trace is None else Path(trace)
        self._lock = threading.Lock()
        self._calls = 0
        self._decisions: Decisions | None = None
        self._verdict: Verdict | None = None
        env = make(task.env_id, benchmark=task.benchmark, action_space=task.action_space)
        for name in (task.goal, task.baseline):  # a reward is called by the baseline that it beats
            if name in env.reward:
                env.reward_space = name
        self._toolbox = Toolbox(env, benchmark=task.benchmark, most_actions=task.max_actions)
        self._write(task=task.id, prompt=task.prompt, tools=[tool.name for tool in self.tools])

    @property
    def prompt(self) -> str:
        """What the agent is told."""
        return self.task.prompt

    @property
    def tools(self) -> list[Tool]:
        """What the agent may call."""
        return self._toolbox.tools()

    @property
    def calls_left(self) -> int:
        """Number of calls that the agent may still make."""
        return self.task.max_calls - self._calls

    @property
    def done(self) -> bool:
        """Whether the agent has submitted, or has no calls left."""
        return self._decisions is not None

    @property
    def decisions(self) -> Decisions:
        """All that counts of what the agent did so far."""
        return self._read_decisions() if self._decisions is None else self._decisions

    def call(self, name: str, arguments: Mapping[str, Any] | str | None = None) -> str:
        """Return the answer to one call; see `Toolbox.call`. Nothing is raised.

        Every call counts, also one that is refused.
        """
        return self.answer(name, arguments)[0]

    def answer(self, name: object, arguments: object = None) -> tuple[str, bool]:
        """Return what `call` returns, and whether it is an error."""
        with self._lock:
            if self.done:
                return _OVER, True
            self._calls += 1
            self._toolbox.calls_left = self.calls_left
            answer, is_error = self._toolbox.answer(name, arguments)
            self._write_call(name, arguments, answer, is_error)
            if self._toolbox.submitted is not None or self.calls_left <= 0:
                self._decisions = self._read_decisions()
            return answer, is_error

    def verdict(self) -> Verdict:
        """Return what the judge says of the decisions; the episode is over then.

        Raises:
            ServiceError: The judge cannot be started.
        """
        with self._lock:
            if self._verdict is None:
                self._decisions = self.decisions
                self._verdict = self._judge(self.task, self._decisions)
                self._write(decisions=self._decisions.dict(), verdict=self._verdict.dict())
            return self._verdict

    def reward(self) -> float:
        """Return what the decisions are worth; see `verdict`."""
        return self.verdict().reward

    def close(self) -> None:
        """End the processes. Decisions and verdict can still be asked for."""
        with self._lock:
            self._decisions = self.decisions
            self._toolbox.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *args: object) -> None:
        self.close()

    def _read_decisions(self) -> Decisions:
        env = self._toolbox.env
        commandline = env.commandline() if env.actions else ""
        return Decisions(self.task.id, commandline, self._toolbox.submitted or "")

    def _write_call(self, name: object, arguments: object, answer: str, is_error: bool) -> None:
        if self._trace is None:
            return
        sent = arguments
        try:
            if len(text := json.dumps(arguments)) > _LONGEST_TRACED:
                sent = cut(text, _LONGEST_TRACED)
        except (RecursionError, TypeError, ValueError):  # no JSON, or nested too deeply
            sent = f"a {type(arguments).__name__}"
        self._write(
            call=self._calls,
            tool=cut(str(name), _LONGEST_NAME),
            arguments=sent,
            answer=answer,
            error=is_error,
        )

    def _write(self, **fields: Any) -> None:
        if self._trace is not None:
            append_line(self._trace, fields, sync=False)

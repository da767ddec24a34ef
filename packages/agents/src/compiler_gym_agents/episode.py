# SPDX-License-Identifier: MIT
"""One agent's work on one task: a limited number of calls, a trace, and decisions to judge."""

import json
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Self

from compiler_gym.files import append_line
from compiler_gym.registration import make
from compiler_gym_agents.calling import Tool
from compiler_gym_agents.judging.judge import judge
from compiler_gym_agents.task import AgentTask, Decisions, Verdict
from compiler_gym_agents.texts import cut
from compiler_gym_agents.toolbox import Toolbox

__all__ = ["AgentEpisode"]

_LONGEST_TRACED = 20_000
"""The maximum length of a call's arguments in a trace, in characters."""
_LONGEST_NAME = 100
_OVER = "error (SessionNotFound): the episode is over\nnext: sum up your work; tools are disabled"


class AgentEpisode:
    """One agent's episode on a task. Thread-safe; calls run one at a time.

    It is over once the agent submits or has used all its calls; the actions applied by then count.
    Measurements made here do not: the judge, in another process, only gets `decisions`.

    >>> from compiler_gym_agents import find_task
    >>> with AgentEpisode(find_task("fewer-instructions/cbench-v1/crc32")) as episode:
    ...     _ = episode.call("apply", {"actions": ["-Oz"]})
    ...     _ = episode.call("submit")
    ...     episode.done, episode.decisions.commandline.split()[0]
    (True, 'opt')

    Args:
        task: The task.
        trace: A file to which the task, every call and the verdict are appended as lines of
            JSON; None writes none.
        judge: A function that scores decisions; by default the warm judge of this process.

    Raises:
        CompilerGymError: The environment or the program of the task is unavailable.
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
        for name in (task.goal, task.baseline):  # a reward has the name of its baseline
            if name in env.reward:
                env.reward_space = name
        self._toolbox = Toolbox(env, benchmark=task.benchmark, most_actions=task.max_actions)
        self._write(task=task.id, prompt=task.prompt, tools=[tool.name for tool in self.tools])

    @property
    def prompt(self) -> str:
        """The prompt for the agent."""
        return self.task.prompt

    @property
    def tools(self) -> list[Tool]:
        """The tools that the agent may call."""
        return self._toolbox.tools()

    @property
    def calls_left(self) -> int:
        """The number of calls that the agent has left."""
        return self.task.max_calls - self._calls

    @property
    def done(self) -> bool:
        """True if the agent has submitted or has no calls left."""
        return self._decisions is not None

    @property
    def decisions(self) -> Decisions:
        """The agent's decisions so far, which alone are judged."""
        return self._read_decisions() if self._decisions is None else self._decisions

    def call(self, name: str, arguments: Mapping[str, Any] | str | None = None) -> str:
        """Return the answer to one call; see `Toolbox.call`. Never raises an error.

        Every call counts, even if it is refused.
        """
        return self.answer(name, arguments)[0]

    def answer(self, name: object, arguments: object = None) -> tuple[str, bool]:
        """Return the answer of `call`, and whether it is an error."""
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
        """Return the judge's verdict on the decisions, and end the episode.

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
        """Return the reward of the decisions; see `verdict`."""
        return self.verdict().reward

    def close(self) -> None:
        """End the processes. `decisions` and `verdict` remain available."""
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
        logged = arguments
        try:
            if len(text := json.dumps(arguments)) > _LONGEST_TRACED:
                logged = cut(text, _LONGEST_TRACED)
        except (RecursionError, TypeError, ValueError):  # not JSON, or nested too deeply
            logged = f"a {type(arguments).__name__}"
        self._write(
            call=self._calls,
            tool=cut(str(name), _LONGEST_NAME),
            arguments=logged,
            answer=answer,
            error=is_error,
        )

    def _write(self, **fields: Any) -> None:
        if self._trace is not None:
            append_line(self._trace, fields, sync=False)

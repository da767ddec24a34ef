# SPDX-License-Identifier: MIT
"""Tasks as a taskset of verifiers (its ``verifiers.v1``). Needs the extra ``verifiers``.

The library finds a taskset by the name of a top-level module, and runs the tools of each rollout
in a process that imports this one. What the agent decided travels in the rollout's state; the
judge reads nothing else. The library is imported here, because its classes are this module's.
"""

import asyncio
import atexit
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from compiler_gym.cli.kit.library import library
from compiler_gym.tools.agents import (
    AgentEpisode,
    Decisions,
    Verdict,
    find_task,
    judge,
    tasks,
)
from compiler_gym.tools.agents.libraries._tools import list_tools, tool_function

__all__ = ["CompilerTaskset"]

vf: Any = library("verifiers.v1", "verifiers")
if TYPE_CHECKING:
    Trace = Any
else:
    Trace = vf.Trace  # the library hands over what an annotation names


class CompilerState(vf.State):
    """What a rollout has led to."""

    decisions: dict[str, str] | None = None
    done: bool = False


class CompilerData(vf.TaskData):
    """A task on its way to other processes: `id` is the task's."""


class CompilerToolset(vf.Toolset[vf.ToolsetConfig, CompilerState]):
    """The tools of one task, in a process of their own."""

    TOOL_PREFIX = None
    _episode: AgentEpisode

    async def setup_task(self, task: Any) -> None:
        """Begin the episode; its tools become methods."""
        self._episode = AgentEpisode(find_task(task.id))
        atexit.register(self._episode.close)
        for tool in list_tools(self._episode):
            setattr(type(self), tool.name, vf.tool(tool_function(tool, CompilerToolset.call)))

    def call(self, name: str, arguments: dict[str, Any]) -> str:
        """Call a tool, and keep in the rollout's state what was decided."""
        answer = self._episode.call(name, arguments)
        self.state.decisions = self._episode.decisions.dict()
        self.state.done = self._episode.done
        return answer


class CompilerTask(vf.Task[CompilerData, CompilerState]):
    """One task, with the judge's reward."""

    @classmethod
    def toolsets(cls, config: Any) -> list[Any]:
        """Return the server of tools that each rollout gets."""
        return [CompilerToolset(vf.ToolsetConfig())]

    @property
    def key(self) -> str:
        """The task's id, which stays."""
        return self.data.id

    @vf.stop
    async def has_ended(self, trace: Trace) -> bool:
        """Whether the agent has submitted, or has made all its calls."""
        return trace.state.done

    @vf.reward
    async def verified_gain(self, trace: Trace) -> float:
        """Return the reward of what was decided, judged apart from the agent."""
        return (await asyncio.to_thread(self._judge, trace.state.decisions)).reward

    def _judge(self, decided: dict[str, str] | None) -> Verdict:
        task = find_task(self.data.id)
        if decided is None:
            return Verdict.refuse(task.id, "no tool was called")
        return judge(task, Decisions.parse_obj(decided))


class CompilerTasksetConfig(vf.TasksetConfig):
    """Which tasks; an empty text takes all."""

    split: str = "train"
    family: str = ""
    difficulty: str = ""


class CompilerTaskset(vf.Taskset[CompilerTask, CompilerTasksetConfig]):
    """The tasks of a split."""

    def load(self) -> Iterator[Any]:
        """Yield them."""
        config = self.config
        for task in tasks(config.split, config.family or None, config.difficulty or None):
            data = CompilerData(id=task.id, name=task.id, prompt=task.prompt)
            yield CompilerTask(data, config.task)


if __name__ == "__main__":
    CompilerToolset.run()

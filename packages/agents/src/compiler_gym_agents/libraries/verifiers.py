# SPDX-License-Identifier: MIT
"""Tasks as a taskset for ``verifiers.v1``. Needs the extra ``verifiers``.

The library finds a taskset by the name of a top-level module, and runs the tools of each rollout in
a process that imports it. The agent's decisions travel in the rollout's state; the judge reads
nothing else. The library is imported at module level, because the classes here derive from it.
"""

import asyncio
import atexit
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from compiler_gym.cli.kit.library import library
from compiler_gym_agents import (
    AgentEpisode,
    Decisions,
    Verdict,
    find_task,
    judge,
    tasks,
)
from compiler_gym_agents.libraries._tools import list_tools, tool_function

__all__ = ["CompilerTaskset"]

vf: Any = library("verifiers.v1", "verifiers")
if TYPE_CHECKING:
    Trace = Any
else:
    Trace = vf.Trace  # the library passes arguments by annotation


class CompilerState(vf.State):
    """The state of a rollout."""

    decisions: dict[str, str] | None = None
    done: bool = False


class CompilerData(vf.TaskData):
    """A task in a form that can be sent to other processes: `id` is the task's."""


class CompilerToolset(vf.Toolset[vf.ToolsetConfig, CompilerState]):
    """The tools of one task, in a separate process."""

    TOOL_PREFIX = None
    _episode: AgentEpisode

    async def setup_task(self, task: Any) -> None:
        """Start the episode and add its tools as methods."""
        self._episode = AgentEpisode(find_task(task.id))
        atexit.register(self._episode.close)
        for tool in list_tools(self._episode):
            setattr(type(self), tool.name, vf.tool(tool_function(tool, CompilerToolset.call)))

    def call(self, name: str, arguments: dict[str, Any]) -> str:
        """Call a tool and store the decisions in the rollout's state."""
        answer = self._episode.call(name, arguments)
        self.state.decisions = self._episode.decisions.dict()
        self.state.done = self._episode.done
        return answer


class CompilerTask(vf.Task[CompilerData, CompilerState]):
    """One task, with the judge's reward."""

    @classmethod
    def toolsets(cls, config: Any) -> list[Any]:
        """Return the tool server of each rollout."""
        return [CompilerToolset(vf.ToolsetConfig())]

    @property
    def key(self) -> str:
        """The stable ID of the task."""
        return self.data.id

    @vf.stop
    async def has_ended(self, trace: Trace) -> bool:
        """Return True if the agent has submitted or has no calls left."""
        return trace.state.done

    @vf.reward
    async def verified_gain(self, trace: Trace) -> float:
        """Return the reward of the decisions, judged separately from the agent."""
        return (await asyncio.to_thread(self._judge, trace.state.decisions)).reward

    def _judge(self, decisions: dict[str, str] | None) -> Verdict:
        task = find_task(self.data.id)
        if decisions is None:
            return Verdict.refuse(task.id, "no tool was called")
        return judge(task, Decisions.parse_obj(decisions))


class CompilerTasksetConfig(vf.TasksetConfig):
    """The selection of tasks; an empty string selects all."""

    split: str = "train"
    family: str = ""
    difficulty: str = ""


class CompilerTaskset(vf.Taskset[CompilerTask, CompilerTasksetConfig]):
    """The tasks of a split."""

    def load(self) -> Iterator[Any]:
        """Yield the tasks."""
        config = self.config
        for task in tasks(config.split, config.family or None, config.difficulty or None):
            data = CompilerData(id=task.id, name=task.id, prompt=task.prompt)
            yield CompilerTask(data, config.task)


if __name__ == "__main__":
    CompilerToolset.run()

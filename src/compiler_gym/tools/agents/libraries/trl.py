# SPDX-License-Identifier: MIT
"""Tasks as TRL's ``GRPOTrainer`` plays them. Needs the extra ``trl``.

    with TrainingTasks(tasks("train")) as training:
        GRPOTrainer(model, train_dataset=training.dataset(), environment_factory=training, ...)

The trainer offers every documented method of an environment as a tool: they are made of the tools
of the tasks. It never closes an environment, so whoever made them does.
"""

from collections.abc import Sequence
from typing import Any

from compiler_gym.cli.kit.library import library
from compiler_gym.errors import InvalidParameterError, SessionNotFound
from compiler_gym.tools.agents import AgentEpisode, AgentTask, find_task
from compiler_gym.tools.agents.libraries._tools import all_tools, tool_function

__all__ = ["TrainingTasks"]


class _CompilerTask:
    """An environment without its tools. Names that begin with _ are no tools."""

    _episode: AgentEpisode | None = None

    def reset(self, task: str = "", **_: Any) -> None:
        """Begin an episode of a task."""
        self._close()
        self._episode = AgentEpisode(find_task(task))

    def get_reward(self) -> float:
        """Return the judge's reward for what was done."""
        return self._begun.reward()

    @property
    def _begun(self) -> AgentEpisode:
        if self._episode is None:
            raise SessionNotFound("no episode is under way: expected a reset before")
        return self._episode

    def _close(self) -> None:
        if self._episode is not None:
            self._episode.close()
            self._episode = None


class TrainingTasks:
    """Makes the environments of a trainer, and owns them.

    Args:
        chosen: The tasks to train on.

    Raises:
        InvalidParameterError: There is no task.
    """

    def __init__(self, chosen: Sequence[AgentTask]) -> None:
        if not chosen:
            raise InvalidParameterError("there is no task to train on: expected at least one")
        self.tasks = tuple(chosen)
        self._made: list[Any] = []
        self._kind: Any = None

    def dataset(self) -> Any:
        """Return the rows of the training: a prompt for each task, and the task's id."""
        rows = [
            {"prompt": [{"role": "user", "content": task.prompt}], "task": task.id}
            for task in self.tasks
        ]
        return library("datasets", "trl").Dataset.from_list(rows)

    def __call__(self) -> Any:
        """Return another environment, whose ``reset(**row)`` begins an episode."""
        if self._kind is None:
            tools = {tool.name: tool_function(tool, _call_in) for tool in all_tools()}
            kind = type("CompilerTask", (_CompilerTask,), tools)
            self._kind = kind
        made = self._kind()
        self._made.append(made)
        return made

    def close(self) -> None:
        """End every episode."""
        for made in self._made:
            made._close()

    def __enter__(self) -> "TrainingTasks":
        return self

    def __exit__(self, *args: object) -> None:
        self.close()


def _call_in(environment: Any, name: str, arguments: dict[str, Any]) -> str:
    return environment._begun.call(name, arguments)

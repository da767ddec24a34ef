# SPDX-License-Identifier: MIT
"""Tasks for TRL's ``GRPOTrainer``. Needs the extra ``trl``.

    with TrainingTasks(tasks("train")) as training:
        GRPOTrainer(model, train_dataset=training.dataset(), environment_factory=training, ...)

The trainer offers every documented method of an environment as a tool; these methods are generated
from the tools of the tasks. It never closes an environment, so `TrainingTasks` does.
"""

from collections.abc import Sequence
from typing import Any

from compiler_gym.cli.kit.library import library
from compiler_gym.errors import InvalidParameterError, SessionNotFound
from compiler_gym_agents import AgentEpisode, AgentTask, find_task
from compiler_gym_agents.libraries._tools import all_tools, tool_function

__all__ = ["TrainingTasks"]


class _CompilerTask:
    """An environment without its tools. Names that begin with _ are not tools."""

    _episode: AgentEpisode | None = None

    def reset(self, task: str = "", **_: Any) -> None:
        """Start an episode of a task."""
        self._close()
        self._episode = AgentEpisode(find_task(task))

    def get_reward(self) -> float:
        """Return the judge's reward for the episode."""
        return self._started.reward()

    @property
    def _started(self) -> AgentEpisode:
        if self._episode is None:
            raise SessionNotFound("no episode has started; call reset first")
        return self._episode

    def _close(self) -> None:
        if self._episode is not None:
            self._episode.close()
            self._episode = None


class TrainingTasks:
    """The factory and owner of a trainer's environments.

    Args:
        chosen: The tasks to train on.

    Raises:
        InvalidParameterError: There are no tasks.
    """

    def __init__(self, chosen: Sequence[AgentTask]) -> None:
        if not chosen:
            raise InvalidParameterError("there are no tasks to train on; pass at least one")
        self.tasks = tuple(chosen)
        self._environments: list[Any] = []
        self._kind: Any = None

    def dataset(self) -> Any:
        """Return the training dataset: the prompt and the ID of each task."""
        rows = [
            {"prompt": [{"role": "user", "content": task.prompt}], "task": task.id}
            for task in self.tasks
        ]
        return library("datasets", "trl").Dataset.from_list(rows)

    def __call__(self) -> Any:
        """Return a new environment, whose ``reset(**row)`` starts an episode."""
        if self._kind is None:
            tools = {tool.name: tool_function(tool, _call_in) for tool in all_tools()}
            kind = type("CompilerTask", (_CompilerTask,), tools)
            self._kind = kind
        environment = self._kind()
        self._environments.append(environment)
        return environment

    def close(self) -> None:
        """End every episode."""
        for environment in self._environments:
            environment._close()

    def __enter__(self) -> "TrainingTasks":
        return self

    def __exit__(self, *args: object) -> None:
        self.close()


def _call_in(environment: Any, name: str, arguments: dict[str, Any]) -> str:
    return environment._started.call(name, arguments)

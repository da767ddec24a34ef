# SPDX-License-Identifier: MIT
"""Find tasks. Each compiler generates its own, identically on every machine."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from compiler_gym.datasets import SPLITS
from compiler_gym.errors import InvalidParameterError, UnknownNameError, unknown_name
from compiler_gym.lazy import parts
from compiler_gym_agents.task import DIFFICULTIES, AgentTask

__all__ = ["families", "find_task", "tasks"]


def tasks(
    split: str | None = None, family: str | None = None, difficulty: str | None = None
) -> tuple[AgentTask, ...]:
    """Return the tasks of a split, a family and a difficulty; None selects all.

    Raises `UnknownNameError` for an unknown name.

        >>> {task.family for task in tasks("test", difficulty="easy")} >= {"fewer-instructions"}
        True
    """
    for kind, name, names in (
        ("split", split, SPLITS), ("family", family, families()),
        ("difficulty", difficulty, DIFFICULTIES),
    ):  # fmt: skip
        if name is not None and name not in names:
            raise UnknownNameError(unknown_name(kind, name, list(names)))
    return tuple(
        task
        for task in _every_task().values()
        if split in (None, task.split)
        and family in (None, task.family)
        and difficulty in (None, task.difficulty)
    )


def families() -> tuple[str, ...]:
    """Return the names of the families, in the order of their tasks."""
    return tuple(dict.fromkeys(task.family for task in _every_task().values()))


def find_task(id: str) -> AgentTask:
    """Return the task `id`; raise `UnknownNameError`, with similar names, if it is unknown."""
    if id not in _every_task():
        raise UnknownNameError(unknown_name("task", id, list(_every_task())))
    return _every_task()[id]


@cache
def _every_task() -> Mapping[str, AgentTask]:
    by_id: dict[str, AgentTask] = {}
    for entry in parts("agent_tasks").values():
        for task in entry.load()():
            if task.id in by_id:
                raise InvalidParameterError(f"two installed tasks are named {task.id}; rename one")
            by_id[task.id] = task
    return MappingProxyType(by_id)

# SPDX-License-Identifier: MIT
"""Finds tasks. Each compiler makes its own, by rule: the same on every machine."""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType

from compiler_gym.datasets import SPLITS
from compiler_gym.errors import InvalidParameterError, UnknownNameError, unknown_name
from compiler_gym.lazy import parts
from compiler_gym.tools.agents.task import DIFFICULTIES, AgentTask

__all__ = ["families", "find_task", "tasks"]


def tasks(
    split: str | None = None, family: str | None = None, difficulty: str | None = None
) -> tuple[AgentTask, ...]:
    """Return the tasks of a split, a family and a difficulty; None takes all.

    Raises `UnknownNameError` for a name that there is none of.

        >>> {task.family for task in tasks("test", difficulty="easy")} >= {"fewer-instructions"}
        True
    """
    for kind, name, known in (
        ("split", split, SPLITS), ("family", family, families()),
        ("difficulty", difficulty, DIFFICULTIES),
    ):  # fmt: skip
        if name is not None and name not in known:
            raise UnknownNameError(unknown_name(kind, name, list(known)))
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
    """Return the task `id`; raise `UnknownNameError` with those that are spelt alike."""
    if id not in _every_task():
        raise UnknownNameError(unknown_name("task", id, list(_every_task())))
    return _every_task()[id]


@cache
def _every_task() -> Mapping[str, AgentTask]:
    found: dict[str, AgentTask] = {}
    for entry in parts("agent_tasks").values():
        for task in entry.load()():
            if task.id in found:
                raise InvalidParameterError(f"two tasks are called {task.id}: expected one")
            found[task.id] = task
    return MappingProxyType(found)

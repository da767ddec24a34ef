# SPDX-License-Identifier: MIT
"""A server of tasks for the OpenEnv protocol. Needs the extra ``openenv``.

    python -m compiler_gym_agents.libraries.openenv --port 8000

Every session is a separate episode. Use OpenEnv's clients: ``MCPToolClient`` calls tools by name.
The reward of a call is 0, except for the last call of an episode, which returns the judge's reward.
"""

import argparse
import random
from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any
from uuid import uuid4

import msgspec

from compiler_gym.cli.kit.library import library, report_errors
from compiler_gym.cli.kit.serving import Gate, Guard, server_settings
from compiler_gym.datasets import SPLITS
from compiler_gym.errors import InvalidParameterError
from compiler_gym.version import __version__
from compiler_gym_agents import AgentEpisode, AgentTask, find_task, tasks
from compiler_gym_agents.libraries._tools import all_tools, list_tools

__all__ = ["make_app", "make_environment_class"]

_NOT_BEGUN = "error (SessionNotFound, request): no episode has started: call reset first"


def make_environment_class() -> Any:
    """Return the subclass of OpenEnv's ``Environment``, which can also list the tasks.

    ``reset(task="ID")`` and ``reset(split="test", index=3)`` choose a task, ``reset(seed=7)``
    chooses one of the training split with the seed, and ``reset()`` a random one.
    """
    core = library("openenv.core.env_server", "openenv")

    class CompilerEnvironment(core.Environment):
        SUPPORTS_CONCURRENT_SESSIONS = True

        def __init__(self) -> None:
            super().__init__()  # pyright: ignore[reportUnknownMemberType]  # the library's
            self._episode: AgentEpisode | None = None
            self._state: Any = core.State()

        def reset(
            self, seed: int | None = None, episode_id: str | None = None, **choice: Any
        ) -> Any:
            task = _choose_task({"seed": seed, **choice})
            self.close()
            self._episode = AgentEpisode(task)
            self._state = core.State(episode_id=episode_id or uuid4().hex, task=task.id)
            return _beginning()(reward=0.0, task=task.id, prompt=self._episode.prompt)

        def step(self, action: Any, timeout_s: float | None = None, **_: Any) -> Any:
            self._state.step_count += 1
            episode = self._episode
            if isinstance(action, core.ListToolsAction):
                offered = all_tools() if episode is None else list_tools(episode)
                tools = [
                    core.Tool(name=t.name, description=t.description, input_schema=t.parameters)
                    for t in offered
                ]
                return core.ListToolsObservation(tools=tools, reward=0.0)
            if episode is None:
                result, was_done, done = _NOT_BEGUN, False, False
            else:
                was_done = episode.done
                result = episode.call(action.tool_name, action.arguments)
                done = episode.done
            reward = episode.reward() if episode is not None and done and not was_done else 0.0
            return core.CallToolObservation(
                tool_name=action.tool_name, result=result, done=done, reward=reward
            )

        @property
        def state(self) -> Any:
            return self._state

        def get_metadata(self) -> Any:
            kind = library("openenv.core.env_server.types", "openenv").EnvironmentMetadata
            about = "A compiler as tools: tasks with rewards verified by a separate process."
            return kind(name="compiler_gym", description=about, version=__version__)

        def close(self) -> None:
            if self._episode is not None:
                self._episode.close()
                self._episode = None

        def list_splits(self) -> list[str]:
            return list(SPLITS)

        def list_tasks(self, split: str) -> list[dict[str, Any]]:
            return [_public_task(task) for task in tasks(split)]

        def num_tasks(self, split: str) -> int:
            return len(tasks(split))

        def get_task(self, split: str, index: int) -> dict[str, Any]:
            return _public_task(_task_at(tasks(split), index))

        def get_task_range(
            self, split: str, start: int | None = None, stop: int | None = None
        ) -> list[dict[str, Any]]:
            return [_public_task(task) for task in tasks(split)[start:stop]]

    return CompilerEnvironment


def make_app(sessions: int = 16, hosts: Iterable[str] = ()) -> Any:
    """Return the ASGI application, which serves at most `sessions` episodes at once.

    Args:
        sessions: The maximum number of concurrent episodes.
        hosts: Names and addresses that clients use for this machine, besides ``localhost``.
            ``0.0.0.0`` accepts every numeric address.
    """
    core = library("openenv.core.env_server", "openenv")
    app = core.create_app(
        make_environment_class(),
        core.CallToolAction,
        core.CallToolObservation,
        env_name="compiler_gym",
        max_concurrent_envs=sessions,
        reset_observation_cls=_beginning(),
    )
    app.add_middleware(Gate, guard=Guard("", hosts))
    return app


@cache
def _beginning() -> Any:
    """Return the class of the observations that ``reset`` returns."""
    core = library("openenv.core.env_server", "openenv")

    class Beginning(core.Observation):
        task: str
        prompt: str

    return Beginning


class _Choice(msgspec.Struct, forbid_unknown_fields=True):
    """The arguments of ``reset`` that choose a task."""

    seed: int | None = None
    task: str = ""
    split: str = "train"
    index: int | None = None


def _choose_task(arguments: dict[str, Any]) -> AgentTask:
    try:
        choice = msgspec.convert(arguments, _Choice)
    except msgspec.ValidationError as error:
        raise InvalidParameterError(
            f"reset cannot choose a task: {error}; pass task, or split and index, or seed"
        ) from error
    if choice.task:
        return find_task(choice.task)
    offered = tasks(choice.split)
    if choice.index is not None:
        return _task_at(offered, choice.index)
    return random.choice(offered) if choice.seed is None else offered[choice.seed % len(offered)]


def _task_at(offered: Sequence[AgentTask], index: int) -> AgentTask:
    if not 0 <= index < len(offered):
        raise IndexError(f"no task {index}; choose 0 to {len(offered) - 1}")
    return offered[index]


def _public_task(task: AgentTask) -> dict[str, Any]:
    fields = task.dict(include=("id", "split", "family", "difficulty", "prompt"))
    return {**fields, "name": task.id}


def main(arguments: list[str] | None = None) -> None:
    """Serve tasks over HTTP."""
    parser = argparse.ArgumentParser(prog="python -m compiler_gym_agents.libraries.openenv")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    parser.add_argument(
        "--sessions", type=int, default=16, help="maximum number of concurrent episodes"
    )
    parser.add_argument(
        "--name",
        action="append",
        default=[],
        help="host name that clients use for this machine, such as a proxy's; can be repeated",
    )
    options = parser.parse_args(arguments)
    with report_errors(parser):
        library("uvicorn", "openenv").run(
            make_app(options.sessions, [options.host, *options.name]),
            host=options.host,
            port=options.port,
            **server_settings(),
        )


if __name__ == "__main__":
    main()

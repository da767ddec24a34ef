# SPDX-License-Identifier: MIT
"""A server for language models that act in an environment, over the Model Context Protocol.

    python -m compiler_gym.integrations.mcp llvm-ic-v0

It offers the tools ``describe``, ``reset``, ``step``, ``undo``, ``observe`` and ``submit``
over standard input and output. One server is one agent's session. Needs the extra ``mcp``.
"""

import argparse
import json
from math import prod
from typing import Any

import numpy as np

from compiler_gym.core import CompilerEnvState
from compiler_gym.errors import (
    CompilerGymError,
    InvalidParameterError,
    ObservationError,
    SessionNotFound,
)
from compiler_gym.integrations._library import library
from compiler_gym.registration import make
from compiler_gym.spaces import action_descriptions, action_names, to_plain
from compiler_gym.wrappers import ForkOnStep

__all__ = ["AgentSession", "make_server"]

_LONGEST_TEXT = 20_000
_LONGEST_ANSWER = 40_000
"""How many characters of an observation, and of any answer, are given."""
_MOST_ITEMS = 100
"""How many numbers an observation has at most that is named as a short one."""
_UNDO_LIMIT = 50


class AgentSession:
    """What the tools do: each returns plain values and raises typed errors."""

    def __init__(self, env_id: str, **arguments: Any) -> None:
        self.env = ForkOnStep(make(env_id, **arguments))
        if self.env.reward_space is None:
            self.env.close()
            raise InvalidParameterError(f"{env_id} has no reward: expected one to be set")
        self._submitted = False

    def describe(self) -> dict[str, Any]:
        """What there is to do, to see and to earn, and which programs there are."""
        space = self.env.action_space
        views = self.env.observation
        return {
            "environment": (type(self.env.unwrapped).__doc__ or "").strip().split("\n")[0],
            "compiler": self.env.compiler_version,
            "reward": f"{self.env.reward_space}: more is better",
            "actions": _described(space),
            "observations": {name: views.spec(name).description for name in views},
            "datasets": [dataset.name for dataset in self.env.datasets],
        }

    def reset(self, benchmark: str | None = None) -> dict[str, Any]:
        """Start an episode on a program, given by its address."""
        options = None if benchmark is None else {"benchmark": benchmark}
        _, info = self.env.reset(options=options)
        self._submitted = False
        return {"benchmark": info["benchmark"], **self._state()}

    def step(self, actions: list[str]) -> dict[str, Any]:
        """Apply actions, given by their names, in order. Can be undone as one."""
        self._require_running()
        space = self.env.action_space
        numbers = [space[name] for name in actions]
        _, reward, terminated, truncated, info = self.env.multistep(numbers)
        while len(self.env.stack) > _UNDO_LIMIT:
            oldest = self.env.stack.pop(0)
            if not isinstance(oldest, CompilerEnvState):  # one whose worker was lost
                oldest.close()
        result = {"reward": reward, "ended": terminated or truncated}
        if "error" in info:
            return {**result, "error": info["error_details"], "hint": "undo() takes it back"}
        return {**result, "had_effect": not info["action_had_no_effect"], **self._state()}

    def undo(self) -> dict[str, Any]:
        """Take back the last step."""
        if self._submitted or not self.env.stack:
            raise InvalidParameterError("there is no step to take back")
        self.env.undo()
        return self._state()

    def observe(self, name: str) -> Any:
        """Look at the program: one of the observations that describe() lists."""
        self._require_running()
        value = self.env.observation[name]
        plain = value.tolist() if isinstance(value, np.ndarray) else to_plain(value)
        text = plain if isinstance(plain, str) else self._json(name, plain)
        if len(text) <= _LONGEST_TEXT:
            return plain
        return f"{_shortened(text, _LONGEST_TEXT)}; shorter observations are {self._short_ones()}"

    def submit(self) -> dict[str, Any]:
        """End the episode; return its result and the command that repeats it."""
        self._require_running()
        self._submitted = True
        result = {**self._state(), "commandline": self.env.commandline()}
        return {**result, "submitted": True}

    def close(self) -> None:
        """End the session."""
        self.env.close()

    def _state(self) -> dict[str, Any]:
        space = self.env.action_space
        names = space.to_string(self.env.actions) if self.env.actions else ""
        listed = [space.names[a] for a in self.env.actions] if hasattr(space, "names") else names
        return {"actions": listed, "episode_reward": self.env.episode_reward}

    def _json(self, name: str, plain: Any) -> str:
        try:
            return json.dumps(plain)
        except TypeError:
            base = self.env.observation.spec(name).base_id
            other = base if base != name else self._short_ones()
            raise ObservationError(
                f"{name} is a {type(plain).__name__}, which has no JSON form: observe {other}"
            ) from None

    def _short_ones(self) -> str:
        """Return the names of observations that are a few numbers."""
        views = self.env.observation
        shapes = {name: views.spec(name).space.shape for name in views}
        short = [n for n, s in shapes.items() if s is not None and prod(s) <= _MOST_ITEMS]
        return ", ".join(short[:10]) or "none"

    def _require_running(self) -> None:
        if self._submitted:
            raise SessionNotFound("the episode was submitted: call reset() to start another")
        if not self.env.in_episode:
            raise SessionNotFound("no episode is running: call reset(), or undo() after a failure")


def make_server(session: AgentSession) -> Any:
    """Return a server of `session`; ``server.run()`` serves standard input and output."""
    protocol = library("mcp.server", "mcp")
    errors = library("mcp.server.mcpserver.exceptions", "mcp")
    server = protocol.MCPServer(
        "compiler_gym",
        instructions="Optimise a program with the actions of a compiler. Start with describe().",
    )

    def offer(name: str, tool: Any) -> None:
        server.tool(name=name, description=tool.__doc__)(tool)

    def run(call: Any, *arguments: Any) -> str:
        try:
            answer = json.dumps(call(*arguments))
        except CompilerGymError as error:
            text = _shortened(f"{type(error).__name__}: {error}", _LONGEST_TEXT)
            raise errors.ToolError(text) from error
        if len(answer) <= _LONGEST_ANSWER:
            return answer
        return json.dumps(_shortened(answer, _LONGEST_TEXT))

    # Coroutines, so that all of them run in one thread: an environment is used by one.
    async def describe() -> str:
        return run(session.describe)

    async def reset(benchmark: str | None = None) -> str:
        return run(session.reset, benchmark)

    async def step(actions: list[str]) -> str:
        return run(session.step, actions)

    async def undo() -> str:
        return run(session.undo)

    async def observe(name: str) -> str:
        return run(session.observe, name)

    async def submit() -> str:
        return run(session.submit)

    for tool in (describe, reset, step, undo, observe, submit):
        tool.__doc__ = getattr(AgentSession, tool.__name__).__doc__
        offer(tool.__name__, tool)
    return server


def _shortened(text: str, most: int) -> str:
    """Return the beginning of a long text, and how much of it is missing."""
    left = len(text) - most
    return text if left <= 0 else f"{text[:most]}\n... cut: {left} more characters"


def _described(space: Any) -> Any:
    names = action_names(space)
    if not names:
        return str(space)
    return dict(zip(names, action_descriptions(space), strict=True))


def main(arguments: list[str] | None = None) -> None:
    """Serve one environment."""
    parser = argparse.ArgumentParser(prog="python -m compiler_gym.integrations.mcp")
    parser.add_argument("env", help="the id of an environment with a reward")
    parser.add_argument("--benchmark", help="the program of a reset that names none")
    options = parser.parse_args(arguments)
    kwargs = {} if options.benchmark is None else {"benchmark": options.benchmark}
    session = AgentSession(options.env, **kwargs)
    try:
        make_server(session).run()
    finally:
        session.close()


if __name__ == "__main__":
    main()

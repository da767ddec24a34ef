# SPDX-License-Identifier: MIT
"""The record of an episode, and the replay of one.

The functions call the public methods of an environment, so they go through its wrappers.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from compiler_gym.core.programs import Programs
from compiler_gym.core.selection import Selection
from compiler_gym.core.state import CompilerEnvState, StateVersionWarning, require_state
from compiler_gym.errors import InvalidActionError, UnknownNameError, warn_of_the_caller

if TYPE_CHECKING:
    from compiler_gym.core.env import CompilerEnv


@dataclass(slots=True)
class History:
    """One episode, from its reset to its end."""

    action_space: str
    """The name of the action space at the reset."""
    benchmark: str
    """The URI of the program."""
    actions: list[Any] = field(default_factory=list[Any])
    """The plain values of the actions applied, in order."""
    reward: float | None = None
    """The sum of the rewards of the environment's reward space."""
    started: float = field(default_factory=time.monotonic)
    running: bool = True
    """False after the compiler ended the episode, or failed."""
    concluded: bool = False
    """True if the compiler ended the episode: its program can still be observed."""

    @property
    def walltime(self) -> float:
        """Seconds since the reset."""
        return time.monotonic() - self.started

    def earn(self, reward: float | list[float] | None) -> None:
        """Add the reward of a step, or the sum of several; None adds nothing."""
        if reward is not None:
            earned = sum(reward) if isinstance(reward, list) else reward
            self.reward = earned + (self.reward or 0.0)

    def copy(self) -> "History":
        """Return an independent copy."""
        return History(
            action_space=self.action_space,
            benchmark=self.benchmark,
            actions=list(self.actions),
            reward=self.reward,
            started=self.started,
            running=self.running,
            concluded=self.concluded,
        )


def apply(env: "CompilerEnv", state: CompilerEnvState, programs: Programs) -> None:
    """Reset `env` to the program of `state` and apply its command line; see `CompilerEnv.apply`."""
    require_state(state)
    if state.compiler_version not in (None, env.compiler_version):
        warn_of_the_caller(
            f"this state was recorded with version {state.compiler_version} of the compiler and is "
            f"replayed with {env.compiler_version}: the program and the reward may differ",
            StateVersionWarning,
        )
    actions = env.actions_from(state)
    env.reset(
        benchmark=programs.find_given(state.benchmark, env.episode.program) or state.benchmark
    )
    if not actions:
        return
    *_, truncated, info = env.multistep(actions)
    if truncated and "error" in info:
        raise info["error"]


def read_actions(
    state: CompilerEnvState, selection: Selection, read: Callable[[str], list[Any]]
) -> list[Any]:
    """Choose the action space of `state` and return its actions.

    Args:
        state: The state. If it names no action space, the chosen one is tried first, then the
            others.
        selection: The spaces of the environment.
        read: Turns a command line into actions of the chosen space.

    Raises:
        InvalidActionError, UnknownNameError: The command line belongs to no action space.
    """
    initial = selection.action_space_name
    if state.action_space is not None:
        if state.action_space != initial:
            selection.choose_actions(state.action_space)
        return read(state.commandline)
    try:
        return read(state.commandline)
    except (InvalidActionError, UnknownNameError) as error:
        for name in selection.action_specs:
            selection.choose_actions(name)
            try:
                return read(state.commandline)
            except (AttributeError, InvalidActionError, UnknownNameError):
                continue
        selection.choose_actions(initial)
        raise error


def resume(env: "CompilerEnv") -> None:
    """Begin an episode if there is none; after `close`, apply the actions before it again.

    Nothing happens if an episode is under way, or if no program is chosen.
    """
    if env.episode.history is not None or env.benchmark is None:
        return
    actions = env.actions if env.episode.closed_actions else []
    env.reset(benchmark=env.benchmark)  # explicit, so that wrappers do not choose another program
    if actions:
        env.multistep(actions)

# SPDX-License-Identifier: MIT
"""Bring an environment to a recorded state, or back to where `close` ended its episode.

These functions call the public methods of an environment, so they go through its wrappers.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from compiler_gym.core.programs import Programs
from compiler_gym.core.selection import Selection
from compiler_gym.core.state import CompilerEnvState, StateVersionWarning, require_state
from compiler_gym.errors import InvalidActionError, UnknownNameError, warn_of_the_caller

if TYPE_CHECKING:
    from compiler_gym.core.env import CompilerEnv

__all__ = ["apply", "read_actions", "resume"]


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

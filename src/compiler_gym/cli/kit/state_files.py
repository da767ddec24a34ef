# SPDX-License-Identifier: MIT
"""Reads state arguments, and makes the environments that replay them."""

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from compiler_gym.cli.kit.options import make_arguments
from compiler_gym.registration import default_environment, make

if TYPE_CHECKING:
    from compiler_gym.core import CompilerEnv, CompilerEnvState
    from compiler_gym.errors import StateFileError
    from compiler_gym.options import Limits

__all__ = ["RewardName", "StateFiles", "StatesEnvName", "env_for", "program_name", "read_states"]

StateFiles = Annotated[
    list[str],
    typer.Argument(help="Files with states (CSV or JSON lines): paths, https:// addresses or -."),
]
StatesEnvName = Annotated[
    str | None,
    typer.Option(
        "--env", help=f"The environment [default: the state's own, or {default_environment()}]."
    ),
]
RewardName = Annotated[
    str | None,
    typer.Option("--reward", help="Reward space for states that do not name one."),
]


def read_states(
    paths: Iterable[str],
) -> "tuple[list[CompilerEnvState], StateFileError | None]":
    """Return the states in files, and the error that stopped the reading, if any."""
    from compiler_gym.core import CompilerEnvStateReader
    from compiler_gym.errors import StateFileError

    states: list[CompilerEnvState] = []
    try:
        states.extend(CompilerEnvStateReader.read_paths(paths))
    except StateFileError as error:
        return states, error
    return states, None


def env_for(
    environment: str | None, env: str | None, reward: str | None, limits: "Limits | None" = None
) -> "Callable[[], CompilerEnv]":
    """Return a function that makes the environment: the user's, the state's or the default."""
    options: dict[str, Any] = {} if reward is None else {"reward_space": reward}
    return lambda: make(
        env or environment or default_environment(), **make_arguments(None, limits), **options
    )


def program_name(uri: str) -> str:
    """Return the address of a program without the scheme that most have."""
    return uri.removeprefix("benchmark://")

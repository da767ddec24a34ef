# SPDX-License-Identifier: MIT
"""Learning environments for RLlib's new API stack. Needs the extra ``ray``.

RLlib creates environments by name in its own processes, from plain settings; this module registers
the name and turns the settings into a recipe.
"""

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

import gymnasium

from compiler_gym.cli.kit.library import library
from compiler_gym.errors import InvalidParameterError
from compiler_gym.registration import make
from compiler_gym.tools.learn.integrations.learning import Recipe, plain_env
from compiler_gym.wrappers import RandomOrderBenchmarks

ENV_NAME = "compiler_gym"
"""The default name under which RLlib finds the environment."""


def rllib_env(config: Mapping[str, Any]) -> gymnasium.Env[Any, Any]:
    """Return the environment for the settings of an RLlib algorithm.

    The settings are the fields of `Recipe`, ``programs`` to draw from at every reset, and arguments
    of `make`.
    """
    fields = {field.name for field in dataclasses.fields(Recipe)}
    recipe = Recipe(**{name: value for name, value in config.items() if name in fields})
    arguments = {name: value for name, value in config.items() if name not in fields}
    programs = arguments.pop("programs", None)
    if programs is not None and (isinstance(programs, str) or not list(programs)):
        raise InvalidParameterError(f"programs must be a list of addresses (got {programs!r})")
    env: Any = make(recipe.env, **arguments)
    if programs is not None:
        env = RandomOrderBenchmarks(env, programs)
    return plain_env(recipe.wrap(env))


def register_rllib_env(name: str = ENV_NAME) -> str:
    """Register the environment with Ray as `name`, and return the name."""
    library("ray.tune", "ray").register_env(name, rllib_env)
    return name


def ppo_config(
    recipe: Recipe | None = None,
    *,
    programs: Sequence[str] = (),
    env_runners: int = 1,
    name: str = ENV_NAME,
    **arguments: Any,
) -> Any:
    """Return a ``PPOConfig`` that learns on `programs`; `arguments` are those of `make`.

    `env_runners` is the number of processes that step environments; 0 steps them in the learner's
    process. Refine the result as usual: ``ppo_config(...).training(lr=1e-3).build_algo()``.
    """
    if env_runners < 0:
        raise InvalidParameterError(f"env_runners must be at least 0 (got {env_runners})")
    ppo = library("ray.rllib.algorithms.ppo", "ray")
    settings = {**dataclasses.asdict(recipe or Recipe()), **arguments}
    if programs:
        settings["programs"] = list(programs)
    return (
        ppo.PPOConfig()
        .api_stack(enable_rl_module_and_learner=True, enable_env_runner_and_connector_v2=True)
        .environment(register_rllib_env(name), env_config=settings)
        .env_runners(num_env_runners=env_runners)
    )

# SPDX-License-Identifier: MIT
"""The flags that example scripts of CompilerGym 0.2.5 share, and the environment they select.

``absl`` is imported here, and only by scripts that import it themselves. Each old module defines
only its own flags, because scripts define others.
"""

from os import cpu_count
from typing import Any

from compiler_gym.errors import InvalidParameterError
from compiler_gym.registration import COMPILER_GYM_ENVS, make
from compiler_gym.wrappers import LegacyGym

__all__ = ["benchmark_from_flags", "define_flags", "env_from_flags"]

_OLD_ACTIONS = "CompilerGymV0"
_FLAGS: dict[str, dict[str, tuple[str, Any, str]]] = {
    "benchmark_from_flags": {
        "benchmark": ("string", None, "The URI of a program, such as cbench-v1/qsort."),
    },
    "env_from_flags": {
        "env": ("string", None, "The id of the environment, such as llvm-v0."),
        "observation": ("string", None, "The observation space."),
        "reward": ("string", None, "The reward space."),
        "ls_env": ("boolean", False, "List the environments and exit."),
    },
    "episode_length": {"episode_length": ("integer", 5, "Steps of an episode.")},
    "episodes": {"episodes": ("integer", 2000, "Episodes to run.")},
    "learning_rate": {"learning_rate": ("float", 0.008, "The learning rate.")},
    "nproc": {"nproc": ("integer", cpu_count(), "Processes or threads to run.")},
    "output_dir": {"output_dir": ("string", None, "The folder for results.")},
    "seed": {"seed": ("integer", None, "The seed of random choices.")},
}
"""The flags of each old module: their type, default and help."""


def define_flags(module: str) -> None:
    """Define the flags of ``compiler_gym.util.flags.<module>``."""
    from absl import flags

    for name, (kind, default, help) in _FLAGS.get(module, {}).items():
        getattr(flags, f"DEFINE_{kind}")(name, default, help)


def benchmark_from_flags() -> str | None:
    """Return the value of ``--benchmark``."""
    return _flag_values().benchmark or None


def env_from_flags(benchmark: Any = None) -> LegacyGym:
    """Return the environment of ``--env`` with the interface and the actions of 0.2.5.

    Raises `InvalidParameterError` without ``--env``.
    """
    values = _flag_values()
    if values.ls_env:
        print("\n".join(sorted(COMPILER_GYM_ENVS)))
        raise SystemExit(0)
    if not values.env:
        raise InvalidParameterError("no environment is chosen: use --env, such as --env=llvm-v0")
    env = make(values.env)
    if benchmark:
        env.benchmark = benchmark
    if _OLD_ACTIONS in env.episode.selection.action_specs:
        env.action_space = _OLD_ACTIONS
    if values.observation:
        env.observation_space = values.observation
    if values.reward:
        env.reward_space = values.reward
    return LegacyGym(env)


def _flag_values() -> Any:
    from absl import flags

    return flags.FLAGS

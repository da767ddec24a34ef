# SPDX-License-Identifier: MIT
"""The spaces and datasets of an environment as plain values, for a terminal, JSON and pages."""

from typing import Any

from compiler_gym.core.env import CompilerEnv
from compiler_gym.spaces import (
    action_descriptions,
    action_flags,
    action_names,
    action_parts,
    space_kind,
    space_name,
)


def describe(id: str, env: CompilerEnv) -> dict[str, Any]:
    """Return the actions, observations, rewards and datasets of the environment called `id`."""
    return {
        "id": id,
        "compiler_version": env.compiler_version,
        "about": _first_lines(type(env).__doc__),
        "action_spaces": [_action_space(space) for space in env.action_spaces],
        "observation_spaces": [
            {
                "name": spec.id,
                "space": str(spec.space),
                "kind": space_kind(spec.space),
                "description": spec.description,
                "deterministic": spec.deterministic,
                "platform_dependent": spec.platform_dependent,
            }
            for spec in env.observation.spaces.values()
        ],
        "reward_spaces": [
            {
                "name": reward.name,
                "description": _first_lines(type(reward).__doc__),
                "observations": list(reward.observation_spaces),
                "deterministic": reward.deterministic,
                "platform_dependent": reward.platform_dependent,
            }
            for reward in env.reward.spaces.values()
        ],
        "datasets": [
            {
                "name": dataset.name,
                "programs": dataset.size,
                "description": dataset.description,
                "license": dataset.license,
                "installed": dataset.installed,
            }
            for dataset in env.datasets.datasets(with_deprecated=True)
        ],
    }


def _action_space(space: Any) -> dict[str, Any]:
    parts = action_names(space), action_flags(space), action_descriptions(space)
    return {
        "name": space_name(space) or str(space),
        "space": repr(space),
        "kind": space_kind(space),
        "actions": [
            {"index": i, "name": name, "flag": flag, "description": description}
            for i, (name, flag, description) in enumerate(zip(*parts, strict=True))
        ],
        "parts": [part._asdict() for part in action_parts(space)],
    }


def _first_lines(docstring: str | None) -> str:
    """Return the first paragraph."""
    return " ".join((docstring or "").strip().partition("\n\n")[0].split())

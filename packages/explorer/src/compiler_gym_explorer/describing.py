# SPDX-License-Identifier: MIT
"""Descriptions of environments, available without a session."""

from typing import Any, cast

import gymnasium
import msgspec

from compiler_gym.core import CompilerEnv, Panes, describe, runs_program
from compiler_gym.registration import compilers, find_compiler, recommend_reward
from compiler_gym.spaces import to_plain
from compiler_gym_explorer import records
from compiler_gym_explorer.shapes import describe_shape

__all__ = ["describe_action_space", "describe_environment", "environment_names", "format_names"]


def environment_names() -> list[records.EnvironmentName]:
    """Return every registered environment, without starting a compiler."""
    return [
        records.EnvironmentName(
            id=environment.id,
            compiler=compiler.name,
            description=compiler.description,
            observation=environment.kwargs.get("observation_space"),
            reward=environment.kwargs.get("reward_space"),
            formats=format_names(environment.id),
        )
        for compiler in compilers().values()
        for environment in compiler.environments
    ]


def format_names(id: str) -> list[records.Format]:
    """Return the text formats that the environment `id` reads."""
    compiler = find_compiler(id)
    formats = () if compiler is None else compiler.formats
    return [records.Format(name=f.name, suffixes=list(f.suffixes)) for f in formats if f.is_text]


def _observation(row: dict[str, Any], *, runs_program: bool) -> records.Observation:
    """Return the record of an observation space from a row of `describe`."""
    fields = {name: value for name, value in row.items() if name != "kind"}
    return records.Observation(**fields, runs_program=runs_program)


def describe_environment(id: str, env: CompilerEnv) -> records.Environment:
    """Return the description of the environment `id`: its spaces, datasets, costs and views."""
    plain = describe(id, env)
    panes, available = env.panes, set(env.observation)
    running = panes.running
    spaces = [
        msgspec.structs.replace(
            describe_action_space(env, space, described),
            settings=_has_settings(env, described["name"]),
        )
        for space, described in zip(env.action_spaces, plain["action_spaces"], strict=True)
    ]
    return records.Environment(
        id=id,
        compiler_version=plain["compiler_version"],
        about=plain["about"],
        action_spaces=spaces,
        observation_spaces=[
            _observation(row, runs_program=runs_program(env, row["name"]))
            for row in plain["observation_spaces"]
        ],
        reward_spaces=[
            records.Reward(
                **row, runs_program=any(runs_program(env, o) for o in row["observations"])
            )
            for row in plain["reward_spaces"]
        ],
        datasets=[
            msgspec.structs.replace(records.Dataset(**row), programs=row["programs"] or None)
            for row in plain["datasets"]
        ],
        default_benchmark=env.default_benchmark,
        default_reward=recommend_reward(id, env),
        formats=format_names(id),
        language=panes.text.listing.language if panes.text else "text",
        text_title=panes.text.title if panes.text else "",
        assembly_title=panes.assembly.title if panes.assembly else "",
        has_text=panes.text is not None and panes.text.observation in available,
        has_assembly=panes.assembly is not None and panes.assembly.observation in available,
        costs=_cost_records(panes, available, running),
        vectors=[
            records.Vector(name=name, labels=list(labels))
            for name, labels in panes.vectors.items()
            if name in available
        ],
        graphs=[
            records.GraphKind(kind=pane.kind, title=pane.title, of_function=pane.of_function)
            for pane in panes.graphs
            if available.issuperset(pane.observations)
        ],
    )


def describe_action_space(
    env: CompilerEnv, space: Any, plain: dict[str, Any]
) -> records.ActionSpace:
    """Return the record of an action space from a row of `describe`."""
    is_several = isinstance(space, gymnasium.spaces.MultiDiscrete)
    shape: list[int] = to_plain(cast(Any, space).nvec.ravel()) if is_several else []
    return records.ActionSpace(
        name=plain["name"],
        space=plain["space"][:2000],
        actions=[records.Action(**row) for row in plain["actions"]],
        parts=[records.ActionPart(**row) for row in plain["parts"]],
        shape=shape,
        form=describe_shape(space),
        settings=False,
    )


def _has_settings(env: CompilerEnv, name: str) -> bool:
    spec = env.episode.selection.action_specs.get(name)
    return spec is not None and bool(spec.sets)


def _cost_records(panes: Panes, available: set[str], running: frozenset[str]) -> list[records.Cost]:
    return [
        records.Cost(
            name=pane.observation,
            title=pane.title,
            unit=pane.unit,
            at_once=pane.at_once,
            runs_program=pane.observation in running,
            baselines=[
                records.Baseline(title=title, observation=name)
                for title, name in pane.baselines.items()
                if name in available
            ],
        )
        for pane in panes.costs
        if pane.observation in available
    ]

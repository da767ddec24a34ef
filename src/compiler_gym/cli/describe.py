# SPDX-License-Identifier: MIT
"""``compiler-gym describe``."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from compiler_gym.cli._output import Json, output, print_json, table

if TYPE_CHECKING:
    from compiler_gym.core import CompilerEnv

__all__ = ["describe"]

_SHOWN = 12


def describe(
    env: Annotated[str, typer.Argument(help="The environment; see `compiler-gym envs`.")],
    actions: Annotated[
        bool, typer.Option("--actions", help="List every action, not the first few.")
    ] = False,
    json: Json = False,
) -> None:
    """Show what an environment offers: actions, observations, rewards and datasets."""
    from compiler_gym.registration import make

    with make(env) as made:
        description = _description(env, made)
    if json:
        print_json(description)
    else:
        _show(description, every_action=actions)


def _description(id: str, env: "CompilerEnv") -> dict[str, Any]:
    return {
        "id": id,
        "compiler_version": env.compiler_version,
        "about": _first_lines(type(env).__doc__),
        "action_spaces": [_action_space(space) for space in env.action_spaces],
        "observation_spaces": [
            {
                "name": spec.id,
                "space": str(spec.space),
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
    from compiler_gym.spaces import action_descriptions, action_flags, action_names, space_name

    parts = action_names(space), action_flags(space), action_descriptions(space)
    return {
        "name": space_name(space) or str(space),
        "space": repr(space),
        "actions": [
            {"index": i, "name": name, "flag": flag, "description": description}
            for i, (name, flag, description) in enumerate(zip(*parts, strict=True))
        ],
    }


def _show(description: dict[str, Any], *, every_action: bool) -> None:
    console = output()
    console.print(f"[bold]{description['id']}[/]  (compiler {description['compiler_version']})")
    console.print(description["about"])
    spaces = table("Action space", "Actions", right=("Actions",))
    for space in description["action_spaces"]:
        spaces.add_row(space["name"], str(len(space["actions"]) or _short(space["space"])))
    console.print(spaces)
    for space in description["action_spaces"] if every_action else description["action_spaces"][:1]:
        _show_actions(space, every_action=every_action)
    rows = table("Observation", "Space", "Description")
    for spec in description["observation_spaces"]:
        rows.add_row(spec["name"], _short(spec["space"]), spec["description"])
    console.print(rows)
    rows = table("Reward", "Of", "Description")
    for reward in description["reward_spaces"]:
        rows.add_row(reward["name"], ", ".join(reward["observations"]), reward["description"])
    console.print(rows)
    rows = table("Dataset", "Programs", "Description", right=("Programs",))
    for dataset in description["datasets"]:
        rows.add_row(dataset["name"], str(dataset["programs"] or "-"), dataset["description"])
    console.print(rows)


def _show_actions(space: dict[str, Any], *, every_action: bool) -> None:
    listed = space["actions"] if every_action else space["actions"][:_SHOWN]
    if not listed:
        return
    rows = table("#", "Action", "Description", title=f"Actions of {space['name']}", right=("#",))
    for action in listed:
        rows.add_row(str(action["index"]), action["name"], action["description"])
    output().print(rows)
    rest = len(space["actions"]) - len(listed)
    if rest:
        output().print(f"[dim]... and {rest} more: add --actions[/]")


def _first_lines(docstring: str | None) -> str:
    """Return the first paragraph."""
    return " ".join((docstring or "").strip().partition("\n\n")[0].split())


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 40 else f"{line[:37]}..."

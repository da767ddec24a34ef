# SPDX-License-Identifier: MIT
"""``compiler-gym envs``."""

from compiler_gym.cli._output import Json, output, print_json, table

__all__ = ["envs"]


def envs(json: Json = False) -> None:
    """List the environments."""
    from compiler_gym.registration import compilers, default_environment

    listed = [
        {
            "id": environment.id,
            "compiler": compiler.name,
            "description": compiler.description,
            "observation_space": environment.kwargs.get("observation_space"),
            "reward_space": environment.kwargs.get("reward_space"),
        }
        for compiler in compilers().values()
        for environment in compiler.environments
    ]
    if json:
        print_json({"environments": listed})
        return
    rows = table("Environment", "Observation", "Reward", "What it does")
    for env in listed:
        rows.add_row(
            env["id"],
            env["observation_space"] or "[dim]set your own[/]",
            env["reward_space"] or "[dim]set your own[/]",
            env["description"],
        )
    output().print(rows)
    output().print(f"Use one: [bold]compiler-gym describe {default_environment()}[/]")

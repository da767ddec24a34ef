# SPDX-License-Identifier: MIT
"""``compiler-gym envs``."""

from compiler_gym.cli.kit.output import Json, heading, output, print_json, show, style_text, table


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
    for description in dict.fromkeys(env["description"] for env in listed):
        names = ("Environment", "Observation", "Reward")
        rows = table(*names, typed=names, title=description)
        for env in listed:
            if env["description"] == description:
                spaces = (env["observation_space"], env["reward_space"])
                rows.add_row(
                    env["id"], *(name or style_text("set your own", "dim") for name in spaces)
                )
        show(rows)
    output().print("Show one with:", heading(f"compiler-gym describe {default_environment()}"))

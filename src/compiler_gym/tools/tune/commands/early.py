# SPDX-License-Identifier: MIT
"""Run ``compiler-gym cc`` with a plan, a recipe or a policy without loading Typer."""

__all__ = ["serve"]


def serve(words: list[str]) -> int | None:
    """Run the call `words`, or return its exit status; None means that Typer must handle it."""
    if len(words) < 3:
        return None
    if words[1] == "--plan":
        from compiler_gym.tools.tune.commands.driver import become_driver

        become_driver(words)
    elif words[1] in ("--recipe", "--policy"):
        from compiler_gym.tools.tune.commands.policies import run_known_policy, run_known_recipe

        run = run_known_recipe if words[1] == "--recipe" else run_known_policy
        return run(words[0], words[2], words[3:])
    elif not words[1].startswith("--"):
        from compiler_gym.tools.tune.commands.policies import is_by_rustc, run_for_rust

        return run_for_rust(words[0], words[1:]) if is_by_rustc(words) else None
    return None

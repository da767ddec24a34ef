# SPDX-License-Identifier: MIT
"""What ``compiler-gym cc --policy`` does with a call: units are compiled by a recipe, and what is
linked is linked by the plan that the policy chooses for it.

Only a link loads more than a recipe does. What a build links to ask a question is linked by the
recipe alone: nobody keeps it.
"""

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from compiler_gym.builds import CompilerCommand, Mode
from compiler_gym.tools.tune.commands.recipes import (
    parse_command,
    run_known_compiler,
    run_with_recipe,
    tell,
)

if TYPE_CHECKING:
    from compiler_gym.tools.tune import BinaryPlan

__all__ = [
    "policy_file",
    "policy_files",
    "policy_named",
    "run_known_policy",
    "run_known_recipe",
    "run_with_policy",
]

_ONCE = "--no-never-larger"
_CHECKED = "--never-larger"


def run_known_policy(verb: str, name: str, arguments: Sequence[str]) -> int | None:
    """Do what a call asks for, and return the status; do nothing where too little is known yet."""
    is_checked, own = _own(arguments)
    command = parse_command(verb, own)
    if _is_linked_by_plan(command) and (policy := policy_file(name)) is not None:
        compiler = next((name for name, files in _list_shipped().items() if policy in files), None)
        status = _link_by(verb, policy, command, compiler, is_checked=is_checked)
        if status is not None:
            return status
    return run_known_compiler(verb, "", own, kept_as=_name_kept(name))


def run_with_policy(verb: str, name: str, arguments: Sequence[str]) -> int:
    """Do what a call asks for by the recipe of the policy `name`, and return the status.

    Raises `UnknownNameError` for a policy that there is not, and `PlanError` for a file that is
    none.
    """
    recipe = _name_recipe(name)
    return run_with_recipe(verb, recipe, _own(arguments)[1], kept_as=_name_kept(name))


def run_known_recipe(verb: str, name: str, arguments: Sequence[str]) -> int | None:
    """Do what a call asks for, and return the status; do nothing where too little is known yet.

    What is compiled and linked in one call is taken apart, so that each source is compiled as `-c`
    does.
    """
    command = parse_command(verb, arguments)
    if command.sources and _is_linked_by_plan(command):
        from compiler_gym.errors import CompilerGymError
        from compiler_gym.tools.tune import recipe_named

        with contextlib.suppress(CompilerGymError):  # the next attempt says why
            recipe = recipe_named(name)
            compiler = recipe.compiler.partition(" ")[0]
            status = _link_by(verb, recipe.plan, command, compiler, is_checked=False)
            if status is not None:
                return status
    return run_known_compiler(verb, name, arguments)


def policy_files() -> dict[str, Path]:
    """Return the files of the policies of every installed compiler, by name."""
    return {file.stem: file for files in _list_shipped().values() for file in files}


def _list_shipped() -> dict[str, list[Path]]:
    """Return the files of the policies that each compiler ships."""
    from importlib.resources import as_file, files

    from compiler_gym.lazy import parts

    found: dict[str, list[Path]] = {}
    for compiler, entry in parts("policies").items():
        with as_file(files(entry.load())) as path:
            found[compiler] = sorted(path.glob("*.json"))
    return found


def policy_file(name: str) -> Path | None:
    """Return the file of a policy, by its name or its own path; None where there is none."""
    return Path(name) if name.endswith(".json") else policy_files().get(name)


def policy_named(name: str) -> Path:
    """Return the file of the policy `name`; raise `UnknownNameError` with the names there are."""
    from compiler_gym.errors import UnknownNameError, unknown_name

    path = policy_file(name)
    if path is None:
        raise UnknownNameError(unknown_name("policy", name, policy_files()))
    return path


def _own(arguments: Sequence[str]) -> tuple[bool, list[str]]:
    """Return whether the plain level is linked, too, and the arguments for the compiler."""
    if arguments[:1] and arguments[0] in (_ONCE, _CHECKED):
        return arguments[0] == _CHECKED, list(arguments[1:])
    return True, list(arguments)


def _is_linked_by_plan(command: CompilerCommand) -> bool:
    """Return whether `command` links what somebody keeps, with a linker that follows a plan."""
    return (
        command.mode is Mode.PROGRAM
        and not any(word in ("--", "-r") for word in command.words)
        and not (command.is_set_apart or command.is_question or command.other_linker)
    )


def _link_by(
    verb: str,
    chosen_by: "Path | BinaryPlan",
    command: CompilerCommand,
    compiler: str | None = None,
    *,
    is_checked: bool,
) -> int | None:
    """Link by a policy or a plan; return None, and have done nothing, where it has no say."""
    from compiler_gym.lazy import part

    def say(text: str) -> None:
        tell(verb, text)

    try:
        policies = part("policies", compiler)
        status: int | None = policies.link(chosen_by, command, is_checked=is_checked, say=say)
    except Exception as error:  # the build must go on, whatever this is
        tell(verb, f"linked by the recipe: {type(error).__name__}: {error}")
        return None
    return status if status is None or status >= 0 else 128 - status


def _name_recipe(name: str) -> str:
    import json

    from compiler_gym.errors import PlanError

    path = policy_named(name)
    try:
        return str(json.loads(path.read_bytes())["recipe"])
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise PlanError(f"cannot read the policy {path}: {error}") from error


def _name_kept(name: str) -> str:
    return f"policy {os.path.abspath(name) if name.endswith('.json') else name}"

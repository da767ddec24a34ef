# SPDX-License-Identifier: MIT
"""Run ``compiler-gym cc --policy``: compile with a recipe, and link with the plan that the policy
chooses.

Only linking loads more modules than a recipe does. Programs that a build links only to test the
compiler are linked with the recipe.
"""

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from compiler_gym.builds import RUST_OBJECT, CompilerCommand, Mode
from compiler_gym.tools.tune.commands.recipes import (
    parse_command,
    run_known_compiler,
    run_with_recipe,
    tell,
)

if TYPE_CHECKING:
    from compiler_gym.tools.tune import BinaryPlan

__all__ = [
    "is_by_rustc",
    "policy_file",
    "policy_files",
    "policy_named",
    "run_for_rust",
    "run_known_policy",
    "run_known_recipe",
    "run_with_policy",
]

_ONCE = "--no-never-larger"
_CHECKED = "--never-larger"
_OLD_LOADERS = "--old-loaders"
_MINSIZE = "--minsize"
_NO_PLUGIN = "--no-plugin"
_OWN = (_ONCE, _CHECKED, _OLD_LOADERS, _MINSIZE, _NO_PLUGIN)
_FOR_RUST = "size"
"""The policy for rustc, which cannot pass an option in front of its own."""


def run_known_policy(verb: str, name: str, arguments: Sequence[str]) -> int | None:
    """Run a call, and return its exit status; return None if its templates are not cached."""
    own, compiler_arguments = _split_arguments(arguments)
    command = parse_command(verb, compiler_arguments)
    if _is_linked_by_plan(command) and (policy := policy_file(name)) is not None:
        compiler = next((name for name, files in _list_shipped().items() if policy in files), None)
        status = _link_with(
            verb, policy, command, compiler, is_checked=_ONCE not in own,
            is_packed=_OLD_LOADERS not in own, is_minsize=_MINSIZE in own,
            is_plugged=_NO_PLUGIN not in own,
        )  # fmt: skip
        if status is not None:
            return status
    return run_known_compiler(verb, "", compiler_arguments, kept_as=_name_kept(name))


def run_for_rust(verb: str, arguments: Sequence[str]) -> int:
    """Link for rustc with the policy for it, and return the exit status."""
    status = run_known_policy(verb, _FOR_RUST, arguments)
    return run_with_policy(verb, _FOR_RUST, arguments) if status is None else status


def run_with_policy(verb: str, name: str, arguments: Sequence[str]) -> int:
    """Run a call with the recipe of the policy `name`, and return the exit status.

    Raises `UnknownNameError` for an unknown policy, and `PlanError` for a file that is not a
    policy.
    """
    recipe = _name_recipe(name)
    return run_with_recipe(verb, recipe, _split_arguments(arguments)[1], kept_as=_name_kept(name))


def run_known_recipe(verb: str, name: str, arguments: Sequence[str]) -> int | None:
    """Run a call, and return its exit status; return None if its templates are not cached.

    A call that compiles and links is split, so that each source is compiled as with `-c`.
    """
    command = parse_command(verb, arguments)
    if command.sources and _is_linked_by_plan(command):
        from compiler_gym.errors import CompilerGymError
        from compiler_gym.tools.tune import recipe_named

        with contextlib.suppress(CompilerGymError):  # run_known_compiler below reports the error
            recipe = recipe_named(name)
            compiler = recipe.compiler.partition(" ")[0]
            status = _link_with(
                verb, recipe.plan, command, compiler, is_checked=False, is_packed=False
            )
            if status is not None:
                return status
    return run_known_compiler(verb, name, arguments)


def is_by_rustc(arguments: Sequence[str]) -> bool:
    """Return whether rustc calls its linker with `arguments`."""
    return any(word.endswith(RUST_OBJECT) for word in arguments)


def policy_files() -> dict[str, Path]:
    """Return the policy files of all installed compilers, by name."""
    return {file.stem: file for files in _list_shipped().values() for file in files}


def _list_shipped() -> dict[str, list[Path]]:
    """Return the policy files by compiler."""
    from importlib.resources import as_file, files

    from compiler_gym.lazy import parts

    shipped: dict[str, list[Path]] = {}
    for compiler, entry in parts("policies").items():
        with as_file(files(entry.load())) as path:
            shipped[compiler] = sorted(path.glob("*.json"))
    return shipped


def policy_file(name: str) -> Path | None:
    """Return the file of the policy with this name or path; None if the name is unknown."""
    return Path(name) if name.endswith(".json") else policy_files().get(name)


def policy_named(name: str) -> Path:
    """Return the file of the policy `name`; raise `UnknownNameError` with the known names."""
    from compiler_gym.errors import UnknownNameError, unknown_name

    path = policy_file(name)
    if path is None:
        raise UnknownNameError(unknown_name("policy", name, policy_files()))
    return path


def _split_arguments(arguments: Sequence[str]) -> tuple[Sequence[str], Sequence[str]]:
    """Return our own options, and the compiler's arguments.

    Our options come first, except in calls by rustc.
    """
    if is_by_rustc(arguments):
        own = [word for word in arguments if word in _OWN]
        return own, [word for word in arguments if word not in own]
    count = next((n for n, word in enumerate(arguments) if word not in _OWN), len(arguments))
    return arguments[:count], arguments[count:]


def _is_linked_by_plan(command: CompilerCommand) -> bool:
    """Return whether `command` links a real program, with a linker that can apply a plan."""
    return (
        command.mode is Mode.PROGRAM
        and not any(word in ("--", "-r") for word in command.words)
        and not (command.is_set_apart or command.is_question or command.other_linker)
    )


def _link_with(
    verb: str,
    chosen_by: "Path | BinaryPlan",
    command: CompilerCommand,
    compiler: str | None = None,
    *,
    is_checked: bool,
    is_packed: bool,
    is_minsize: bool = False,
    is_plugged: bool = True,
) -> int | None:
    """Link with a policy or a plan; return None, without linking, if it does not apply."""
    from compiler_gym.lazy import part

    def say(text: str) -> None:
        tell(verb, text)

    try:
        policies = part("policies", compiler)
        status: int | None = policies.link(
            chosen_by, command, is_checked=is_checked, is_packed=is_packed,
            is_minsize=is_minsize, is_plugged=is_plugged, say=say,
        )  # fmt: skip
    except Exception as error:  # no error may stop the build
        tell(verb, f"linked with the recipe: {type(error).__name__}: {error}")
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

# SPDX-License-Identifier: MIT
"""What ``compiler-gym cc --policy`` does with a call: units are compiled by a recipe, and what is
linked is linked by the plan that the policy chooses for it.

Only a link loads more than a recipe does. What a build links to ask a question is linked by the
recipe alone: nobody keeps it.
"""

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from compiler_gym.builds import CompilerCommand, Mode
from compiler_gym.cli._recipes import become_known_compiler, words_with_recipe

__all__ = ["become_or_link", "policy_file", "policy_files", "policy_named", "words_of_policy"]

_ONCE = "--no-never-larger"
_CHECKED = "--never-larger"
_QUESTIONS = re.compile(r"conftest|cmTC_|meson-private|CMakeFiles|testfile|sanitycheck")
"""In the paths of what build systems link to find out about a compiler."""


def become_or_link(verb: str, name: str, arguments: Sequence[str]) -> None:
    """Do what a call asks for, and leave; return, and do nothing, where too little is known yet."""
    is_checked, own = _own(arguments)
    command = _links(verb, own)
    if command is not None and (policy := policy_file(name)) is not None:
        _link_by_policy(verb, policy, command, is_checked)
    become_known_compiler(verb, "", own, kept_as=_kept_as(name))


def words_of_policy(verb: str, name: str, arguments: Sequence[str]) -> list[str]:
    """Return the command by the recipe of the policy `name`, for a call with `arguments`.

    Raises `UnknownNameError` for a policy that there is not, and `PlanError` for a file that is
    none.
    """
    recipe = _recipe_of(name)
    return words_with_recipe(verb, recipe, _own(arguments)[1], kept_as=_kept_as(name))


def policy_files() -> dict[str, Path]:
    """Return the files of the policies of every installed compiler, by name."""
    from importlib.resources import as_file, files

    from compiler_gym.registration import compilers

    found: dict[str, Path] = {}
    for compiler in compilers().values():
        package, _, folder = compiler.policies.partition(":")
        if folder:
            with as_file(files(package).joinpath(folder)) as path:
                found |= {file.stem: file for file in sorted(path.glob("*.json"))}
    return found


def policy_file(name: str) -> Path | None:
    """Return the file of a policy, by its name or its own path; None where there is none."""
    return Path(name) if name.endswith(".json") else policy_files().get(name)


def policy_named(name: str) -> Path:
    """Return the file of the policy `name`; raise `UnknownNameError` with the names there are."""
    from compiler_gym.errors import UnknownNameError
    from compiler_gym.nearest import unknown_name

    path = policy_file(name)
    if path is None:
        raise UnknownNameError(unknown_name("policy", name, policy_files()))
    return path


def _own(arguments: Sequence[str]) -> tuple[bool, list[str]]:
    """Return whether the plain level is linked, too, and the arguments for the compiler."""
    if arguments[:1] and arguments[0] in (_ONCE, _CHECKED):
        return arguments[0] == _CHECKED, list(arguments[1:])
    return True, list(arguments)


def _links(verb: str, arguments: Sequence[str]) -> CompilerCommand | None:
    """Return the command of a call that links what somebody keeps."""
    if "--" in arguments or "-r" in arguments:
        return None
    command = CompilerCommand.parse(["cc" if verb == "cc" else "c++", *arguments], Path.cwd())
    if (
        command.is_set_apart
        or command.mode is not Mode.PROGRAM
        or _QUESTIONS.search(f"{command.output} {command.cwd}")
    ):
        return None
    return command


def _link_by_policy(verb: str, policy: Path, command: CompilerCommand, is_checked: bool) -> None:
    """Link by the policy, and leave; return, and have done nothing, where it has no say."""
    from compiler_gym.lazy import named
    from compiler_gym.registration import compilers

    def say(text: str) -> None:
        _tell(verb, text)

    linker = next(one.policy_linker for one in compilers().values() if one.policy_linker)
    try:
        status = named(linker)(policy, command, is_checked=is_checked, say=say)
    except Exception as error:  # the build must go on, whatever this is
        _tell(verb, f"linked by the recipe: {type(error).__name__}: {error}")
        return
    if status is not None:
        sys.exit(status if status >= 0 else 128 - status)


def _recipe_of(name: str) -> str:
    import json

    from compiler_gym.errors import PlanError

    path = policy_named(name)
    try:
        return str(json.loads(path.read_bytes())["recipe"])
    except (OSError, ValueError, LookupError, TypeError) as error:
        raise PlanError(f"cannot read the policy {path}: {error}") from error


def _kept_as(name: str) -> str:
    return f"policy {os.path.abspath(name) if name.endswith('.json') else name}"


def _tell(verb: str, text: str) -> None:
    sys.stderr.write(f"compiler-gym {verb}: {text}\n")

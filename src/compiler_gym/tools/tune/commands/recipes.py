# SPDX-License-Identifier: MIT
"""Describe recipes and policies to the compiled driver, which adds their options to calls.

The driver asks once, and again when a file named in the answer changes. The answer consists of
lists of words; each word ends with a null character, and each list with an empty word.
"""

import os
import platform
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from compiler_gym.builds import SET_APART
from compiler_gym.errors import PlanError

if TYPE_CHECKING:
    from compiler_gym.tools.tune import BinaryPlan

__all__ = ["describe_recipe", "policy_file", "policy_files", "policy_named"]


def describe_recipe(kind: str, name: str) -> bytes:
    """Return the description of a ``recipe`` or a ``policy``, its name or file.

    Raises `UnknownNameError` if there is none of this name, and `PlanError` if its file is damaged
    or for another machine.
    """
    from compiler_gym.lazy import part
    from compiler_gym.tools.tune import recipe_files, recipe_named

    policies = part("policies")
    if kind == "policy":
        file = policy_named(name)
        policy = policies.read_policy(file)
        # Links are native, so the choice cannot depend on the program: it is made for an average
        # one.
        plan: BinaryPlan = policy.rank_plans(policy.centre)[0]
        machine = policy.machine
    else:
        recipe = recipe_named(name)
        file = next(file for file in recipe_files() if file.stem == name)
        plan, machine = recipe.plan, recipe.known.machine
    if machine != platform.machine():
        raise PlanError(
            f"the {kind} {name} is for {machine}, but this machine is {platform.machine()}: search "
            "for decisions with `compiler-gym tune`"
        )
    compiler, linker, *added = policies.describe_plan(plan, is_packed=kind == "policy")
    known = [str(file), *(word for word in (*compiler, *linker, *added[4]) if Path(word).is_file())]
    lists: list[Sequence[str]] = [[*_identify(known)], compiler, linker, SET_APART, *added]
    return os.fsencode("".join(f"{word}\0" for each in lists for word in (*each, "")))


def policy_files() -> dict[str, Path]:
    """Return the policy files of all installed compilers, by name."""
    from importlib.resources import as_file, files

    from compiler_gym.lazy import parts

    shipped: dict[str, Path] = {}
    for entry in parts("policies").values():
        with as_file(files(entry.load())) as path:
            shipped |= {file.stem: file for file in sorted(path.glob("*.json"))}
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


def _identify(files: Sequence[str]) -> Iterator[str]:
    """Yield each file, followed by text that changes when it is replaced or written."""
    for name in files:
        status = os.stat(name)
        times = (
            part for ns in (status.st_mtime_ns, status.st_ctime_ns) for part in divmod(ns, 10**9)
        )
        facts = (status.st_dev, status.st_ino, status.st_size, *times)
        yield name
        yield "".join(f"{fact} " for fact in facts)

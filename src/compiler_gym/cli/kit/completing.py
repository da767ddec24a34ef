# SPDX-License-Identifier: MIT
"""Completes values with the Tab key: environments, programs, actions, rewards, algorithms.

A shell starts a separate process for each completion. Without an answer it offers files, so errors
are ignored; nothing is downloaded.
"""

import hashlib
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from functools import partial
from inspect import isfunction
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from compiler_gym.files import cache_path, write_whole
from compiler_gym.lazy import load_named
from compiler_gym.version import __version__

if TYPE_CHECKING:
    from compiler_gym.core import CompilerEnv

__all__ = [
    "action_spaces",
    "actions",
    "algorithms",
    "complete_by_name",
    "datasets",
    "environments",
    "observations",
    "programs",
    "rewards",
]

_MOST = 500

_FRESH_SECONDS = 60.0
_Names = Callable[[typer.Context, str], Iterable[str]]
_Answer = Callable[[typer.Context, str], list[str]]
_Read = Callable[["CompilerEnv"], Iterable[str]]


def _answer(names: _Names) -> _Answer:
    """Return the function for Typer: it returns the names that begin with the given text."""

    def complete_answer(ctx: typer.Context, incomplete: str) -> list[str]:
        with suppress(Exception):
            matches = (name for name in names(ctx, incomplete) if name.startswith(incomplete))
            return list(islice(matches, _MOST))
        return []

    complete_answer.__doc__ = names.__doc__
    return complete_answer


def _of_environment(read: "_Read") -> _Answer:
    """Return an answer that is read from the environment in the command line."""

    def complete_name(ctx: typer.Context, incomplete: str) -> Iterable[str]:
        return _ask(ctx, read.__name__, read)

    complete_name.__doc__ = read.__doc__
    return _answer(complete_name)


def _ask(ctx: typer.Context, question: str, read: "_Read") -> list[str]:
    """Return the names that `read` finds in the environment in the command line.

    To open an environment takes longer than a user waits for the Tab key, so that the last answer
    is kept. One that is not fresh is still returned, and replaced in the background.
    """
    env, space = ctx.params.get("env"), ctx.params.get("action_space")
    identity = repr((__version__, sys.prefix, env, space, question)).encode()
    path = cache_path("completions") / hashlib.sha256(identity).hexdigest()
    try:
        names, age = path.read_text().splitlines(), time.time() - path.stat().st_mtime
    except FileNotFoundError:
        return _ask_again(path, env, space, read)
    if age > _FRESH_SECONDS and not os.fork():
        try:
            os.setsid()
            for descriptor in range(3):  # the shell waits until no process can write to its pipe
                os.dup2(os.open(os.devnull, os.O_RDWR), descriptor)
            _ask_again(path, env, space, read)
        finally:
            os._exit(0)
    return names


def _ask_again(path: Path, id: str | None, action_space: str | None, read: "_Read") -> list[str]:
    """Return the names that `read` finds in a new environment, and store them at `path`."""
    from compiler_gym.registration import default_environment, make

    with make(id or default_environment()) as env:
        if action_space:
            env.action_space = action_space
        names = list(read(env))
    with suppress(OSError):
        write_whole(path, "\n".join(names).encode())
    return names


@_answer
def environments(ctx: typer.Context, incomplete: str) -> Iterable[str]:
    """Return the environments."""
    from compiler_gym.registration import compilers

    return [env.id for compiler in compilers().values() for env in compiler.environments]


@_answer
def algorithms(ctx: typer.Context, incomplete: str) -> Iterable[str]:
    """Return the algorithms of a search."""
    from compiler_gym.search import ALGORITHMS

    return ALGORITHMS


@_of_environment
def action_spaces(env: "CompilerEnv") -> Iterable[Any]:
    """Return the action spaces."""
    from compiler_gym.spaces import space_name

    return filter(None, map(space_name, env.action_spaces))


@_of_environment
def actions(env: "CompilerEnv") -> Iterable[str]:
    """Return the names of the actions, except those that a shell would interpret."""
    import shlex

    from compiler_gym.spaces import action_names

    return [name for name in action_names(env.action_space) if shlex.quote(name) == name]


@_of_environment
def rewards(env: "CompilerEnv") -> Iterable[str]:
    """Return the rewards."""
    return env.reward


@_of_environment
def observations(env: "CompilerEnv") -> Iterable[str]:
    """Return the observations."""
    return env.observation


@_of_environment
def datasets(env: "CompilerEnv") -> Iterable[str]:
    """Return the datasets."""
    return [_short(dataset.name) for dataset in env.datasets.datasets()]


@_answer
def programs(ctx: typer.Context, incomplete: str) -> Iterable[str]:
    """Return installed datasets, or the programs of the dataset that was typed."""
    dataset = incomplete.partition("/")[0]
    installed = _ask(ctx, "installed", _list_installed)
    if dataset not in installed:
        return [f"{name}/" for name in installed]
    return _ask(ctx, f"programs of {dataset}", partial(_list_programs, dataset))


def _list_installed(env: "CompilerEnv") -> list[str]:
    return [_short(dataset.name) for dataset in env.datasets.datasets() if dataset.installed]


def _list_programs(dataset: str, env: "CompilerEnv") -> Iterable[str]:
    return map(_short, islice(env.datasets[dataset].benchmark_uris(), _MOST))


def _values_at(owner: str) -> _Answer:
    """Return an answer with the values of an enumeration, of strings or of a function's result.

    `owner` is ``"package.module:name"``.
    """

    def values(ctx: typer.Context, incomplete: str) -> Iterable[str]:
        values_or_function = load_named(owner)
        values_or_function = (
            values_or_function() if isfunction(values_or_function) else values_or_function
        )
        return (str(getattr(value, "value", value)) for value in values_or_function)

    return _answer(values)


@_answer
def _compiler_names(ctx: typer.Context, incomplete: str) -> Iterable[str]:
    from compiler_gym.registration import compilers

    return compilers()


_BY_OPTION: dict[str, _Answer] = {
    "--action-space": action_spaces,
    "--algorithm": algorithms,
    "--benchmarks": programs,
    "--carrier": _values_at("compiler_gym.service.foreign:Carrier"),
    "--compiler": _compiler_names,
    "--corpus": programs,
    "--costs": observations,
    "--env": environments,
    "--observation": observations,
    "--observe": observations,
    "--reward": rewards,
    "--rewards": rewards,
    "--sandbox": _values_at("compiler_gym.sandbox:Sandbox"),
    "env": environments,
    "program": programs,
}
"""The Tab completion of options and arguments without their own."""


def complete_by_name(parameter: Any, completions: Mapping[str, str]) -> None:
    """Make the Tab key complete a parameter by its name, unless it has an answer or choices.

    `completions` are those of its command; see `compiler_gym.cli.kit.Row`.
    """
    answers = _BY_OPTION | {name: _values_at(owner) for name, owner in completions.items()}
    answer = next((answers[name] for name in parameter.opts if name in answers), None)
    has_answer = parameter._custom_shell_complete or parameter.type_descriptor.is_choice
    if answer is None or has_answer:
        return

    def complete(ctx: typer.Context, parameter: Any, incomplete: str) -> list[str]:
        return answer(ctx, incomplete)

    parameter._custom_shell_complete = complete


def _short(name: object) -> str:
    return str(name).removeprefix("benchmark://")

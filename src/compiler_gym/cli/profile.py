# SPDX-License-Identifier: MIT
"""``compiler-gym profile``."""

import random as random_numbers
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from compiler_gym.cli.kit.options import LimitOptions, make_arguments, spread
from compiler_gym.cli.kit.output import Json, errors, heading, output, print_json, show, table
from compiler_gym.cli.kit.programs import (
    DEFAULT_ENVIRONMENT,
    SUFFIXES,
    ActionSpaceName,
    find_program,
)
from compiler_gym.options import option

if TYPE_CHECKING:
    from rich.console import Console

    from compiler_gym.core import CompilerEnv, CompilerEnvState
    from compiler_gym.profiling import Layer, Profile

_ACTIONS = 100
"""Number of random actions if none are given."""
_UNITS = ((1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs"))


class ProfileFormat(StrEnum):
    """The format of a flame graph."""

    SPEEDSCOPE = "speedscope"
    FOLDED = "folded"


@dataclass(frozen=True, slots=True)
class _Steps:
    """The observations and the reward of each step."""

    observation: str | None = option(
        None, "Observation of each step; - for none [default: a learner's]"
    )
    reward: str | None = option(None, "Reward of each step; - for none [default: a learner's]")


@dataclass(frozen=True, slots=True)
class _Source:
    """The source of the actions if none are given."""

    state: str | None = option(None, "Use the actions of the first state in this file")
    random: int | None = option(None, f"Number of random actions [default: {_ACTIONS}]")
    seed: int = option(0, "Random seed for the actions")


@dataclass(frozen=True, slots=True)
class _FlameGraph:
    """The file and the format of a flame graph."""

    output: Path | None = option(None, "Write a flame graph to this file; - prints it")
    format: ProfileFormat = option(ProfileFormat.SPEEDSCOPE, "Output format: speedscope or folded")


@spread
def profile(
    program: Annotated[
        str | None,
        typer.Argument(help=f"A URI (cbench-v1/qsort), a path ({SUFFIXES}) or -."),
    ] = None,
    actions: Annotated[
        list[str] | None, typer.Argument(help="Names or numbers of actions, in order.")
    ] = None,
    env: Annotated[
        str | None,
        typer.Option(help=f"The environment [default: the state's, or {DEFAULT_ENVIRONMENT}]."),
    ] = None,
    action_space: ActionSpaceName = None,
    steps: _Steps = _Steps(),
    source: _Source = _Source(),
    top: Annotated[int, typer.Option(help="Maximum number of rows in a table.")] = 10,
    flame_graph: _FlameGraph = _FlameGraph(),
    limits: LimitOptions = None,
    json: Json = False,
) -> None:
    """Show where the time of an episode is spent.

    compiler-gym profile cbench-v1/qsort sroa instcombine gvn

    compiler-gym profile cbench-v1/jpeg-d --random 50 --output flame.json
    """
    from compiler_gym.profiling import profile as play
    from compiler_gym.registration import make
    from compiler_gym.spaces import find_actions

    recorded = _read_recorded(source.state, actions, source.random)
    if program is None and recorded is None:
        raise _refusal("no program is given", "name one, or use --state FILE")
    env_id = env or (recorded.environment if recorded else None) or DEFAULT_ENVIRONMENT
    spaces = _choose_spaces(env_id, steps)
    with make(env_id, **make_arguments(action_space, limits), **spaces) as environment:
        benchmark = find_program(environment, program or (recorded.benchmark if recorded else ""))
        if recorded is not None:
            chosen = environment.actions_from(recorded)
        elif actions:
            chosen = find_actions(environment.action_space, actions)
        else:
            chosen = _draw_actions(
                environment, _ACTIONS if source.random is None else source.random, source.seed
            )
        result = play(environment, chosen, benchmark=benchmark)
    printed = str(flame_graph.output) == "-"
    if flame_graph.output is not None:
        _write(result, flame_graph.format, flame_graph.output)
    if json and not printed:
        print_json({"environment": env_id, **result.to_json()})
    else:
        _show(result, env_id, top, errors() if printed else output())
    if result.error is not None:
        raise result.error


def _read_recorded(
    path: str | None, actions: list[str] | None, random: int | None
) -> "CompilerEnvState | None":
    """Return the state with the actions, if a file is given; other actions are then an error."""
    from compiler_gym.cli.kit.programs import read_states

    sources = [
        name
        for name, value in (
            ("actions", actions or None),
            ("--state", path),
            ("--random", random),
        )
        if value is not None
    ]
    if len(sources) > 1:
        raise _refusal(f"{' and '.join(sources)} cannot be combined", "use one of them")
    if random is not None and random < 0:
        raise _refusal(f"--random must be at least 0 (got {random})", "use another number")
    if path is None:
        return None
    states, error = read_states([path])
    if error is not None and not states:
        raise error
    if not states:
        raise _refusal(f"{path} has no states", "use another file")
    return states[0]


def _refusal(problem: str, remedy: str) -> Exception:
    from compiler_gym.errors import InvalidParameterError

    return InvalidParameterError(f"{problem}: {remedy}")


def _choose_spaces(env: str, steps: _Steps) -> dict[str, Any]:
    """Return the spaces of each step: those given, or the defaults for learning."""
    from compiler_gym.registration import find_compiler

    compiler = find_compiler(env)
    plain = env.rpartition("/")[2]
    defaults: Mapping[str, Any] = {}
    for candidate in () if compiler is None else compiler.environments:
        if candidate.id == plain:
            defaults = {**candidate.for_learning, **candidate.kwargs}
    spaces = {
        "observation_space": steps.observation or defaults.get("observation_space"),
        "reward_space": steps.reward or defaults.get("reward_space"),
    }
    return {name: None if value == "-" else value for name, value in spaces.items()}


def _draw_actions(env: "CompilerEnv", count: int, seed: int) -> list[Any]:
    """Return random actions: the same for the same seed, in every process."""
    space = env.action_space
    if hasattr(space, "n"):
        generator = random_numbers.Random(seed)
        return [generator.randrange(space.n) for _ in range(count)]
    space.seed(seed)
    return [space.sample() for _ in range(count)]


def _write(profile: "Profile", format: ProfileFormat, path: Path) -> None:
    from compiler_gym.errors import CacheError
    from compiler_gym.files import writing
    from compiler_gym.profiling import to_folded, to_speedscope

    text = (to_folded if format is ProfileFormat.FOLDED else to_speedscope)(profile)
    if str(path) == "-":
        print(text, end="")
        return
    with writing(path, CacheError):
        path.write_text(text, encoding="utf-8")


def _show(profile: "Profile", env: str, top: int, console: "Console") -> None:
    count, total = len(profile.actions), profile.nanoseconds
    actions = f"{count:,} action" + ("" if count == 1 else "s")
    console.print(
        heading(profile.benchmark, f": {actions} in {_time(total)} ({env})"), soft_wrap=True
    )
    rows = table("Layer", "Time", "Share", right=("Time", "Share"), typed=("Layer",))
    layers = {layer.value: elapsed for layer, elapsed in profile.layers().items()}
    layers = dict(sorted(layers.items(), key=lambda item: -item[1]))
    for name, elapsed in {**layers, "other": profile.other_nanoseconds}.items():
        rows.add_row(name, _time(elapsed), _share(elapsed, total))
    show(rows, console)
    for layer in _list_layers():
        _show_rows(profile, layer, top, console)


def _list_layers() -> "tuple[Layer, ...]":
    """Return the layers whose spans have meaningful names."""
    from compiler_gym.session import Layer

    return (Layer.ACTIONS, Layer.PASSES, Layer.ANALYSES, Layer.OBSERVATIONS, Layer.PROCESSES)


def _show_rows(profile: "Profile", layer: Any, top: int, console: "Console") -> None:
    measured = profile.rows(layer)
    if not measured or top < 1:
        return
    numbers = ("Calls", "Total", "Mean", "Share")
    rows = table("Name", *numbers, title=layer.value.capitalize(), right=numbers)
    for row in measured[:top]:
        rows.add_row(
            row.name,
            f"{row.calls:,}",
            _time(row.nanoseconds),
            _time(row.mean_nanoseconds),
            _share(row.nanoseconds, profile.nanoseconds),
        )
    hidden = measured[top:]
    if hidden:
        elapsed = sum(row.nanoseconds for row in hidden)
        calls = sum(row.calls for row in hidden)
        share = _share(elapsed, profile.nanoseconds)
        rows.add_row(f"({len(hidden):,} more)", f"{calls:,}", _time(elapsed), "", share)
    show(rows, console)


def _time(nanoseconds: float) -> str:
    """Return a time in a readable unit.

    >>> _time(1_234_567), _time(15_000), _time(3), _time(0)
    ('1.23 ms', '15.0 µs', '3 ns', '0 ns')
    """
    for size, unit in _UNITS:
        if nanoseconds >= size:
            value = nanoseconds / size
            return f"{value:.{2 if value < 10 else 1 if value < 100 else 0}f} {unit}"
    return f"{nanoseconds:.0f} ns"


def _share(part: float, whole: float) -> str:
    return f"{part / whole:.1%}" if whole else "-"

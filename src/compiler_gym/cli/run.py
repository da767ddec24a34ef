# SPDX-License-Identifier: MIT
"""``compiler-gym run``."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from compiler_gym.cli.kit import completing as _completing
from compiler_gym.cli.kit.costs import change, find_levels, find_origin, number
from compiler_gym.cli.kit.options import LimitOptions, make_arguments, spread
from compiler_gym.cli.kit.output import (
    Json,
    errors,
    heading,
    output,
    print_command,
    print_json,
    show,
    table,
)
from compiler_gym.cli.kit.programs import (
    DEFAULT_ENVIRONMENT,
    ActionSpaceName,
    EnvName,
    ProgramName,
    find_program,
)
from compiler_gym.options import option

if TYPE_CHECKING:
    from rich.console import Console

    from compiler_gym.core import CompilerEnv

_Vectors = Mapping[str, Sequence[str]]
"""The names of the elements of each vector observation; empty if they have none."""
_TEXT_WIDTH = 18
"""The width in columns of a value that is not a number."""


@dataclass(frozen=True, slots=True)
class _Written:
    """The files for the resulting program."""

    write_ir: Path | None = option(None, "Write the resulting program as text; - prints it")
    write_bitcode: Path | None = option(None, "Write the resulting program as bitcode")
    write_marked: Path | None = option(
        None,
        "Write the program after the last mark as bitcode, and show the compiler's own command "
        "for the passes since",
    )


@dataclass(frozen=True, slots=True)
class _First:
    """The steps before the actions."""

    pipeline: str | None = option(None, "Pass pipeline in the syntax of the compiler's own tool")
    start: str | None = option(None, "Starting sequence, such as 'recipe small'")


@spread
def run(
    program: ProgramName,
    actions: Annotated[
        list[str] | None,
        typer.Argument(
            help="Names or numbers of actions, in order.", autocompletion=_completing.actions
        ),
    ] = None,
    env: EnvName = DEFAULT_ENVIRONMENT,
    action_space: ActionSpaceName = None,
    first: _First = _First(),
    observe: Annotated[
        list[str] | None,
        typer.Option(
            help="Observation to show; can be repeated.",
            autocompletion=_completing.observations,
        ),
    ] = None,
    reward: Annotated[
        list[str] | None,
        typer.Option(help="Reward to show; can be repeated.", autocompletion=_completing.rewards),
    ] = None,
    written: _Written = _Written(),
    limits: LimitOptions = None,
    json: Json = False,
) -> None:
    """Apply actions to a program and show their effect.

    compiler-gym run cbench-v1/qsort sroa instcombine simplifycfg

    compiler-gym run main.c --pipeline 'default<Oz>' --write-ir -
    """
    from compiler_gym.errors import InvalidParameterError
    from compiler_gym.registration import make

    with make(env, **make_arguments(action_space, limits)) as environment:
        if first.pipeline is not None and environment.pipeline_parameter is None:
            raise InvalidParameterError(f"{env} does not support --pipeline: use actions")
        plan = _prepare(environment, program, actions or [], first.start, observe, reward)
        applied = _apply(environment, plan, first.pipeline)
        vectors = {name: environment.panes.vectors.get(name, ()) for name in plan.observations}
        document = _document(environment, plan, first.pipeline, applied)
        _write(environment, written.write_ir, written.write_bitcode)
        if written.write_marked is not None:
            document["marked_commandline"] = _write_marked(environment, written.write_marked)
    if json:
        print_json(document)
    else:
        if reward is None:
            document["rewards"] = {}  # the text shows only requested rewards
        _show(document, vectors, to_errors=str(written.write_ir) == "-")


@dataclass(frozen=True, slots=True)
class _Plan:
    """The actions to apply, the values to show, and the observations before them."""

    actions: list[int]
    rewards: list[str]
    observations: list[str]
    before: dict[str, Any]


@dataclass(frozen=True, slots=True)
class _Applied:
    """The effect of the pipeline and the actions."""

    earned: dict[str, float]
    had_no_effect: bool | None


def _prepare(
    env: "CompilerEnv",
    program: str,
    actions: list[str],
    start: str | None,
    observe: list[str] | None,
    reward: list[str] | None,
) -> _Plan:
    """Reset `env` to the program and return the plan."""
    from compiler_gym.search import starting_sequences
    from compiler_gym.spaces import find_actions

    chosen = find_actions(env.action_space, actions)
    if start is not None:
        chosen = [*starting_sequences([start], env.action_space)[0], *chosen]
    benchmark = find_program(env, program)
    rewards = reward if reward is not None else _list_rewards(env, benchmark)
    observations = observe if observe is not None else _costs(env, rewards)
    env.reset(benchmark=benchmark, reward_space=rewards)
    origins = {_costs(env, [name])[0]: find_origin(env, name) for name in reversed(rewards)}
    before = {name: env.observation[origins.get(name, name)] for name in observations}
    return _Plan(chosen, rewards, observations, before)


def _apply(env: "CompilerEnv", plan: _Plan, pipeline: str | None) -> _Applied:
    """Run the pipeline and the actions of the plan; raise the error that stops them."""
    _check(env.multistep([]))  # rewards count from here
    earned = [0.0] * len(plan.rewards)
    if pipeline is not None:
        env.send_param(env.pipeline_parameter or "", pipeline)
        earned = _compute_rewards(env, plan.rewards)
    result = env.multistep(plan.actions)
    _check(result)
    _, rewards, _, _, info = result
    totals = [before + now for before, now in zip(earned, rewards or [], strict=True)]
    return _Applied(
        dict(zip(plan.rewards, totals, strict=True)),
        None if pipeline else info["action_had_no_effect"],
    )


def _document(
    env: "CompilerEnv", plan: _Plan, pipeline: str | None, applied: _Applied
) -> dict[str, Any]:
    """Return all facts about the episode, as ``--json`` prints them."""
    from compiler_gym.spaces import action_name, space_name

    chosen = plan.actions[: len(env.actions)]
    after = {name: env.observation[name] for name in plan.observations}
    return {
        "benchmark": str(env.benchmark),
        "action_space": space_name(env.action_space) or "",
        "actions": chosen,
        "action_names": [action_name(env.action_space, action) for action in chosen],
        "pipeline": pipeline,
        "commandline": env.commandline(),
        "left_over": len(plan.actions) - len(chosen),
        "had_no_effect": applied.had_no_effect,
        "observations": {n: {"before": plan.before[n], "after": after[n]} for n in after},
        "levels": _at_levels(env, plan.rewards, plan.observations),
        "rewards": applied.earned,
    }


def _compute_rewards(env: "CompilerEnv", rewards: list[str]) -> list[float]:
    """Return the rewards since the reset, for an episode without actions and thus without steps."""
    view = env.observation
    return [
        spec.update([None], [view[name] for name in spec.observation_spaces], view)
        for spec in map(env.reward.spec, rewards)
    ]


def _list_rewards(env: "CompilerEnv", benchmark: Any) -> list[str]:
    """Return the rewards that are fast, deterministic and defined for this program."""
    from compiler_gym.errors import ObservationError

    env.reset(benchmark=benchmark, reward_space=None)
    names: list[str] = []
    deterministic = [name for name, spec in env.reward.spaces.items() if spec.deterministic]
    for name in env.shown_rewards or deterministic:
        spec = env.reward.spec(name)
        try:
            for observation in spec.observation_spaces:
                env.observation[observation]
        except ObservationError:
            continue
        names.append(name)
    return names


def _costs(env: "CompilerEnv", rewards: list[str]) -> list[str]:
    """Return the costs that the rewards lower."""
    needed = [name for reward in rewards for name in env.reward.spec(reward).observation_spaces]
    return list(dict.fromkeys(needed))


def _at_levels(
    env: "CompilerEnv", rewards: list[str], observations: list[str]
) -> dict[str, dict[str, Any]]:
    """Return each cost at the compiler's own levels, by their options."""
    from compiler_gym.errors import ObservationError

    costs: dict[str, dict[str, Any]] = {}
    for reward in rewards:
        name = env.reward.spec(reward).observation_spaces[0]
        if name in costs or name not in observations:
            continue
        costs[name] = {}
        for flag, level in find_levels(env, reward).items():
            try:
                costs[name][flag] = env.observation[level]
            except ObservationError:
                costs[name][flag] = None
    return costs


def _check(result: tuple[Any, ...]) -> None:
    *_, truncated, info = result
    if truncated and "error" in info:
        raise info["error"]


def _write(env: "CompilerEnv", ir: Path | None, bitcode: Path | None) -> None:
    from compiler_gym.errors import CacheError, UnknownNameError
    from compiler_gym.files import writing

    for path, method in ((ir, "write_ir"), (bitcode, "write_bitcode")):
        if path is None:
            continue
        if not hasattr(env, method):
            raise UnknownNameError(f"this environment cannot {method.replace('_', ' ')}")
        if str(path) == "-" and method == "write_ir":
            print(env.render("ansi"))
            continue
        with writing(path, CacheError):
            getattr(env, method)(path)


def _write_marked(env: "CompilerEnv", path: Path) -> str:
    from compiler_gym.errors import CacheError, UnknownNameError
    from compiler_gym.files import writing

    write = getattr(env, "write_marked", None)
    if write is None:
        raise UnknownNameError("this environment does not support marks")
    with writing(path, CacheError):
        return write(path)


def _show(document: dict[str, Any], vectors: _Vectors, *, to_errors: bool) -> None:
    console = errors() if to_errors else output()
    console.print(heading(document["benchmark"]), soft_wrap=True)
    applied = document["pipeline"] or ", ".join(document["action_names"]) or "nothing"
    console.print(f"applied: {applied}", soft_wrap=True)
    if document["left_over"]:
        console.print(
            f"the episode ended before the last {document['left_over']} actions", style="yellow"
        )
    if "marked_commandline" in document:
        console.print("reproduce with:")
        print_command(document["marked_commandline"], console)
    if document["had_no_effect"] and document["actions"]:
        console.print("the program is unchanged", style="yellow")
    _show_observations(document["observations"], document["levels"], vectors, console)
    rows = table("Reward", "Earned", right=("Earned",), typed=("Reward",))
    for name, value in document["rewards"].items():
        rows.add_row(name, f"{value:.4f}".rstrip("0").rstrip("."))
    if document["rewards"]:
        show(rows, console)


def _show_observations(
    observations: dict[str, Any],
    levels: dict[str, dict[str, Any]],
    vectors: _Vectors,
    console: "Console",
) -> None:
    options = dict.fromkeys(option for costs in levels.values() for option in costs)
    numbers = ("Before", *options, "After", "Change")
    rows = table("Observation", *numbers, right=numbers, typed=("Observation",))
    for name, value in observations.items():
        before, after = value["before"], value["after"]
        if _is_named(after, vectors[name]):
            continue
        costs_at_levels = [_brief(levels.get(name, {}).get(option, "")) for option in options]
        rows.add_row(name, _brief(before), *costs_at_levels, _brief(after), _change(before, after))
    if rows.row_count:
        show(rows, console)
    for name, value in observations.items():
        if _is_named(value["after"], vectors[name]):
            _show_elements(name, value, vectors[name], console)


def _is_named(value: Any, names: Sequence[str]) -> bool:
    return bool(names) and len(value) == len(names)


def _show_elements(
    name: str, value: dict[str, Any], names: Sequence[str], console: "Console"
) -> None:
    """Print the changed elements of a vector, by their names."""
    columns = ("Before", "After", "Change")
    rows = table(name, *columns, right=columns, typed=(name,))
    for element, before, after in zip(names, value["before"], value["after"], strict=True):
        if before != after:
            old, new = before.item(), after.item()
            rows.add_row(element, _brief(old), _brief(new), _change(old, new))
    if rows.row_count:
        show(rows, console)
    console.print(f"{name}: {len(names) - rows.row_count} of {len(names)} elements unchanged")


def _brief(value: Any) -> str:
    if value is None or isinstance(value, (int, float)):
        return number(value)
    text = " ".join(str(value).split())
    return text if len(text) <= _TEXT_WIDTH else f"{text[: _TEXT_WIDTH - 3]}..."


def _change(before: Any, after: Any) -> str:
    if isinstance(before, (int, float)):
        return change(before, after)
    return "" if type(before) is not str else ("same" if before == after else "differs")

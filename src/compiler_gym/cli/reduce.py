# SPDX-License-Identifier: MIT
"""``compiler-gym reduce``."""

from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from compiler_gym.cli.kit.options import LimitOptions, spread
from compiler_gym.cli.kit.output import Json, errors, heading, output, print_json, show, table
from compiler_gym.cli.kit.programs import (
    RewardName,
    StatesEnvName,
    env_for,
    program_name,
    read_states,
)

if TYPE_CHECKING:
    from compiler_gym.core import CompilerEnv, CompilerEnvState
    from compiler_gym.search import Hypothesis


class Keep(Enum):
    """The property to preserve: of an episode, or of a build with the size plug-in."""

    REWARD = "reward"
    FAILURE = "failure"
    CRASH = "crash"
    REWRITE = "rewrite"


@spread
def reduce(
    file: Annotated[
        str,
        typer.Argument(
            help="File with states: a path, an address or -. With --keep rewrite, a command that "
            "links and tests a program."
        ),
    ],
    keep: Annotated[Keep, typer.Option(help="Property to preserve.")] = Keep.REWARD,
    number: Annotated[
        int, typer.Option(help="Number of the state in the file, starting at 1.")
    ] = 1,
    output_dir: Annotated[Path, typer.Option("--output", help="Output folder.")] = Path("reduced"),
    env: StatesEnvName = None,
    reward: RewardName = None,
    limits: LimitOptions = None,
    json: Json = False,
) -> None:
    """Find the fewest actions that preserve a reward, a failed validation or a crash.

    For a failure or a crash, the folder also contains the smallest IR that still shows it and
    the exact command, ready for the compiler's bug tracker. For a reward, it contains the
    contribution of each action and the cost of removing it. For a rewrite, the first change of
    the size plug-in that breaks the program is found.

    compiler-gym reduce states.jsonl --keep failure --output reduced

    compiler-gym reduce "make -B && ./run-tests" --keep rewrite
    """
    if keep is Keep.REWRITE:
        _reduce_build(file, limits, json=json)
        return
    state = _choose_state(file, number)
    with env_for(state.environment, env, reward, limits)() as environment:
        document = _reduce(environment, state, keep, output_dir)
    if json:
        print_json(document)
    else:
        _show_reduction(document, output_dir)


def _reduce_build(command: str, limits: LimitOptions, *, json: bool) -> None:
    from compiler_gym.lazy import part
    from compiler_gym.options import Limits

    seconds = (limits or Limits()).step_seconds
    found = part("rewrites")(command, seconds=seconds, report=_report)
    if json:
        print_json(found)
        return
    console = output()
    console.print(f"rewrite {found['rewrite']:,} breaks it: {found['place']}", soft_wrap=True)
    console.print(f"after {found['tests']} runs; the rule is off with {found['without_rule']}")


def _report(number: int) -> None:
    """Show the number of the test on a terminal."""
    if errors().is_terminal:
        errors().print(f"test {number}", end="\r")


def _choose_state(file: str, number: int) -> "CompilerEnvState":
    from compiler_gym.errors import StateFileError

    states, damage = read_states([file])
    if not 1 <= number <= len(states):
        if damage is not None:
            raise damage
        raise StateFileError(f"{file} has {len(states)} states: choose one with --number, from 1")
    return states[number - 1]


def _reduce(
    env: "CompilerEnv", state: "CompilerEnvState", keep: Keep, folder: Path
) -> dict[str, Any]:
    from compiler_gym.errors import CacheError, MinimizationError
    from compiler_gym.search import minimize_trajectory_iteratively
    from compiler_gym.spaces import action_name

    _play(env, state)
    before = len(env.actions)
    if not before:
        raise MinimizationError("this state has no actions, so there is nothing to remove")
    goal = env.episode_reward
    keeps = _Counted(_hypothesis(env, keep))
    for _ in minimize_trajectory_iteratively(env, keeps):
        pass
    document: dict[str, Any] = {
        "benchmark": state.benchmark,
        "kept": keep.value,
        "actions_before": before,
        "actions": [action_name(env.action_space, action) for action in env.actions],
        "tests": keeps.tests,
        "commandline": env.commandline(),
        "reward_before": goal,
        "reward": env.episode_reward,
    }
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise CacheError(f"cannot create {folder}: {error.strerror}") from error
    _write_state(folder / "state.jsonl", env, state)
    if keep is Keep.REWARD:
        document["contributions"] = _contributions(env)
    else:
        document["report"] = _compiler_report(env, folder, keep)
    _write_json(folder / "reduced.json", document)
    return document


def _play(env: "CompilerEnv", state: "CompilerEnvState") -> None:
    """Bring `env` to the end of `state`, which may be a compiler failure."""
    if state.reward_space is not None and state.reward_space in env.reward:
        env.reward_space = state.reward_space
    actions = env.actions_from(state)
    env.reset(benchmark=state.benchmark)
    env.multistep(actions)


class _Counted:
    """A hypothesis that counts its tests, and shows the count on a terminal."""

    def __init__(self, hypothesis: "Hypothesis") -> None:
        self.tests = 0
        self._hypothesis = hypothesis

    def __call__(self, env: "CompilerEnv") -> bool:
        self.tests += 1
        _report(self.tests)
        return self._hypothesis(env)


def _hypothesis(env: "CompilerEnv", keep: Keep) -> "Hypothesis":
    from compiler_gym.errors import InvalidParameterError
    from compiler_gym.search import validation_fails

    if keep is Keep.FAILURE:
        return validation_fails
    if keep is Keep.CRASH:
        return lambda env: not env.episode.has_program
    if env.reward_space is None:
        raise InvalidParameterError("there is no reward to preserve: name its space with --reward")
    goal = env.episode_reward or 0.0
    return lambda env: env.episode.has_program and (env.episode_reward or 0.0) >= goal - 1e-9


def _write_state(path: Path, env: "CompilerEnv", state: "CompilerEnvState") -> None:
    from dataclasses import replace

    from compiler_gym.core import CompilerEnvStateWriter
    from compiler_gym.spaces import space_name

    shorter = replace(
        state,
        commandline=env.commandline(),
        action_space=space_name(env.action_space),
        state_hash=None,
        reward=env.episode_reward,
    )
    with CompilerEnvStateWriter(path.open("w", encoding="utf-8")) as writer:
        writer.write_state(env.state if env.episode.has_program else shorter)


def _contributions(env: "CompilerEnv") -> list[dict[str, Any]]:
    from dataclasses import asdict

    from compiler_gym.search import attribute

    return [asdict(contribution) for contribution in attribute(env)]


def _compiler_report(env: "CompilerEnv", folder: Path, keep: Keep) -> dict[str, Any] | None:
    """Return the compiler's bug report; None if the compiler does not write any."""
    write = getattr(env, "write_bug_report", None)
    if write is None:
        return None
    report = write(folder, "crash" if keep is Keep.CRASH else "miscompile")
    return {
        "command": report.command,
        "is_shown": report.is_shown,
        "is_reduced": report.is_reduced,
        "lines": report.lines,
    }


def _write_json(path: Path, document: dict[str, Any]) -> None:
    from compiler_gym.search import write_json

    write_json(path, document)


def _show_reduction(document: dict[str, Any], folder: Path) -> None:
    console = output()
    console.print(heading(program_name(document["benchmark"])), soft_wrap=True)
    console.print(
        f"{len(document['actions'])} of {document['actions_before']} actions preserve the "
        f"{document['kept']}, after {document['tests']} tests"
    )
    console.print(f"  {document['commandline']}", soft_wrap=True)
    if "contributions" in document:
        rows = table(
            "",
            "Action",
            "Gained",
            "Cost of removal",
            right=("", "Gained", "Cost of removal"),
            typed=("Action",),
        )
        for item in document["contributions"]:
            cost = item["cost_of_removal"]
            rows.add_row(
                str(item["number"]),
                item["action"],
                f"{item['gained']:.4f}",
                "fails" if cost is None else f"{cost:.4f}",
            )
        show(rows, console)
    report = document.get("report")
    if report is not None:
        console.print(f"  {report['command']}", soft_wrap=True)
        if not report["is_shown"]:
            console.print("the compiler's own tools do not reproduce it", style="yellow")
        else:
            console.print(f"reproduced by {report['lines']} lines of IR")
    console.print(f"output is in {folder}", soft_wrap=True)

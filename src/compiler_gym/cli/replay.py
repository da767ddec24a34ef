# SPDX-License-Identifier: MIT
"""``compiler-gym replay``."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from compiler_gym.cli.kit.failures import REFUSED, report_failure
from compiler_gym.cli.kit.options import LimitOptions, spread
from compiler_gym.cli.kit.output import Json, output, print_json, show, style_text, table
from compiler_gym.cli.kit.programs import (
    RewardName,
    StateFiles,
    StatesEnvName,
    env_for,
    program_name,
    read_states,
)

if TYPE_CHECKING:
    from rich.text import Text

    from compiler_gym.core import CompilerEnv, CompilerEnvState

DIFFERS = 1
"""The exit status if a replay differs."""


@spread
def replay(
    files: StateFiles,
    env: StatesEnvName = None,
    reward: RewardName = None,
    trace: Annotated[
        Path | None,
        typer.Option(
            help="Write the state after each action, for `compiler-gym bisect` on another machine."
        ),
    ] = None,
    limits: LimitOptions = None,
    json: Json = False,
) -> None:
    """Replay recorded states and show any differences.

    Exits with status 1 if a replay differs.

    compiler-gym replay states.jsonl
    """
    from compiler_gym.validation import trace as trace_of

    states, damage = read_states(files)
    rows: list[_ReplayRow] = []
    traces: list[str] = []
    for state in states:
        with env_for(state.environment, env, reward, limits)() as environment:
            rows.append(_replay(environment, state))
            if trace is not None:
                traces.append(trace_of(environment, state).to_line() + "\n")
    if trace is not None:
        _write_traces(trace, traces)
    if json:
        print_json([row.to_json() for row in rows])
    elif rows or damage is None:
        _show_replays(rows)
    if damage is not None:
        report_failure(damage)
        raise typer.Exit(REFUSED)
    if any(row.differs for row in rows):
        raise typer.Exit(DIFFERS)


@dataclass(frozen=True, slots=True)
class _ReplayRow:
    """A recorded state and its replay."""

    recorded: "CompilerEnvState"
    replayed: "CompilerEnvState | None"
    differences: tuple[str, ...]
    note: str = ""
    """The reason why a difference is not a failure, or a value that was not compared."""

    @property
    def differs(self) -> bool:
        """True if there is a difference that another version does not explain."""
        return self.replayed is None or (bool(self.differences) and not self.note)

    def to_json(self) -> dict[str, Any]:
        replayed = self.replayed
        return {
            "benchmark": self.recorded.benchmark,
            "commandline": self.recorded.commandline,
            "reward": self.recorded.reward,
            "replayed_reward": None if replayed is None else replayed.reward,
            "hash": self.recorded.state_hash,
            "replayed_hash": None if replayed is None else replayed.state_hash,
            "walltime": self.recorded.walltime,
            "replayed_walltime": None if replayed is None else replayed.walltime,
            "differences": list(self.differences),
            "note": self.note,
        }


def _replay(env: "CompilerEnv", state: "CompilerEnvState") -> _ReplayRow:
    from compiler_gym.errors import CompilerGymError
    from compiler_gym.validation import replay as replay_in
    from compiler_gym.validation import replay_differences

    try:
        replayed = replay_in(env, state)
    except (CompilerGymError, ValueError) as error:
        return _ReplayRow(state, None, (f"{type(error).__name__}: {error}",))
    differences = tuple(map(str, replay_differences(state, replayed, env.reward.spaces)))
    note = ""
    if state.compiler_version not in (None, replayed.compiler_version):
        note = (
            f"recorded with version {state.compiler_version} of the compiler, "
            f"replayed with {replayed.compiler_version}"
        )
    elif differences and replayed.varying_actions:
        names = ", ".join(replayed.varying_actions)
        note = f"{names}: results vary between runs, so the replay may differ"
    elif state.has_reward and not replayed.has_reward:
        note = "the reward is not compared: name its space with --reward"
    return _ReplayRow(state, replayed, differences, note)


def _write_traces(path: Path, lines: list[str]) -> None:
    from compiler_gym.errors import CacheError
    from compiler_gym.files import writing

    with writing(path, CacheError):
        path.write_text("".join(lines), encoding="utf-8")


def _show_replays(rows: list[_ReplayRow]) -> None:
    console = output()
    summary = table(
        "Program",
        "Actions",
        "Recorded",
        "Replayed",
        "Program reached",
        "",
        right=("Recorded", "Replayed"),
        typed=("Program",),
    )
    for row in rows:
        replayed = row.replayed
        hashes = (row.recorded.state_hash, None if replayed is None else replayed.state_hash)
        match = "not recorded" if None in hashes else "same" if hashes[0] == hashes[1] else "other"
        summary.add_row(
            program_name(row.recorded.benchmark),
            row.recorded.action_space or "",
            _reward_text(row.recorded.reward),
            _reward_text(None if replayed is None else replayed.reward),
            match,
            _replay_verdict(row),
        )
    show(summary, console)
    for row in rows:
        for line in (*filter(None, [row.note]), *row.differences):
            name = program_name(row.recorded.benchmark)
            console.print(f"{name}: {line}", soft_wrap=True)


def _replay_verdict(row: _ReplayRow) -> "Text":
    if row.differs:
        return style_text("differs", "red")
    return style_text("see below", "yellow") if row.note else style_text("ok", "")


def _reward_text(value: float | None) -> str:
    return "-" if value is None else f"{value:.6g}"

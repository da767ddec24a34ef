# SPDX-License-Identifier: MIT
"""``compiler-gym bisect``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from compiler_gym.cli.kit.output import Json, print_json, show, table
from compiler_gym.cli.kit.programs import StatesEnvName, env_for, program_name
from compiler_gym.cli.replay import DIFFERS

if TYPE_CHECKING:
    from compiler_gym.validation import Trace


def bisect(
    trace: Annotated[Path, typer.Argument(help="Trace from `replay --trace` on one machine.")],
    other: Annotated[
        Path | None,
        typer.Argument(help="Trace of another machine [default: replay on this one]."),
    ] = None,
    env: StatesEnvName = None,
    json: Json = False,
) -> None:
    """Find the first action after which two machines or versions differ.

    On one machine:    compiler-gym replay states.jsonl --trace first.jsonl

    On the other one:  compiler-gym bisect first.jsonl

    Exits with status 1 if they differ.
    """
    from compiler_gym.errors import StateFileError
    from compiler_gym.validation import first_disagreement

    first_traces = _traces_in(trace)
    second_traces = (
        _traces_in(other) if other is not None else [_replay_here(row, env) for row in first_traces]
    )
    if len(first_traces) != len(second_traces):
        raise StateFileError(
            f"the files have {len(first_traces)} and {len(second_traces)} traces: the numbers must "
            "be equal"
        )
    rows = [
        _comparison_row(first, second, first_disagreement(first, second))
        for first, second in zip(first_traces, second_traces, strict=True)
    ]
    if json:
        print_json(rows)
    else:
        _show_disagreements(rows)
    if any(row["after"] is not None for row in rows):
        raise typer.Exit(DIFFERS)


def _traces_in(path: Path) -> "list[Trace]":
    from compiler_gym.errors import StateFileError
    from compiler_gym.files import read_regular
    from compiler_gym.validation import Trace

    try:
        lines = read_regular(path).decode().splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise StateFileError(f"cannot read {path}: {error}") from error
    return [Trace.from_line(line) for line in lines if line.strip()]


def _replay_here(recorded: "Trace", env: str | None) -> "Trace":
    from compiler_gym.validation import trace

    with env_for(recorded.environment, env, None)() as environment:
        return trace(environment, recorded.state)


def _comparison_row(first: "Trace", second: "Trace", after: int | None) -> dict[str, Any]:
    action = first.actions[after - 1] if after else None
    versions = [first.compiler_version, second.compiler_version]
    return {
        "benchmark": first.benchmark,
        "actions": len(first.actions),
        "after": after,
        "action": action,
        "versions": versions,
        "errors": [first.error, second.error],
    }


def _show_disagreements(rows: list[dict[str, Any]]) -> None:
    rows_shown = table(
        "Program",
        "Actions",
        "Versions",
        "First disagreement",
        right=("Actions",),
        typed=("Program",),
    )
    for row in rows:
        after = row["after"]
        place = "none" if after is None else "before any action"
        if after:
            place = f"action {after}: {row['action']}"
        errors = "; ".join(error for error in row["errors"] if error)
        rows_shown.add_row(
            program_name(row["benchmark"]),
            str(row["actions"]),
            " / ".join(dict.fromkeys(row["versions"])),
            f"{place} ({errors})" if errors else place,
        )
    show(rows_shown)

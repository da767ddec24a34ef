# SPDX-License-Identifier: MIT
"""``compiler-gym bisect``."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from compiler_gym.cli.kit.output import Json, print_json, show, table
from compiler_gym.cli.kit.state_files import StatesEnvName, env_for, program_name
from compiler_gym.cli.replay import DIFFERS

if TYPE_CHECKING:
    from compiler_gym.validation import Trace

__all__ = ["bisect"]


def bisect(
    trace: Annotated[
        Path, typer.Argument(help="Trace that `replay --trace` wrote on one machine.")
    ],
    other: Annotated[
        Path | None,
        typer.Argument(help="Trace of another machine [default: replay on this one]."),
    ] = None,
    env: StatesEnvName = None,
    json: Json = False,
) -> None:
    """Find the first action after which two machines or versions differ.

    On the one:    compiler-gym replay states.jsonl --trace theirs.jsonl

    On the other:  compiler-gym bisect theirs.jsonl

    Exits with status 1 if they differ.
    """
    from compiler_gym.errors import StateFileError
    from compiler_gym.validation import first_disagreement

    ours = _traces_in(trace)
    theirs = (
        _traces_in(other) if other is not None else [_replay_here(found, env) for found in ours]
    )
    if len(ours) != len(theirs):
        raise StateFileError(f"expected as many traces in each, found {len(ours)}, {len(theirs)}")
    rows = [
        _comparison_row(one, two, first_disagreement(one, two))
        for one, two in zip(ours, theirs, strict=True)
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


def _replay_here(found: "Trace", env: str | None) -> "Trace":
    from compiler_gym.validation import trace

    with env_for(found.environment, env, None)() as made:
        return trace(made, found.state)


def _comparison_row(one: "Trace", other: "Trace", after: int | None) -> dict[str, Any]:
    action = one.actions[after - 1] if after else None
    versions = [one.compiler_version, other.compiler_version]
    return {
        "benchmark": one.benchmark,
        "actions": len(one.actions),
        "after": after,
        "action": action,
        "versions": versions,
        "errors": [one.error, other.error],
    }


def _show_disagreements(rows: list[dict[str, Any]]) -> None:
    shown = table(
        "Program", "Actions", "Versions", "First disagreement",
        right=("Actions",), typed=("Program",),
    )  # fmt: skip
    for row in rows:
        after = row["after"]
        words = "none" if after is None else "before any action"
        if after:
            words = f"action {after}: {row['action']}"
        errors = "; ".join(error for error in row["errors"] if error)
        shown.add_row(
            program_name(row["benchmark"]),
            str(row["actions"]),
            " / ".join(dict.fromkeys(row["versions"])),
            f"{words} ({errors})" if errors else words,
        )
    show(shown)

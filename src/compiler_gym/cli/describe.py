# SPDX-License-Identifier: MIT
"""``compiler-gym describe``."""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from compiler_gym.cli.kit import completing as _completing
from compiler_gym.cli.kit.output import Json, heading, paged, print_json, show, styled, table

if TYPE_CHECKING:
    from rich.console import Console

__all__ = ["describe"]

_SHOWN_ACTIONS = 12
_ROWS_OF_SPACE = ("actions", "parts")
"""The keys of an action space that hold rows."""
_SECTIONS = ("observation_spaces", "reward_spaces", "datasets")


def describe(
    env: Annotated[
        str,
        typer.Argument(
            help="Environment; `compiler-gym envs` lists them.",
            autocompletion=_completing.environments,
        ),
    ],
    actions: Annotated[
        bool, typer.Option("--actions", help="List all actions, not only the first few.")
    ] = False,
    filter: Annotated[
        str | None,
        typer.Option(help="Show only entries with this text in their name or description."),
    ] = None,
    json: Json = False,
) -> None:
    """Show what an environment offers: actions, observations, rewards and datasets.

    compiler-gym describe llvm-v0 --filter loop
    """
    from compiler_gym.core import describe as described
    from compiler_gym.registration import make

    with make(env) as made:
        description = described(env, made)
    if filter is not None:
        description = _filter(description, filter)
    if json:
        print_json(description)
        return
    if filter is not None and not actions:
        description["action_spaces"] = _without_repetition(description["action_spaces"])
    with paged() as console:
        _show_description(
            description, console, every_action=actions, is_filtered=filter is not None
        )


def _filter(description: dict[str, Any], text: str) -> dict[str, Any]:
    """Return the rows that hold `text`; raise `UnknownNameError` if there is none."""
    from compiler_gym.errors import UnknownNameError
    from compiler_gym.errors.nearest import did_you_mean

    found = dict(description)
    for kind in _SECTIONS:
        found[kind] = [row for row in description[kind] if _row_holds(row, text)]
    spaces = [
        {
            **space,
            **{
                kind: [row for row in space[kind] if _row_holds(row, text)]
                for kind in _ROWS_OF_SPACE
            },
        }
        for space in description["action_spaces"]
    ]
    found["action_spaces"] = [
        space for space in spaces if any(space[kind] for kind in _ROWS_OF_SPACE)
    ]
    if not any(found[kind] for kind in (*_SECTIONS, "action_spaces")):
        names = [row["name"] for kind in _SECTIONS for row in description[kind]]
        spaces = description["action_spaces"]
        names += [row["name"] for space in spaces for kind in _ROWS_OF_SPACE for row in space[kind]]
        hint = did_you_mean(text, names) or "try a shorter text"
        raise UnknownNameError(f"nothing of {description['id']} holds {text!r}: {hint}")
    return found


def _row_holds(row: dict[str, Any], text: str) -> bool:
    texts = (row["name"], row.get("flag") or row.get("values") or "", row["description"] or "")
    return any(text.lower() in one.lower() for one in texts)


def _without_repetition(spaces: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Leave out actions that an earlier space has too."""
    seen: set[str] = set()
    kept: list[dict[str, Any]] = []
    for space in spaces:
        fresh = [row for row in space["actions"] if row["name"] not in seen]
        seen.update(row["name"] for row in fresh)
        if fresh or space["parts"]:
            kept.append({**space, "actions": fresh})
    return kept


def _show_description(
    description: dict[str, Any], console: "Console", *, every_action: bool, is_filtered: bool
) -> None:
    version = f"  (compiler {description['compiler_version']})"
    console.print(heading(description["id"], version), soft_wrap=True)
    console.print(_plain_text(description["about"]))
    spaces = description["action_spaces"]
    if not is_filtered:
        rows = table("Action space", "Actions", right=("Actions",), typed=("Action space",))
        for space in spaces:
            rows.add_row(space["name"], str(len(space["actions"]) or space["kind"]))
        show(rows, console)
    for space in spaces if every_action or is_filtered else spaces[:1]:
        _show_actions(space, console, most=None if every_action or is_filtered else _SHOWN_ACTIONS)
        _show_parts(space, console)
    _show_rows(
        console, ("Observation", "Value", "Description"),
        [(s["name"], s["kind"], s["description"])
         for s in description["observation_spaces"]],
    )  # fmt: skip
    _show_rows(
        console, ("Reward", "Of", "Description"),
        [(r["name"], ", ".join(r["observations"]), r["description"])
         for r in description["reward_spaces"]],
    )  # fmt: skip
    _show_rows(
        console, ("Dataset", "Programs", "Description"),
        [(_plain_name(d["name"]), f"{d['programs']:,}" if d["programs"] else "-", d["description"])
         for d in description["datasets"]],
        right=("Programs",),
    )  # fmt: skip


def _show_rows(
    console: "Console",
    columns: tuple[str, ...],
    found: list[tuple[str, ...]],
    right: tuple[str, ...] = (),
) -> None:
    if found:
        rows = table(*columns, right=right, typed=columns[:1])
        for row in found:
            rows.add_row(*map(_plain_text, row))
        show(rows, console)


def _show_actions(space: dict[str, Any], console: "Console", *, most: int | None) -> None:
    listed = space["actions"][:most]
    if not listed:
        return
    rows = table(
        "#", "Action", "Description",
        title=f"Actions of {space['name']}", right=("#",), typed=("Action",),
    )  # fmt: skip
    for action in listed:
        rows.add_row(str(action["index"]), action["name"], _plain_text(action["description"]))
    show(rows, console)
    rest = len(space["actions"]) - len(listed)
    if rest:
        more = f"... and {rest} more: add --actions, or --filter TEXT"
        console.print(styled(more, "dim"), soft_wrap=True)


def _show_parts(space: dict[str, Any], console: "Console") -> None:
    if not space["parts"]:
        return
    rows = table(
        "Part", "Values", "Description", title=f"What actions of {space['name']} choose",
        typed=("Part",),
    )  # fmt: skip
    for part in space["parts"]:
        rows.add_row(part["name"], part["values"], _plain_text(part["description"]))
    show(rows, console)


def _plain_name(name: str) -> str:
    return name.removeprefix("benchmark://")


def _plain_text(text: str | None) -> str:
    """Return a description without the marks of code that pages show it by."""
    return (text or "").replace("``", "")

# SPDX-License-Identifier: MIT
"""``compiler-gym describe``."""

import re
import textwrap
from typing import TYPE_CHECKING, Annotated, Any

import typer

from compiler_gym.cli.kit import completing as _completing
from compiler_gym.cli.kit.output import (
    Json,
    heading,
    open_pager,
    print_json,
    show,
    style_text,
    table,
)

if TYPE_CHECKING:
    from rich.console import Console

_VARIANT = re.compile(
    r"(?i)(?<=\w)(?:bytes|flowaware)?(?:_?(?:opt)?o[0-3sz]|_?norm|initial|naive|_at_reset"
    r"|normdict|dict|functions|(?:_?graph)?(?:_?json|_arrays|_instance)?|arrays|tuple|words"
    r"|embeddingindices|unknownshare|preprocessedtext|comparison)?$"
)
"""The end of a name of a variant of a measure: scaled, after another pipeline, as a graph."""
_MARGIN = 14
_ROWS_OF_SPACE = ("actions", "parts")
"""The keys of an action space whose values are rows."""
_SECTIONS = ("action_spaces", "observation_spaces", "reward_spaces", "datasets")


def describe(
    env: Annotated[
        str,
        typer.Argument(
            help="Environment; `compiler-gym envs` lists them.",
            autocompletion=_completing.environments,
        ),
    ],
    actions: Annotated[bool, typer.Option("--actions", help="List every action.")] = False,
    observations: Annotated[
        bool, typer.Option("--observations", help="List every observation space.")
    ] = False,
    rewards: Annotated[bool, typer.Option("--rewards", help="List every reward space.")] = False,
    datasets: Annotated[bool, typer.Option("--datasets", help="List every dataset.")] = False,
    filter: Annotated[
        str | None,
        typer.Option(help="Show only entries with this text in their name or description."),
    ] = None,
    json: Json = False,
) -> None:
    """Show the actions, observations, rewards and datasets of an environment.

    compiler-gym describe llvm-v0

    compiler-gym describe llvm-v0 --rewards --filter size
    """
    from compiler_gym.core import describe as describe_environment
    from compiler_gym.registration import make

    with make(env) as environment:
        description = describe_environment(env, environment)
    if filter is not None:
        description = _filter(description, filter)
    if json:
        print_json(description)
        return
    selected = dict(zip(_SECTIONS, (actions, observations, rewards, datasets), strict=True))
    with open_pager() as console:
        version = f"  (compiler {description['compiler_version']})"
        console.print(heading(description["id"], version), soft_wrap=True)
        console.print(_plain_text(description["about"]))
        if filter is None and not any(selected.values()):
            _show_summary(description, console)
            return
        if filter is not None and not actions:
            description["action_spaces"] = _without_repetition(description["action_spaces"])
        for kind in _SECTIONS:
            if selected[kind] or not any(selected.values()):
                _show_section(kind, description[kind], console)


def _filter(description: dict[str, Any], text: str) -> dict[str, Any]:
    """Return the rows that contain `text`; raise `UnknownNameError` if there are none."""
    from compiler_gym.errors import UnknownNameError
    from compiler_gym.errors.nearest import did_you_mean

    result = dict(description)
    for kind in _SECTIONS[1:]:
        result[kind] = [row for row in description[kind] if _row_holds(row, text)]
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
    result["action_spaces"] = [
        space for space in spaces if any(space[kind] for kind in _ROWS_OF_SPACE)
    ]
    if not any(result[kind] for kind in _SECTIONS):
        names = [row["name"] for kind in _SECTIONS[1:] for row in description[kind]]
        spaces = description["action_spaces"]
        names += [row["name"] for space in spaces for kind in _ROWS_OF_SPACE for row in space[kind]]
        hint = did_you_mean(text, names) or "try a shorter text"
        raise UnknownNameError(f"nothing in {description['id']} contains {text!r}: {hint}")
    return result


def _row_holds(row: dict[str, Any], text: str) -> bool:
    texts = (row["name"], row.get("flag") or row.get("values") or "", row["description"] or "")
    return any(text.lower() in value.lower() for value in texts)


def _without_repetition(spaces: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Omit actions that an earlier space has too."""
    known: set[str] = set()
    result: list[dict[str, Any]] = []
    for space in spaces:
        fresh = [row for row in space["actions"] if row["name"] not in known]
        known.update(row["name"] for row in fresh)
        if fresh or space["parts"]:
            result.append({**space, "actions": fresh})
    return result


def _show_summary(description: dict[str, Any], console: "Console") -> None:
    """Print the names of everything on one screen; variants of a measure share one name."""
    spaces = description["action_spaces"]
    names_by_label = {"Actions": [s["name"] + _count(s["actions"]) for s in spaces]}
    for label, kind in zip(("Observations", "Rewards", "Datasets"), _SECTIONS[1:], strict=True):
        names_by_label[label] = _fold_variants([row["name"] for row in description[kind]])
    for label, names in names_by_label.items():
        width = min(console.width, 100) - _MARGIN
        lines = textwrap.wrap(", ".join(names), width, break_on_hyphens=False)
        for margin, line in zip([label, *[""] * len(lines)], lines, strict=False):
            console.print(heading(margin.ljust(_MARGIN), line), soft_wrap=True)
    note = "*: variants. For details: --actions, --observations, --rewards, --datasets"
    console.print(style_text(note, "dim"), soft_wrap=True)


def _count(entries: list[Any]) -> str:
    return f" ({len(entries)})" if entries else ""


def _fold_variants(names: list[str]) -> list[str]:
    """Return the names, with variants that differ only in their end merged into one with a star.

    >>> _fold_variants(["SizeBytes", "SizeO3", "SizeNorm", "benchmark://cbench-v1"])
    ['Size*', 'cbench-v1']
    """
    families: dict[str, list[str]] = {}
    for name in map(_plain_name, names):
        families.setdefault(_VARIANT.sub("", name, count=1), []).append(name)
    return [f"{stem}*" if family[1:] else family[0] for stem, family in families.items()]


def _show_section(kind: str, entries: list[dict[str, Any]], console: "Console") -> None:
    if kind == "action_spaces":
        for space in entries:
            _show_actions(space, console)
            _show_parts(space, console)
    elif kind == "observation_spaces":
        _show_rows(
            console,
            ("Observation", "Value", "Description"),
            [(entry["name"], entry["kind"], entry["description"]) for entry in entries],
        )
    elif kind == "reward_spaces":
        _show_rows(
            console,
            ("Reward", "Measures", "Description"),
            [
                (entry["name"], ", ".join(entry["observations"]), entry["description"])
                for entry in entries
            ],
        )
    else:
        _show_rows(
            console,
            ("Dataset", "Programs", "Description"),
            [
                (
                    _plain_name(entry["name"]),
                    f"{entry['programs']:,}" if entry["programs"] else "-",
                    entry["description"],
                )
                for entry in entries
            ],
            right=("Programs",),
        )


def _show_rows(
    console: "Console",
    columns: tuple[str, ...],
    cells_of_rows: list[tuple[str, ...]],
    right: tuple[str, ...] = (),
) -> None:
    if cells_of_rows:
        rows = table(*columns, right=right, typed=columns[:1])
        for row in cells_of_rows:
            rows.add_row(*map(_plain_text, row))
        show(rows, console)


def _show_actions(space: dict[str, Any], console: "Console") -> None:
    if not space["actions"]:
        return
    rows = table(
        "#",
        "Action",
        "Description",
        title=f"Actions of {space['name']}",
        right=("#",),
        typed=("Action",),
    )
    for action in space["actions"]:
        rows.add_row(str(action["index"]), action["name"], _plain_text(action["description"]))
    show(rows, console)


def _show_parts(space: dict[str, Any], console: "Console") -> None:
    if not space["parts"]:
        return
    rows = table(
        "Part",
        "Values",
        "Description",
        title=f"Choices of {space['name']}",
        typed=("Part",),
    )
    for part in space["parts"]:
        rows.add_row(part["name"], part["values"], _plain_text(part["description"]))
    show(rows, console)


def _plain_name(name: str) -> str:
    return name.removeprefix("benchmark://")


def _plain_text(text: str | None) -> str:
    """Return a description without its code markup."""
    return (text or "").replace("``", "")

# SPDX-License-Identifier: MIT
"""``compiler-gym tasks``."""

from pathlib import Path
from typing import Annotated

import typer

from compiler_gym.cli.kit.output import Json, output, print_json, show, table

__all__ = ["tasks"]


def tasks(
    task: Annotated[str | None, typer.Argument(help="Task to show, with its prompt.")] = None,
    split: Annotated[str | None, typer.Option(help="train, validation or test.")] = None,
    family: Annotated[str | None, typer.Option(help="Only tasks of this family.")] = None,
    difficulty: Annotated[str | None, typer.Option(help="easy, medium or hard.")] = None,
    file: Annotated[
        Path | None, typer.Option("--output", help="Write the tasks to this file, as JSON lines.")
    ] = None,
    json: Json = False,
) -> None:
    """List tasks for language models, or write them with prompts as JSON lines.

    compiler-gym tasks --split train --output train.jsonl
    """
    from compiler_gym.datasets import SPLITS
    from compiler_gym.files import write_whole
    from compiler_gym_agents import find_task
    from compiler_gym_agents import tasks as select_tasks

    selected = [find_task(task)] if task is not None else select_tasks(split, family, difficulty)
    if file is not None:
        write_whole(file, "".join(f"{item.json()}\n" for item in selected).encode())
        output().print(f"wrote {len(selected)} tasks to {file}")
    elif json:
        print_json({"tasks": [item.dict() for item in selected]})
    elif task is not None:
        output().print(selected[0].prompt)
    else:
        columns = [name for name in SPLITS if split in (None, name)]
        rows = table("Family", *columns, right=columns, typed=("Family",))
        for name in dict.fromkeys(item.family for item in selected):
            counts = [sum((t.family, t.split) == (name, s) for t in selected) for s in columns]
            rows.add_row(name, *map(str, counts))
        show(rows)

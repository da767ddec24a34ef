# SPDX-License-Identifier: MIT
"""``compiler-gym recipe``."""

import shlex
from enum import StrEnum
from typing import TYPE_CHECKING, Annotated

import typer

from compiler_gym.cli.kit.output import (
    Json,
    heading,
    output,
    print_command,
    print_json,
    show,
    table,
)

if TYPE_CHECKING:
    from compiler_gym.tools.tune import TuningRecipe

__all__ = ["recipe"]


class _Action(StrEnum):
    LIST = "list"
    SHOW = "show"


def recipe(
    action: Annotated[_Action, typer.Argument(help="What to do.")] = _Action.LIST,
    name: Annotated[
        str | None,
        typer.Argument(help="Recipe to show."),
    ] = None,
    json: Json = False,
) -> None:
    """List recipes: ready-made sets of compiler flags that need no search.

    `recipe` lists them, and `recipe show NAME` prints one as a command to which you add your
    sources. `compiler-gym tune --recipe -- make` builds a project with one.

    compiler-gym recipe show small
    """
    from compiler_gym.errors import InvalidParameterError
    from compiler_gym.tools.tune import list_shipped_recipes, recipe_named

    if action is _Action.SHOW:
        if name is None:
            raise InvalidParameterError(
                "which recipe? expected a name, as in `compiler-gym recipe show "
                f"{list_shipped_recipes()[0].name}`"
            )
        _show_recipe(recipe_named(name), is_json=json)
    elif name is not None:
        raise InvalidParameterError(f"to see {name}: `compiler-gym recipe show {name}`")
    elif json:
        print_json({"recipes": [_recipe_as_json(each) for each in list_shipped_recipes()]})
    else:
        rows = table("Recipe", "Goal", "Compiler", "Machine", "What it does", typed=("Recipe",))
        for each in list_shipped_recipes():
            rows.add_row(each.name, each.goal, each.compiler, each.known.machine, each.known.about)
        show(rows)
        output().print(
            "Show one:", heading(f"compiler-gym recipe show {list_shipped_recipes()[0].name}")
        )


def _show_recipe(chosen: "TuningRecipe", *, is_json: bool) -> None:
    if is_json:
        print_json(_recipe_as_json(chosen))
        return
    print_command(shlex.join(_words(chosen)), indent="")  # one line where a Makefile reads it


def _words(chosen: "TuningRecipe") -> list[str]:
    from compiler_gym.tools.tune import tuner_named

    tuner = tuner_named(chosen.compiler.partition(" ")[0])
    return list(tuner.plain_words(chosen.plan))


def _recipe_as_json(chosen: "TuningRecipe") -> dict[str, object]:
    known = chosen.known
    return {
        "name": chosen.name,
        "goal": chosen.goal,
        "compiler": chosen.compiler,
        "machine": known.machine,
        "about": known.about,
        "found_by": known.found_by,
        "command": _words(chosen),
        "decisions": list(chosen.plan.decisions()),
        "measured": dict(known.measured),
        "tested": dict(known.tested),
        "left_out": dict(known.left_out),
    }

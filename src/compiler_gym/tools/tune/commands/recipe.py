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


class _Action(StrEnum):
    LIST = "list"
    SHOW = "show"


def recipe(
    action: Annotated[_Action, typer.Argument(help="`list` or `show`.")] = _Action.LIST,
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
                "`recipe show` needs a name, as in `compiler-gym recipe show "
                f"{list_shipped_recipes()[0].name}`"
            )
        _show_recipe(recipe_named(name), is_json=json)
    elif name is not None:
        raise InvalidParameterError(f"to show {name}, run `compiler-gym recipe show {name}`")
    elif json:
        print_json({"recipes": [_recipe_as_json(item) for item in list_shipped_recipes()]})
    else:
        rows = table("Recipe", "Goal", "Compiler", "Machine", "Purpose", typed=("Recipe",))
        for item in list_shipped_recipes():
            rows.add_row(item.name, item.goal, item.compiler, item.known.machine, item.known.about)
        show(rows)
        output().print(
            "Show one:", heading(f"compiler-gym recipe show {list_shipped_recipes()[0].name}")
        )


def _show_recipe(recipe: "TuningRecipe", *, is_json: bool) -> None:
    if is_json:
        print_json(_recipe_as_json(recipe))
        return
    print_command(shlex.join(_words(recipe)), indent="")  # a Makefile needs a single line


def _words(recipe: "TuningRecipe") -> list[str]:
    from compiler_gym.tools.tune import tuner_named

    tuner = tuner_named(recipe.compiler)
    return list(tuner.plain_words(recipe.plan))


def _recipe_as_json(recipe: "TuningRecipe") -> dict[str, object]:
    provenance = recipe.known
    return {
        "name": recipe.name,
        "goal": recipe.goal,
        "compiler": recipe.compiler,
        "machine": provenance.machine,
        "about": provenance.about,
        "found_by": provenance.found_by,
        "command": _words(recipe),
        "decisions": list(recipe.plan.decisions()),
        "measured": dict(provenance.measured),
        "tested": dict(provenance.tested),
        "left_out": dict(provenance.left_out),
    }

# SPDX-License-Identifier: MIT
"""Commands that tune builds, and compile with plans, recipes and policies."""

from compiler_gym.cli.kit.rows import HELP, VERBATIM, Row, Topic

__all__ = ["COMMANDS"]

_RECIPES = "compiler_gym.tools.tune.recipes:recipe_names"
COMMANDS = {
    "tune": Row(
        "compiler_gym.tools.tune.commands.tune:tune",
        "Make the programs that a project builds smaller or faster: `tune -- make`.",
        {
            "options_metavar": "[OPTIONS] -- BUILD...",
            "context_settings": {
                **HELP,
                "allow_extra_args": True,
                "allow_interspersed_args": False,
            },
        },
        {
            "--goal": "compiler_gym.tools.tune.goal:Goal",
            "--measure": "compiler_gym.tools.tune.goal:Measure",
            "--recipe": _RECIPES,
        },
        topic=Topic.BUILDS,
    ),
    "recipe": Row(
        "compiler_gym.tools.tune.commands.recipe:recipe",
        "List recipes: ready-made sets of compiler flags that need no search.",
        completions={"name": _RECIPES},
        topic=Topic.BUILDS,
    ),
    "cc": Row(
        "compiler_gym.tools.tune.commands.cc:cc",
        'Run the C compiler and record each compilation: `make CC="compiler-gym cc"`.',
        VERBATIM,
        topic=Topic.BUILDS,
    ),
    "cxx": Row(
        "compiler_gym.tools.tune.commands.cc:cxx",
        'Run the C++ compiler and record each compilation: `make CXX="compiler-gym cxx"`.',
        VERBATIM,
        topic=Topic.BUILDS,
    ),
    "rust": Row(
        "compiler_gym.tools.tune.commands.rust:rust",
        "Print the settings with which cargo builds small programs with this rustc.",
        topic=Topic.BUILDS,
    ),
}
"""The commands by name."""

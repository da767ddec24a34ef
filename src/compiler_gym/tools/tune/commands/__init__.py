# SPDX-License-Identifier: MIT
"""Commands that tune builds and compile with recipes and policies."""

from compiler_gym.cli.kit.rows import HELP, VERBATIM, Row

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
            "--measure": "compiler_gym.tools.tune.measure:Measure",
            "--recipe": _RECIPES,
        },
    ),
    "recipe": Row(
        "compiler_gym.tools.tune.commands.recipe:recipe",
        "Show the recipes: decisions that need no search, as a compiler's flags.",
        completions={"name": _RECIPES},
    ),
    "cc": Row(
        "compiler_gym.tools.tune.commands.cc:cc",
        'Run the compiler, and keep each compilation as a program: `make CC="compiler-gym cc"`.',
        VERBATIM,
    ),
    "cxx": Row(
        "compiler_gym.tools.tune.commands.cc:cxx",
        'Run the C++ compiler, and keep what it compiles: `make CXX="compiler-gym cxx"`.',
        VERBATIM,
    ),
    "policy": Row(
        "compiler_gym.tools.tune.commands.policy:policy",
        "Learn what makes the linked programs of a corpus small, and judge it on others.",
    ),
}
"""The commands by name."""

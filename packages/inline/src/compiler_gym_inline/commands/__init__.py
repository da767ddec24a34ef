# SPDX-License-Identifier: MIT
"""Commands that serve and evaluate inlining policies."""

from compiler_gym.cli.kit.rows import HELP, Row, Topic

__all__ = ["COMMANDS"]

COMMANDS = {
    "serve-policy": Row(
        "compiler_gym_inline.commands.serve_policy:serve_policy",
        "Let a policy decide in stock compilers: `serve-policy default -- make`.",
        {"context_settings": {**HELP, "allow_extra_args": True}},
        topic=Topic.LEARN,
    ),
    "evaluate-heuristic": Row(
        "compiler_gym_inline.commands.evaluate_heuristic:evaluate_heuristic",
        "Evaluate an inlining heuristic in C, or in a shared object, on many programs.",
        topic=Topic.LEARN,
    ),
}
"""The commands by name."""

# SPDX-License-Identifier: MIT
"""Commands that serve and judge inlining policies."""

from compiler_gym.cli.kit.rows import HELP, Row

__all__ = ["COMMANDS"]

COMMANDS = {
    "serve-policy": Row(
        "compiler_gym.tools.inline.commands.serve_policy:serve_policy",
        "Let a policy decide in stock compilers: `serve-policy default -- make`.",
        {"context_settings": {**HELP, "allow_extra_args": True}},
    ),
    "evaluate-heuristic": Row(
        "compiler_gym.tools.inline.commands.evaluate_heuristic:evaluate_heuristic",
        "Judge a decision function in C, or in a shared object, on many programs.",
    ),
}
"""The commands by name."""

# SPDX-License-Identifier: MIT
"""Commands for tasks of language models."""

from compiler_gym.cli.kit.rows import Row, Topic

__all__ = ["COMMANDS"]

COMMANDS = {
    "tasks": Row(
        "compiler_gym_agents.commands.tasks:tasks",
        "List tasks for language models, or write them with prompts as JSON lines.",
        completions={"--difficulty": "compiler_gym_agents.task:DIFFICULTIES"},
        topic=Topic.LEARN,
    ),
}
"""The commands by name."""

# SPDX-License-Identifier: MIT
"""Commands that create datasets, in the group ``compiler-gym datasets``, and ``policy``."""

from compiler_gym.cli.kit.rows import Row, Topic

__all__ = ["COMMANDS"]

COMMANDS = {
    "datasets import": Row(
        "compiler_gym_corpus.commands.datasets:import_dataset",
        "Import programs as a dataset; an interrupted import can be resumed.",
    ),
    "datasets export": Row(
        "compiler_gym_corpus.commands.datasets:export",
        "Write the programs of a dataset to Parquet: a file, or a folder of splits with a card.",
    ),
    "datasets build": Row(
        "compiler_gym_corpus.commands.datasets:build",
        "Build a distribution's packages in a sandbox and keep their modules and programs.",
    ),
    "policy": Row(
        "compiler_gym_corpus.commands.policy:policy",
        "Train a policy that makes linked programs small, and evaluate it on others.",
        topic=Topic.BUILDS,
    ),
}
"""The commands, by name."""

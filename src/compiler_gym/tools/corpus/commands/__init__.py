# SPDX-License-Identifier: MIT
"""Commands that create datasets, in the group ``compiler-gym datasets``."""

from compiler_gym.cli.kit.rows import Row

__all__ = ["COMMANDS"]

COMMANDS = {
    "datasets import": Row(
        "compiler_gym.tools.corpus.commands.datasets:import_dataset",
        "Import programs as a dataset; an interrupted import can be resumed.",
    ),
    "datasets export": Row(
        "compiler_gym.tools.corpus.commands.datasets:export",
        "Write the programs of a dataset to Parquet: a file, or a folder of splits with a card.",
    ),
    "datasets build": Row(
        "compiler_gym.tools.corpus.commands.datasets:build",
        "Build a distribution's packages in a sandbox and keep their modules and programs.",
    ),
}
"""The commands, by name."""

# SPDX-License-Identifier: MIT
"""Folders that record how a result was computed, and from which a killed run can be resumed.

``folder`` is the folder of one run, with the facts about the machine and the versions and, if
TensorBoard is installed, the same numbers for it. ``listing`` finds and compares runs.
"""

from compiler_gym.files import FolderLock
from compiler_gym.runs.folder import RunFolder, facts, open_scalars
from compiler_gym.runs.listing import (
    RunSummary,
    differences,
    distinct_names,
    find_runs,
    runs_path,
    summarise,
)

__all__ = [
    "FolderLock",
    "RunFolder",
    "RunSummary",
    "differences",
    "distinct_names",
    "facts",
    "find_runs",
    "open_scalars",
    "runs_path",
    "summarise",
]

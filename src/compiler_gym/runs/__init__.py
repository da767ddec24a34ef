# SPDX-License-Identifier: MIT
"""Folders that say how a result came about, and from which a killed run goes on.

``folder`` is one run's folder, ``facts`` what is noted of the machine and the versions,
``listing`` finds and compares runs, ``tensorboard`` writes the same numbers for TensorBoard
where it is installed.
"""

from compiler_gym.files import FolderLock
from compiler_gym.runs.facts import facts
from compiler_gym.runs.folder import RunFolder
from compiler_gym.runs.listing import (
    RunSummary,
    differences,
    distinct_names,
    find_runs,
    runs_path,
    summarise,
)
from compiler_gym.runs.tensorboard import open_scalars

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

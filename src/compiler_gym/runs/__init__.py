# SPDX-License-Identifier: MIT
"""Folders that record how a result was computed, and from which a killed run can be resumed.

``folder`` is the folder of one run, ``facts`` describes the machine and the versions, ``listing``
finds and compares runs, and ``tensorboard`` writes the same numbers for TensorBoard if it is
installed.
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

# SPDX-License-Identifier: MIT
"""Files that survive a kill and a full disk, locks between processes, and temporary directories.

``appending`` adds lines to a file, ``replacing`` writes a file or a folder whole, ``reading``
reads files with untrusted names, ``sealing`` notices damage to a record, ``locks`` excludes other
processes, ``temporary`` makes directories that are removed with their process, and ``paths`` says
where lasting files and caches go. All raise the `OSError` of the system; callers turn it into a
typed error with advice, with ``writing`` where a place could not be written.
"""

from compiler_gym.files.appending import (
    append,
    append_line,
    drop_cut_line,
    lines,
    opened,
    whole_lines,
    write_all,
)
from compiler_gym.files.locks import FolderLock, Lock, locked
from compiler_gym.files.paths import cache_path, site_data_path
from compiler_gym.files.reading import read_regular, sha256_of
from compiler_gym.files.replacing import (
    keep,
    made,
    replaced_directory,
    replaced_file,
    tool_identity,
    write_whole,
)
from compiler_gym.files.sealing import is_intact, seal
from compiler_gym.files.temporary import KeptDirectory, new_scratch, remove_left, scratch_directory
from compiler_gym.files.writing import writing

__all__ = [
    "FolderLock",
    "KeptDirectory",
    "Lock",
    "append",
    "append_line",
    "cache_path",
    "drop_cut_line",
    "is_intact",
    "keep",
    "lines",
    "locked",
    "made",
    "new_scratch",
    "opened",
    "read_regular",
    "remove_left",
    "replaced_directory",
    "replaced_file",
    "scratch_directory",
    "seal",
    "sha256_of",
    "site_data_path",
    "tool_identity",
    "whole_lines",
    "write_all",
    "write_whole",
    "writing",
]

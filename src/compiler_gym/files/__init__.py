# SPDX-License-Identifier: MIT
"""Files that survive a kill and a full disk, locks between processes, and temporary directories.

``appending`` adds lines to a file, ``replacing`` writes a file or a folder atomically, ``reading``
reads files with untrusted names and detects damage to a record, ``locks`` excludes other processes,
``temporary`` makes directories that are removed with their process, and ``paths`` returns the
places of lasting files and caches. All raise the `OSError` of the system; callers turn it into a
typed error with advice, using `writing` if a path could not be written.
"""

from compiler_gym.files.appending import (
    append,
    append_line,
    drop_cut_line,
    lines,
    open_appending,
    whole_lines,
    write_all,
)
from compiler_gym.files.locks import FolderLock, Lock, lock_path
from compiler_gym.files.paths import cache_path, site_data_path
from compiler_gym.files.reading import hash_file, is_intact, read_regular, seal
from compiler_gym.files.replacing import (
    keep,
    make_folder,
    replace_directory,
    replace_file,
    tool_identity,
    write_whole,
    writing,
)
from compiler_gym.files.temporary import KeptDirectory, new_scratch, remove_left, scratch_directory

__all__ = [
    "FolderLock",
    "KeptDirectory",
    "Lock",
    "append",
    "append_line",
    "cache_path",
    "drop_cut_line",
    "hash_file",
    "is_intact",
    "keep",
    "lines",
    "lock_path",
    "make_folder",
    "new_scratch",
    "open_appending",
    "read_regular",
    "remove_left",
    "replace_directory",
    "replace_file",
    "scratch_directory",
    "seal",
    "site_data_path",
    "tool_identity",
    "whole_lines",
    "write_all",
    "write_whole",
    "writing",
]

# SPDX-License-Identifier: MIT
"""Where files are kept: what lasts, what can be made again, what ends with the process.

Honours ``COMPILER_GYM_SITE_DATA``, ``COMPILER_GYM_CACHE`` and
``COMPILER_GYM_TRANSIENT_CACHE``; otherwise the platform's own places. Nothing is
created here: whoever writes a file makes its directory.
"""

import os
import tempfile
from pathlib import Path

import platformdirs

__all__ = ["cache_path", "site_data_path", "transient_cache_path"]


def site_data_path(relpath: str = ".") -> Path:
    """Return a path below the directory of installed datasets."""
    return _below("COMPILER_GYM_SITE_DATA", platformdirs.user_data_path("compiler_gym"), relpath)


def cache_path(relpath: str = ".") -> Path:
    """Return a path below the directory of files that can be computed again."""
    return _below("COMPILER_GYM_CACHE", platformdirs.user_cache_path("compiler_gym"), relpath)


def transient_cache_path(relpath: str = ".") -> Path:
    """Return a path below a directory, in memory if possible, that need not outlive a process."""
    memory = Path("/dev/shm")
    base = memory if os.access(memory, os.W_OK | os.X_OK) else Path(tempfile.gettempdir())
    return _below("COMPILER_GYM_TRANSIENT_CACHE", base / f"compiler_gym-{os.getuid()}", relpath)


def _below(variable: str, default: Path, relpath: str) -> Path:
    return Path(os.environ.get(variable) or default).expanduser() / relpath

# SPDX-License-Identifier: MIT
"""The directories for lasting files, caches and temporary files.

They come from ``COMPILER_GYM_SITE_DATA``, ``COMPILER_GYM_CACHE`` and
``COMPILER_GYM_TRANSIENT_CACHE``, or else from the platform. ``COMPILER_GYM_LOGS``
is the directory for the logs of searches. Only `create_user_logs_dir` creates a directory here;
otherwise the writer of a file does.
"""

import os
import tempfile
from datetime import datetime
from pathlib import Path

import platformdirs


def site_data_path(relpath: str = ".") -> Path:
    """Return a path below the directory of installed datasets."""
    return _below("COMPILER_GYM_SITE_DATA", platformdirs.user_data_path("compiler_gym"), relpath)


def cache_path(relpath: str = ".") -> Path:
    """Return a path below the directory of files that can be computed again."""
    return _below("COMPILER_GYM_CACHE", platformdirs.user_cache_path("compiler_gym"), relpath)


def transient_cache_path(relpath: str = ".") -> Path:
    """Return a path in a directory, in memory if possible, for files of running processes."""
    memory = Path("/dev/shm")
    base = memory if os.access(memory, os.W_OK | os.X_OK) else Path(tempfile.gettempdir())
    return _below("COMPILER_GYM_TRANSIENT_CACHE", base / f"compiler_gym-{os.getuid()}", relpath)


def logs_path(relpath: str = ".") -> Path:
    """Return a path below the directory of the logs of searches and runs."""
    return _below("COMPILER_GYM_LOGS", Path("~/logs/compiler_gym"), relpath)


def create_user_logs_dir(name: str, dir: Path | None = None) -> Path:
    """Create and return a directory for a run of `name`, named after the current time.

    It is in ``COMPILER_GYM_LOGS``, `dir` or ``~/logs/compiler_gym``; the link ``latest`` in the
    same place points to it.
    """
    default = Path(dir or "~/logs/compiler_gym")
    group = _below("COMPILER_GYM_LOGS", default, name)
    group.mkdir(parents=True, exist_ok=True)
    while True:
        created = group / datetime.now().isoformat(timespec="microseconds")
        try:
            created.mkdir()
            break
        except FileExistsError:
            continue  # another process took this microsecond
    _link(group / "latest", created.name)
    return created


def _link(link: Path, target: str) -> None:
    """Point `link` to `target`, atomically with respect to other processes."""
    fresh = link.with_name(f".latest-{target}")
    fresh.symlink_to(target)
    fresh.replace(link)


def _below(variable: str, default: Path, relpath: str) -> Path:
    return Path(os.environ.get(variable) or default).expanduser() / relpath

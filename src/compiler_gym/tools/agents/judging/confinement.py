# SPDX-License-Identifier: MIT
"""The command that starts the judge where nobody else can reach it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from functools import cache
from pathlib import Path

import compiler_gym
from compiler_gym.datasets import find_bundled_folder

__all__ = ["ENVIRONMENT", "NAMESPACES", "PROCESS", "confine_judge", "plain"]

NAMESPACES, PROCESS = "namespaces", "process"
ENVIRONMENT: Mapping[str, str] = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/tmp/judge",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
}
"""All the variables that the judge has, whatever those of its caller are."""
_MODULE = "compiler_gym.tools.agents.judging.process"
_SCRATCH_BYTES = 2 << 30
_COVERED = ("/tmp", "/var/tmp", "/run", "/dev/shm")
"""Folders that others write to: the judge has empty ones of its own."""
_APART = ("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts")
_KEPT_BY_ROOT = ("CAP_SETUID", "CAP_SETGID", "CAP_CHOWN")
"""With these the judge, where it is root, makes the programs that it runs nobody."""


def confine_judge(*arguments: str) -> tuple[list[str], str]:
    """Return the command of the judge, and what keeps it apart: namespaces where they work.

    `arguments` are Python's; without any it is the judge that runs.
    """
    judge, box = plain(*arguments), _bubblewrap()
    return ([*box, "--", *judge], NAMESPACES) if box else (judge, PROCESS)


def plain(*arguments: str) -> list[str]:
    """Return the command of the judge that nothing but its process keeps apart."""
    # -I: no variables of Python, no modules of the working directory or of the user.
    return [sys.executable, "-I", *(arguments or ("-m", _MODULE))]


@cache
def _bubblewrap() -> tuple[str, ...]:
    found = shutil.which("bwrap", path=ENVIRONMENT["PATH"])
    if found is None:
        return ()
    words = [found, *_APART, "--die-with-parent", "--as-pid-1", "--hostname", "judge"]
    words += ["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]
    for path in _COVERED:
        words += ["--size", str(_SCRATCH_BYTES), "--tmpfs", path]
    for path in _list_needed():
        words += ["--ro-bind", path, path]
    words += ["--chdir", "/tmp"]
    if os.geteuid() == 0:
        for capability in _KEPT_BY_ROOT:
            words += ["--cap-add", capability]
    else:
        words += ["--unshare-user"]
    tried = subprocess.run(
        [*words, "--", "/bin/true"], capture_output=True, env=dict(ENVIRONMENT), check=False
    )
    return tuple(words) if tried.returncode == 0 else ()


def _list_needed() -> list[str]:
    """Return the folders of Python and of this library that the judge's empty folders would hide.

    The outer ones come first: a later one is seen in an earlier one.
    """
    library = [str(Path(compiler_gym.__file__).parent), str(find_bundled_folder())]
    python = [sys.prefix, sys.base_prefix, os.path.dirname(sys.executable)]
    named = [path for path in (*python, *sys.path, *library) if os.path.isabs(path)]
    paths = {name for path in named for name in (os.path.abspath(path), os.path.realpath(path))}
    return sorted(
        path
        for path in paths
        if path.startswith(tuple(f"{folder}/" for folder in _COVERED)) and os.path.exists(path)
    )

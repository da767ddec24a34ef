# SPDX-License-Identifier: MIT
"""The command that starts the judge in isolation."""

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
"""The judge's environment variables; it does not inherit any."""
_MODULE = "compiler_gym_agents.judging.process"
_SCRATCH_BYTES = 2 << 30
_COVERED = ("/tmp", "/var/tmp", "/run", "/dev/shm")
"""Folders that other processes may write; the judge gets empty private ones."""
_APART = ("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts")
_KEPT_BY_ROOT = ("CAP_SETUID", "CAP_SETGID", "CAP_CHOWN")
"""The capabilities that let a root judge run programs as the user `nobody`."""


def confine_judge(*arguments: str) -> tuple[list[str], str]:
    """Return the command of the judge and its isolation: namespaces, if they are available.

    `arguments` are passed to Python; without any, Python runs the judge.
    """
    judge, box = plain(*arguments), _bubblewrap()
    return ([*box, "--", *judge], NAMESPACES) if box else (judge, PROCESS)


def plain(*arguments: str) -> list[str]:
    """Return the command of the judge without isolation other than its process."""
    # -I ignores PYTHON* variables and modules of the working directory or of the user.
    return [sys.executable, "-I", *(arguments or ("-m", _MODULE))]


@cache
def _bubblewrap() -> tuple[str, ...]:
    bwrap = shutil.which("bwrap", path=ENVIRONMENT["PATH"])
    if bwrap is None:
        return ()
    command = [bwrap, *_APART, "--die-with-parent", "--as-pid-1", "--hostname", "judge"]
    command += ["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]
    for path in _COVERED:
        command += ["--size", str(_SCRATCH_BYTES), "--tmpfs", path]
    for path in _list_needed():
        command += ["--ro-bind", path, path]
    command += ["--chdir", "/tmp"]
    if os.geteuid() == 0:
        for capability in _KEPT_BY_ROOT:
            command += ["--cap-add", capability]
    else:
        command += ["--unshare-user"]
    trial = subprocess.run(
        [*command, "--", "/bin/true"], capture_output=True, env=dict(ENVIRONMENT), check=False
    )
    return tuple(command) if trial.returncode == 0 else ()


def _list_needed() -> list[str]:
    """Return the folders of Python and this library that the judge's empty folders would hide.

    Outer folders come first, so that inner mounts appear inside them.
    """
    library = [str(Path(compiler_gym.__file__).parent), str(find_bundled_folder())]
    python = [sys.prefix, sys.base_prefix, os.path.dirname(sys.executable)]
    required = [path for path in (*python, *sys.path, *library) if os.path.isabs(path)]
    paths = {name for path in required for name in (os.path.abspath(path), os.path.realpath(path))}
    return sorted(
        path
        for path in paths
        if path.startswith(tuple(f"{folder}/" for folder in _COVERED)) and os.path.exists(path)
    )

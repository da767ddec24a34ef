# SPDX-License-Identifier: MIT
"""The command that starts the judge where nobody else can reach it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from functools import cache

__all__ = ["ENVIRONMENT", "NAMESPACES", "PROCESS", "confined"]

NAMESPACES, PROCESS = "namespaces", "process"
ENVIRONMENT: Mapping[str, str] = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/tmp/judge",
    "LC_ALL": "C.UTF-8",
    "TZ": "UTC",
}
"""All the variables that the judge has, whatever those of its caller are."""
_MODULE = "compiler_gym.agents.judging.process"
_SCRATCH_BYTES = 2 << 30
_APART = ("--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts")
_KEPT_BY_ROOT = ("CAP_SETUID", "CAP_SETGID", "CAP_CHOWN")
"""With these the judge, where it is root, makes the programs that it runs nobody."""


def confined(*arguments: str) -> tuple[list[str], str]:
    """Return the command of the judge, and what keeps it apart: namespaces where they work.

    `arguments` are Python's; without any it is the judge that runs.
    """
    # -I: no variables of Python, no modules of the working directory or of the user.
    judge = [sys.executable, "-I", *(arguments or ("-m", _MODULE))]
    box = _bubblewrap()
    return ([*box, "--", *judge], NAMESPACES) if box else (judge, PROCESS)


@cache
def _bubblewrap() -> tuple[str, ...]:
    found = shutil.which("bwrap", path=ENVIRONMENT["PATH"])
    if found is None:
        return ()
    words = [found, *_APART, "--die-with-parent", "--as-pid-1", "--hostname", "judge"]
    words += ["--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev"]
    for path in ("/tmp", "/var/tmp", "/run", "/dev/shm"):
        words += ["--size", str(_SCRATCH_BYTES), "--tmpfs", path]
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

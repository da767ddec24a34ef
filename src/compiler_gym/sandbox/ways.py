# SPDX-License-Identifier: MIT
"""The commands that make a sandbox: our helper, alone or inside bubblewrap."""

import importlib.util
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from compiler_gym.errors import SandboxError
from compiler_gym.sandbox.paths import DEVICES, SYSTEM

__all__ = ["BUBBLEWRAP", "NOBODY", "OWN", "Way", "find_helper", "wrap_command"]

NOBODY = 65534
"""The user and group id of the system's unprivileged user."""

_HELPER = "_box"


@dataclass(frozen=True, slots=True)
class Way:
    """A way of making namespaces."""

    name: str
    tool: str | None = None
    """The program that makes them; None for our helper itself."""


OWN = Way("unshare")
BUBBLEWRAP = Way("bubblewrap", "bwrap")


@cache
def find_helper() -> str:
    """Return the path of the helper; raise `SandboxError` if the package was built without it."""
    module = importlib.util.find_spec("compiler_gym._service")
    folders = [] if module is None or module.origin is None else [Path(module.origin).parent]
    for folder in folders:
        helper = folder / _HELPER
        if os.access(helper, os.X_OK) or _make_executable(helper):
            return str(helper)
    raise SandboxError(
        f"the helper {_HELPER}, which runs programs, is not in {folders or 'the package'}: "
        "install compiler_gym again, in a checkout with `make setup`"
    )


def _make_executable(helper: Path) -> bool:
    """Return whether the helper can be run, after restoring a mode bit that an installer lost."""
    try:
        helper.chmod(0o755)
    except OSError:
        return False
    return True


def wrap_command(
    helper: Sequence[str], *, shown: Sequence[str], work: str | None, scratch_bytes: int
) -> list[str]:
    """Return the command that runs `helper` as the first process of bubblewrap's namespaces.

    Raises `SandboxError` if bubblewrap is not installed.
    """
    bubblewrap = shutil.which(BUBBLEWRAP.tool or "")
    if bubblewrap is None:
        raise SandboxError("bubblewrap is not installed: `apt install bubblewrap`")
    # The program runs as an unprivileged user, for any caller, and keeps no capabilities. A
    # setuid bubblewrap could not be given a list to keep.
    args = [bubblewrap, "--unshare-all", "--die-with-parent", "--as-pid-1", "--hostname", "box"]
    args += ["--unshare-user", "--uid", str(NOBODY), "--gid", str(NOBODY)]
    for path in SYSTEM:
        if path.count("/") == 1 and os.path.islink(path):
            args += ["--symlink", os.readlink(path), path]
        elif os.path.exists(path):
            args += ["--ro-bind", path, path]
    for path in DEVICES:
        args += ["--dev-bind", path, path]
    for name, target in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        args += ["--symlink", f"/proc/self/fd{target}", f"/dev/{name}"]
    for path in ("/box", "/tmp", "/dev/shm"):
        args += ["--size", str(scratch_bytes), "--tmpfs", path]
    args += ["--proc", "/proc", "--remount-ro", "/proc"]
    for path in (helper[0], *shown):
        args += ["--ro-bind", path, path]
    if work is not None:
        args += ["--bind", work, work]
    return [*args, "--remount-ro", "/", "--", *helper]

# SPDX-License-Identifier: MIT
"""The commands that make a box: our own helper, alone or inside of bubblewrap."""

import importlib.util
import os
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from compiler_gym.errors import SandboxError
from compiler_gym.sandbox.paths import DEVICES, SYSTEM

__all__ = ["BUBBLEWRAP", "NOBODY", "OWN", "Way", "find_helper", "wrapped"]

NOBODY = 65534
"""The number that systems give to a user who owns nothing."""

_HELPER = "_box"


@dataclass(frozen=True, slots=True)
class Way:
    """How namespaces are made."""

    name: str
    tool: str | None = None
    """What makes them; None is our helper itself."""


OWN = Way("unshare")
BUBBLEWRAP = Way("bubblewrap", "bwrap")


@cache
def find_helper() -> str:
    """Return the path of the helper; raise `SandboxError` where the package was built without."""
    module = importlib.util.find_spec("compiler_gym._service")
    folders = [] if module is None or module.origin is None else [Path(module.origin).parent]
    for folder in folders:
        helper = folder / _HELPER
        if os.access(helper, os.X_OK) or _made_executable(helper):
            return str(helper)
    raise SandboxError(
        f"no program can be run: expected the helper {_HELPER} beside {folders or 'the package'}: "
        "install compiler_gym again, in a checkout with `make setup`"
    )


def _made_executable(helper: Path) -> bool:
    """Repair what an installer that keeps no modes has made; return whether it can be run."""
    try:
        helper.chmod(0o755)
    except OSError:
        return False
    return True


def wrapped(
    helper: Sequence[str], *, shown: Sequence[str], work: str | None, scratch_bytes: int
) -> list[str]:
    """Return the command that runs `helper` as the first process of bubblewrap's namespaces.

    Raises `SandboxError` where bubblewrap is not installed.
    """
    found = shutil.which(BUBBLEWRAP.tool or "")
    if found is None:
        raise SandboxError("bubblewrap is not installed: `apt install bubblewrap`")
    # In the box it is nobody, whoever asks; capabilities it keeps none, and could not name any
    # where it is setuid.
    words = [found, "--unshare-all", "--die-with-parent", "--as-pid-1", "--hostname", "box"]
    words += ["--unshare-user", "--uid", str(NOBODY), "--gid", str(NOBODY)]
    for path in SYSTEM:
        if path.count("/") == 1 and os.path.islink(path):
            words += ["--symlink", os.readlink(path), path]
        elif os.path.exists(path):
            words += ["--ro-bind", path, path]
    for path in DEVICES:
        words += ["--dev-bind", path, path]
    for name, target in (("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")):
        words += ["--symlink", f"/proc/self/fd{target}", f"/dev/{name}"]
    for path in ("/box", "/tmp", "/dev/shm"):
        words += ["--size", str(scratch_bytes), "--tmpfs", path]
    words += ["--proc", "/proc", "--remount-ro", "/proc"]
    for path in (helper[0], *shown):
        words += ["--ro-bind", path, path]
    if work is not None:
        words += ["--bind", work, work]
    return [*words, "--remount-ro", "/", "--", *helper]

# SPDX-License-Identifier: MIT
"""Run a step of somebody's build in a system of its own, where a build can do what builds do.

Bubblewrap makes the namespaces: the step sees a tree of a system that it cannot write, one folder
that it can, a scratch folder in memory and no network. The helper bounds its time, memory and
processes. No system call is refused, as they are for a measured program: a build locks files,
changes their times and asks the kernel what it has.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from compiler_gym.errors import SandboxError
from compiler_gym.sandbox.box import BoxReport, RunLimits, bounds, box_report, read_report
from compiler_gym.sandbox.tiers import Sandbox
from compiler_gym.sandbox.ways import BUBBLEWRAP, find_helper

__all__ = ["BUILD_FOLDER", "RootedPlace", "require_rooted", "run_rooted"]

BUILD_FOLDER = "/run/build"
"""Where a step finds the folder that it can write, whatever that is called outside."""
_HELPER_PLACE = "/run/box"
_SCRATCH_BYTES = 1 << 30
_USER = "1000"


@dataclass(frozen=True, slots=True)
class RootedPlace:
    """What a step sees of the host's files."""

    root: Path
    """The tree of a system; ``/`` is the machine's own."""
    folder: Path
    """What it may write, as `BUILD_FOLDER`."""
    directory: str = BUILD_FOLDER
    """Where it starts, as it sees it."""
    also: Mapping[str, Path] = field(default_factory=dict[str, Path])
    """Other folders that it may write, by the place where it sees them, below ``/run``."""


def require_rooted() -> str:
    """Return bubblewrap's path; raise `SandboxError` with what to do where it cannot be used."""
    found = shutil.which(BUBBLEWRAP.tool or "")
    if found is None:
        raise SandboxError(
            "expected bubblewrap to build packages of others in, found no `bwrap` on PATH: "
            "`apt install bubblewrap`"
        )
    words = [found, "--unshare-all", "--unshare-user", "--ro-bind", "/", "/", "--", "/bin/true"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SandboxError(
            f"bubblewrap cannot make namespaces here: {done.stderr.strip()[-200:]}: let users make "
            "them (sysctl kernel.unprivileged_userns_clone=1), or run as root"
        )
    return found


def run_rooted(
    command: Sequence[str],
    place: RootedPlace,
    *,
    limits: RunLimits,
    environment: Mapping[str, str],
    output: int,
    look: Callable[[], None] = lambda: None,
) -> BoxReport:
    """Run `command` in a system of its own and return how it ended.

    Args:
        command: A program of the place's system, by its whole path, and its arguments.
        place: What it sees.
        limits: What it may use; of `output_bytes` the size of one file.
        environment: Its environment variables, all of them.
        output: The descriptor of what it prints.
        look: Called about twice a second; what it raises ends the step and is raised here.

    Raises:
        SandboxError: Bubblewrap cannot be used.
        OSError: The program cannot be started.
    """
    helper = find_helper()
    reading, writing = os.pipe()
    words = [_HELPER_PLACE, "--parent=0", *bounds(limits)]
    words += [f"--report={writing}", f"--scratch={_SCRATCH_BYTES}", "--folder=/tmp"]
    words += [f"--directory={place.directory}", f"--tier={Sandbox.NONE.value}", "--", *command]
    binds = ["--ro-bind", helper, _HELPER_PLACE, "--bind", str(place.folder), BUILD_FOLDER]
    for name, folder in place.also.items():
        binds += ["--bind", str(folder), name]
    try:
        try:
            process = subprocess.Popen(
                [*_apart(place.root), *binds, "--", *words],
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=[writing],
                start_new_session=True,
            )
        finally:
            os.close(writing)
        said = read_report(process, reading, limits.seconds, is_apart=True, look=look)
    except FileNotFoundError:
        require_rooted()
        raise
    finally:
        os.close(reading)
    return box_report(said, Sandbox.NAMESPACES, None)


def _apart(root: Path) -> list[str]:
    """Return the beginning of a command of bubblewrap: new namespaces, and the tree `root`."""
    words = [BUBBLEWRAP.tool or "", "--unshare-all", "--die-with-parent", "--as-pid-1"]
    words += ["--unshare-user", "--uid", _USER, "--gid", _USER, "--hostname", "box"]
    words += ["--ro-bind", str(root), "/", "--proc", "/proc", "--dev", "/dev"]
    for path in ("/tmp", "/run", "/sys", "/var/tmp", "/dev/shm"):
        words += ["--size", str(_SCRATCH_BYTES), "--tmpfs", path]
    return words

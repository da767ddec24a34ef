# SPDX-License-Identifier: MIT
"""Run a step of an untrusted build in a separate system, with the freedom that builds need.

Bubblewrap makes the namespaces: the step has a read-only tree of a system, one writable folder, a
scratch folder in memory and no network. The helper bounds its time, memory and processes. System
calls are not filtered, as they are for a measured program: a build locks files, changes their
times and queries the kernel.
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
"""The path of the writable folder in the namespaces."""
_HELPER_PLACE = "/run/box"
_SCRATCH_BYTES = 1 << 30
_USER = "1000"


@dataclass(frozen=True, slots=True)
class RootedPlace:
    """The files of the host that a step may use."""

    root: Path
    """The tree of a system; ``/`` is that of this machine."""
    folder: Path
    """The writable folder, mounted at `BUILD_FOLDER`."""
    directory: str = BUILD_FOLDER
    """The initial working directory, in the namespaces."""
    also: Mapping[str, Path] = field(default_factory=dict[str, Path])
    """Other writable folders by their path in the namespaces, which is below ``/run``."""


def require_rooted() -> str:
    """Return bubblewrap's path; raise `SandboxError` with a remedy if it cannot be used."""
    path = shutil.which(BUBBLEWRAP.tool or "")
    if path is None:
        raise SandboxError(
            "bubblewrap is needed to build other packages, but there is no `bwrap` on PATH: "
            "`apt install bubblewrap`"
        )
    arguments = [path, "--unshare-all", "--unshare-user", "--ro-bind", "/", "/", "--", "/bin/true"]
    result = subprocess.run(arguments, capture_output=True, text=True, check=False)
    if result.returncode:
        raise SandboxError(
            f"bubblewrap cannot make namespaces here: {result.stderr.strip()[-200:]}: allow users "
            "to make them (sysctl kernel.unprivileged_userns_clone=1), or run as root"
        )
    return path


def run_rooted(
    command: Sequence[str],
    place: RootedPlace,
    *,
    limits: RunLimits,
    environment: Mapping[str, str],
    output: int,
    look: Callable[[], None] = lambda: None,
) -> BoxReport:
    """Run `command` in a separate system and return how it ended.

    Args:
        command: A program of that system, with its absolute path, and its arguments.
        place: The files that it may use.
        limits: Its limits; `output_bytes` is the size of one file.
        environment: All of its environment variables.
        output: The descriptor for its output.
        look: Called about twice a second; its exception ends the step and is raised here.

    Raises:
        SandboxError: Bubblewrap cannot be used.
        OSError: The program cannot be started.
    """
    helper = find_helper()
    reading, writing = os.pipe()
    arguments = [_HELPER_PLACE, "--parent=0", *bounds(limits)]
    arguments += [f"--report={writing}", f"--scratch={_SCRATCH_BYTES}", "--folder=/tmp"]
    arguments += [f"--directory={place.directory}", f"--tier={Sandbox.NONE.value}", "--", *command]
    binds = ["--ro-bind", helper, _HELPER_PLACE, "--bind", str(place.folder), BUILD_FOLDER]
    for name, folder in place.also.items():
        binds += ["--bind", str(folder), name]
    try:
        try:
            process = subprocess.Popen(
                [*_apart(place.root), *binds, "--", *arguments],
                env=dict(environment),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=[writing],
                start_new_session=True,
            )
        finally:
            os.close(writing)
        report = read_report(process, reading, limits.seconds, is_apart=True, look=look)
    except FileNotFoundError:
        require_rooted()
        raise
    finally:
        os.close(reading)
    return box_report(report, Sandbox.NAMESPACES, None)


def _apart(root: Path) -> list[str]:
    """Return the first arguments of bubblewrap: new namespaces, and the tree `root`."""
    arguments = [BUBBLEWRAP.tool or "", "--unshare-all", "--die-with-parent", "--as-pid-1"]
    arguments += ["--unshare-user", "--uid", _USER, "--gid", _USER, "--hostname", "box"]
    arguments += ["--ro-bind", str(root), "/", "--proc", "/proc", "--dev", "/dev"]
    for path in ("/tmp", "/run", "/sys", "/var/tmp", "/dev/shm"):
        arguments += ["--size", str(_SCRATCH_BYTES), "--tmpfs", path]
    return arguments

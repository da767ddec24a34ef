# SPDX-License-Identifier: MIT
"""Run a compiler or a step of a build on untrusted source.

Source code and inline assembly can include any file that the compiler can read, and its contents
would appear in a diagnostic or in the program. So a compiler can read only its folder and the
system's files. For a step of a build, bubblewrap makes the namespaces: it has a read-only tree of a
system, one writable folder, a scratch folder in memory and no network. The helper bounds its time,
memory and processes. System calls are not filtered, as they are for a measured program: a build
locks files, changes their times and queries the kernel.
"""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from compiler_gym.errors import SandboxError
from compiler_gym.sandbox.box import (
    BoxReport,
    RunLimits,
    Workplace,
    bounds,
    box_report,
    read_report,
    run_boxed,
)
from compiler_gym.sandbox.tiers import Sandbox, choose_tier
from compiler_gym.sandbox.ways import BUBBLEWRAP, find_helper, is_system

_TOOL_MEMORY_BYTES = 8 << 30
_TOOL_FILE_BYTES = 1 << 30
_PROCESSES = 256
_OPEN_FILES = 1024


def run_tool_boxed(
    command: Sequence[str],
    *,
    folder: Path,
    seconds: float,
    input: bytes = b"",
    cwd: Path | None = None,
    visible: Sequence[str | os.PathLike[str]] = (),
) -> "subprocess.CompletedProcess[bytes]":
    """Run a compiler that reads and writes in `folder`, and return how it ended.

    It starts in `cwd`, by default in `folder`, and may also read `visible`. In the tier ``none``
    it runs as a plain child process. Raises `subprocess.TimeoutExpired` after `seconds`,
    `OSError` if it cannot be started, and like `compiler_gym.sandbox.choose_tier`.
    """
    tier = choose_tier()
    if tier is Sandbox.NONE:
        return subprocess.run(
            command,
            input=input,
            capture_output=True,
            timeout=seconds,
            cwd=cwd or folder,
            check=False,
        )
    variables = {"PATH": os.environ.get("PATH", os.defpath), "TMPDIR": str(folder)}
    with (
        tempfile.TemporaryFile() as stdin,
        tempfile.TemporaryFile() as stdout,
        tempfile.TemporaryFile() as stderr,
    ):
        stdin.write(input)
        stdin.seek(0)
        report = run_boxed(
            command,
            Workplace(
                folder.resolve(),
                visible=[*_find_home(command[0]), *([cwd] if cwd else []), *visible],
                in_place=True,
                directory=cwd.resolve() if cwd else None,
            ),
            sandbox=tier,
            limits=RunLimits(
                seconds, _TOOL_MEMORY_BYTES, _TOOL_FILE_BYTES, _PROCESSES, 0, _OPEN_FILES
            ),
            environment=variables | {"HOME": str(folder), "LC_ALL": "C"},
            streams=(stdin.fileno(), stdout.fileno(), stderr.fileno()),
        )
        if report.stopped_by == "time":
            raise subprocess.TimeoutExpired(list(command), seconds)
        printed: list[bytes] = []
        for stream in (stdout, stderr):
            stream.seek(0)
            printed.append(stream.read())
        if report.stopped_by is not None:  # the caller would only see that it was killed
            printed[1] += f"the sandbox ended it: {report.stopped_by}\n".encode()
    return subprocess.CompletedProcess(list(command), report.exit_status, *printed)


def _find_home(program: str) -> list[Path]:
    """Return the folder in which a compiler is installed, unless it belongs to the system."""
    real = Path(program).resolve()
    is_below_a_prefix = real.parent.name == "bin" and len(real.parents) > 3
    if is_system(str(real)):
        return []
    return [real.parent.parent if is_below_a_prefix else real]


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
